"""Commands that messages and documents recommend are of this repository, and install no foreign package."""

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace

import pytest

from weir_cli import installation
from weir_cli.doctor_command import components
from weir_cli.errors import MissingComponent
from weir_cli.installation import TARGETS, how_to_get, packages_of

ROOT = Path(__file__).parents[2]
# `weir` is other people's on the package index, with or without an extra; WHEEL files are ours.
FOREIGN = re.compile(r"pip3? install[^\n`]*?[\s'\"](weir(?![\w./-])|weir-bwe)")


def texts():
    """Every text file of the repository but this one, and but what fuzzers made."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in listed.stdout.decode().split("\0"):
        path = ROOT / name
        if not name or path == Path(__file__) or not path.is_file() or name.startswith("tests/fuzz/corpus/"):
            continue
        data = path.read_bytes()
        if b"\0" not in data:
            yield name, data.decode()


def targets():
    """The targets of the Makefile, those of each distribution too."""
    makefile = (ROOT / "Makefile").read_text()
    # The Makefile has one rule for all distributions. NAME stands for any of them.
    alone = {f"test-{path.parent.name}" for path in ROOT.glob("*/pyproject.toml")} | {"test-NAME"}
    return set(re.findall(r"^([a-z][\w-]*):(?!=)", makefile, re.MULTILINE)) | alone


def test_nothing_installs_a_foreign_package():
    assert [(name, found[0]) for name, text in texts() for found in FOREIGN.finditer(text)] == []


def test_every_target_that_is_named_exists():
    named = {}
    for name, text in texts():
        for target in re.findall(r"`make ([a-z][\w-]*)|how_to_get\(['\"]([a-z-]+)['\"]", text):
            named.setdefault("".join(target), name)
    assert {"build", "train", "webrtc", "wheels"} <= named.keys()
    assert {target: name for target, name in named.items() if target not in targets()} == {}
    assert set(TARGETS.values()) <= targets()


def test_a_clone_names_its_makefile():
    assert installation.source_tree() == ROOT
    assert how_to_get("train", "torch") == f"`make train` in {ROOT}"


def test_a_wheel_names_packages_and_else_the_source(monkeypatch):
    monkeypatch.setattr(installation, "distribution", lambda name: SimpleNamespace(read_text=lambda name: None))
    assert how_to_get("train", "torch", "tensorboard") == "`pip install torch tensorboard`"
    assert how_to_get("build") == "`make build` in the source tree of Weir"


def test_weir_that_was_never_installed(monkeypatch):
    def no_distribution(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(installation, "distribution", no_distribution)
    assert installation.installed_version() is None
    assert installation.source_tree() is None


def test_training_without_its_packages(monkeypatch):
    monkeypatch.setattr(installation, "_is_installed", lambda package: False)
    with pytest.raises(MissingComponent, match=r"weir-train\[learning\] .* torch.*: `make train` in "):
        installation.require("weir-train[learning]")


def test_doctor_knows_the_distribution_and_what_brings_each_package(monkeypatch):
    monkeypatch.setattr("weir_cli.components.package_version", lambda name: None)
    found = {component.name: component for component in components()}
    assert found["weir (this)"].found == f"{installation.installed_version()}, {ROOT}"
    assert found["operating system"].found
    run = set(packages_of("weir-eval"))
    for requirement in ("weir-eval", "weir-calls", "weir-train[learning]"):
        for name in set(packages_of(requirement)) - (run if requirement != "weir-eval" else set()):
            assert found[f"Python package {name}"].remedy == how_to_get(TARGETS[requirement], name)


def test_doctor_without_onnxruntime(monkeypatch):
    monkeypatch.setattr("weir.onnxruntime_version", lambda: "")
    found = {component.name: component for component in components()}
    library = found["onnxruntime, C library"]
    assert (library.found, library.required, library.remedy) == (None, True, how_to_get("build", "onnxruntime"))


def test_a_missing_package_is_one_message():
    code = "import sys; sys.modules['typer'] = None; from weir_cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 3
    assert done.stderr == (
        "weir: this needs Python packages of weir-eval that are not installed, typer: "
        f"`make build` in {ROOT} brings them\n"
    )
