"""The sdist and the wheels of the distribution weir-bwe, from the library and its Python module as one file."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
from pathlib import Path

import windows
from common import AMALGAMATION, ESTIMATOR, PACKAGES, ROOT, SOURCE, amalgamated, project_version

# Tags of wheels by the targets of zig. glibc's is the oldest that has what NumPy's wheels need.
WHEELS = {
    "x86_64-linux-gnu.2.17": "manylinux2014_x86_64",
    "x86_64-linux-musl": "musllinux_1_2_x86_64",
    "aarch64-linux-gnu.2.17": "manylinux2014_aarch64",
    "aarch64-linux-musl": "musllinux_1_2_aarch64",
    "aarch64-macos.11.0": "macosx_11_0_arm64",
    "x86_64-macos.11.0": "macosx_11_0_x86_64",
    "x86_64-windows-gnu": "win_amd64",
}
BUILD_SYSTEM = """\
[build-system]
requires = ["setuptools>=77", "pybind11>=3.1"]
build-backend = "setuptools.build_meta"

"""
SETUPTOOLS = """
[tool.setuptools]
packages = {packages}
package-data = {{ "*" = ["*"] }}
"""


def package_folders(manifest: str) -> dict[str, Path]:
    """The folder of each package, as CMake's build has them."""
    folders = tomllib.loads(manifest)["tool"]["scikit-build"]["wheel"]["packages"]
    return {Path(folder).name: ESTIMATOR / folder for folder in folders}


def tracked(folder: Path) -> list[Path]:
    """The files of a folder that git has."""
    listed = subprocess.run(["git", "ls-files", "-z", "."], cwd=folder, capture_output=True, text=True, check=True)
    return [folder / name for name in listed.stdout.split("\0") if name]


def write_tree(tree: Path) -> None:
    """Writes the packages, the one file, and how setuptools builds them: the contents of the sdist."""
    manifest = (ESTIMATOR / "pyproject.toml").read_text()
    for name, folder in package_folders(manifest).items():
        for file in tracked(folder):
            target = tree / name / file.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)
    shutil.copy(ROOT / "estimator/models/weir.onnx", tree / "weir")
    (tree / "weir_python.cc").write_text(amalgamated(SOURCE, ESTIMATOR / "python"))
    command = [sys.executable, "documentation.py", "weir/_core.pyi", tree / "documentation.inc"]
    subprocess.run(command, cwd=ESTIMATOR / "python", check=True)
    for file in ("weir.h", "weir_model.h"):
        shutil.copy(AMALGAMATION / file, tree)
    shutil.copy(ROOT / "LICENSE", tree)
    shutil.copy(ESTIMATOR / "README.md", tree)
    shutil.copy(PACKAGES / "python/setup.py", tree)
    project = "[project]" + manifest.partition("[project]")[2].partition("[tool.scikit-build]")[0]
    project = project.replace('dynamic = ["version"]', f'version = "{project_version()}"')
    folders = {file.parent for file in (tree / "weir").rglob("*") if file.is_file()}
    packages = sorted(".".join(folder.relative_to(tree).parts) for folder in folders)
    (tree / "pyproject.toml").write_text(BUILD_SYSTEM + project + SETUPTOOLS.format(packages=packages))
    (tree / "MANIFEST.in").write_text(
        "include weir_python.cc documentation.inc weir.h weir_model.h\nrecursive-include weir *\n"
    )


def cross_environment(target: str, tree: Path) -> dict[str, str]:
    """setuptools' variables for a compiler of another platform. Python's headers are those of this machine's."""
    wrapper = tree.with_name(f"{target}-c++")
    version = sysconfig.get_config_var("py_version_nodot")
    options, shared = f"-target {target} -O2 -g0 -s", f"{wrapper} -shared"
    architecture, system = target.partition("-")[0], "musl" if "musl" in target else "gnu"
    suffix = f".cpython-{version}-{architecture}-linux-{system}.so"
    if "macos" in target:
        shared, suffix = f"{shared} -undefined dynamic_lookup", f".cpython-{version}-darwin.so"
    if "windows" in target:
        headers = tree.with_name("windows-headers")
        windows.write_headers(headers)
        library = windows.write_import_library(headers, tree.parent)
        options += f' -I "{headers}"'
        shared, suffix = f"{shared} -L{tree.parent} -l{library}", f".cp{version}-win_amd64.pyd"
    # setuptools adds -fPIC, which a compiler for Windows refuses.
    without = 'for one; do shift; [ "$one" = -fPIC ] || set -- "$@" "$one"; done' if "windows" in target else ":"
    wrapper.write_text(f'#!/bin/sh\n{without}\nexec "{sys.executable}" -m ziglang c++ {options} "$@"\n')
    wrapper.chmod(0o755)
    return os.environ | {
        "CC": str(wrapper),
        "CXX": str(wrapper),
        "LDSHARED": shared,
        "LDCXXSHARED": shared,
        "SETUPTOOLS_EXT_SUFFIX": suffix,
    }


def write_sdist(folder: Path, work: Path) -> None:
    """The sdist and, in `work`, the tree that it has."""
    name = f"weir_bwe-{project_version()}"
    tree = work / name
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    write_tree(tree)
    metadata = f"Metadata-Version: 2.1\nName: weir-bwe\nVersion: {project_version()}\n"
    (tree / "PKG-INFO").write_text(metadata)
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(folder / f"{name}.tar.gz", "w:gz") as archive:
        archive.add(tree, name)


def write_wheels(folder: Path, work: Path) -> None:
    """A wheel of this Python's version for each of the platforms."""
    tree = work / f"weir_bwe-{project_version()}"
    for target, tag in WHEELS.items():
        shutil.rmtree(tree / "build", ignore_errors=True)
        command = [sys.executable, "setup.py", "--quiet", "bdist_wheel", "--plat-name", tag, "--dist-dir", str(folder)]
        subprocess.run(command, cwd=tree, env=cross_environment(target, tree), check=True)


def write(folder: Path, work: Path) -> None:
    """All of them."""
    write_sdist(folder, work)
    write_wheels(folder, work)
