"""The packages of `make packages` before anything is compiled; `make test-packages` builds and runs consumers."""

import json
import os
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "estimator/packages"
WRITE = """
import sys
from pathlib import Path
sys.path.insert(0, {packages!r})
import common, cxx_archive, npm_package, python_package, sbom
folder = Path({folder!r})
common.AMALGAMATION = cxx_archive.AMALGAMATION = npm_package.AMALGAMATION = folder / "one_file"
python_package.AMALGAMATION = common.AMALGAMATION
(common.AMALGAMATION / "weir.wasm").write_bytes(b"\\0asm")
(folder / "packages").mkdir()
cxx_archive.write(folder / "packages")
npm_package.write(folder / "packages")
python_package.write_sdist(folder / "packages/python", folder / "work")
sbom.write(folder / "packages", "example.org/weir")
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packages")
    subprocess.run([sys.executable, ROOT / "estimator/amalgamate.py", folder / "one_file"], check=True)
    code = WRITE.format(packages=str(PACKAGES), folder=str(folder))
    subprocess.run([sys.executable, "-c", code], check=True)
    return folder / "packages"


def names(archive):
    with tarfile.open(archive) as opened:
        return {name.partition("/")[2] for name in opened.getnames()}


def read(archive, name):
    with tarfile.open(archive) as opened:
        (path,) = (one for one in opened.getnames() if one.partition("/")[2] == name)
        return opened.extractfile(path).read().decode()


def version():
    return (ROOT / "CMakeLists.txt").read_text().partition("project(weir VERSION ")[2].split()[0]


def test_the_archive_has_the_one_file_and_its_builds(written):
    (archive,) = written.glob("weir-*.tar.gz")
    expected = {"weir.cc", "weir.h", "weir_mocc.h", "weir_model.h", "LICENSE", "CMakeLists.txt", "conanfile.py"}
    assert names(archive) == expected
    assert f"project(weir VERSION {version()} " in read(archive, "CMakeLists.txt")
    assert f'version = "{version()}"' in read(archive, "conanfile.py")
    port = written / "vcpkg/weir"
    assert json.loads((port / "vcpkg.json").read_text())["version"] == version()
    assert archive.name in (port / "portfile.cmake").read_text()
    assert (port / archive.name).read_bytes() == archive.read_bytes()


def test_the_sdist_needs_no_cmake_and_has_every_package(written):
    (archive,) = (written / "python").glob("*.tar.gz")
    manifest = tomllib.loads(read(archive, "pyproject.toml"))
    here = tomllib.loads((ROOT / "estimator/pyproject.toml").read_text())
    assert {one.partition(">")[0] for one in manifest["build-system"]["requires"]} == {"setuptools", "pybind11"}
    assert manifest["project"].pop("version") == version()
    assert manifest["project"] == {key: value for key, value in here["project"].items() if key != "dynamic"}
    packed = names(archive)
    assert {"weir_python.cc", "weir.h", "weir_model.h", "LICENSE", "README.md", "setup.py", "weir/weir.onnx"} <= packed
    for folder in here["tool"]["scikit-build"]["wheel"]["packages"]:
        name = Path(folder).name
        assert f"{name}/__init__.py" in packed
        assert name in manifest["tool"]["setuptools"]["packages"]
    assert not any(name.endswith((".cmake", ".sh")) for name in packed)
    assert "PYBIND11_MODULE(_core" in read(archive, "weir_python.cc")


def test_the_package_of_node_has_the_files_that_it_names(written):
    (archive,) = written.glob("*.tgz")
    manifest = json.loads(read(archive, "package.json"))
    assert manifest["version"] == version()
    assert set(manifest["files"]) | {"package.json", "README.md", "LICENSE"} == names(archive)


def test_the_sbom_depends_on_nothing_that_it_does_not_list(written):
    sbom = json.loads((written / "sbom.json").read_text())
    listed = {component["bom-ref"] for component in sbom["components"]}
    used = {one["ref"] for one in sbom["dependencies"]}
    used |= {name for one in sbom["dependencies"] for name in one["dependsOn"]}
    assert used <= listed


def test_it_is_compiled_for_android_where_there_is_an_ndk(tmp_path):
    programs = tmp_path / "ndk/toolchains/llvm/prebuilt/linux-x86_64/bin"
    programs.mkdir(parents=True)
    targets = ("aarch64-linux-android29", "x86_64-linux-android29")
    for target in targets:
        compiler = programs / f"{target}-clang++"
        compiler.write_text('#!/bin/sh\nfor last; do :; done\necho "$@" >"$last"\n')
        compiler.chmod(0o755)
    code = f"import sys; sys.path.insert(0, {str(PACKAGES)!r}); import zig; zig.COMPILED = (); "
    code += f"zig.check_platforms(zig.Path({str(tmp_path / 'objects')!r}))"
    environment = {"PATH": os.environ["PATH"], "ANDROID_NDK_ROOT": str(tmp_path / "ndk")}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    for target in targets:
        assert "-std=c++20" in (tmp_path / f"objects/{target}.o").read_text()


def test_without_a_folder_it_prints_its_usage():
    done = subprocess.run([sys.executable, PACKAGES / "write.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "write.py FOLDER" in done.stderr
