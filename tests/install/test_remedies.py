"""Commands that messages and documents recommend are of this repository, and install no foreign package."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace

import pytest

from weir import installation
from weir.errors import MissingComponent
from weir.installation import DISTRIBUTION, how_to_get
from weir.qoe_eval.doctor import _OPTIONAL_PACKAGES, _TARGETS, components

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
    return set(re.findall(r"^([a-z][a-z-]*):(?!=)", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize(
    ("command", "foreign"),
    [
        ("pip install 'weir[train]'", True),
        ("pip install weir", True),
        ("pip install -U weir-bwe", True),
        ("pip install build/dist/weir_bwe-0.1.0.whl", False),
        ("uv pip install numpy  # for weir.traces", False),
    ],
)
def test_a_foreign_package_is_noticed_and_our_own_files_are_not(command, foreign):
    assert bool(FOREIGN.search(command)) == foreign


def test_nothing_installs_a_foreign_package():
    assert [(name, found[0]) for name, text in texts() for found in FOREIGN.finditer(text)] == []


def test_every_target_that_is_named_exists():
    named = {}
    for name, text in texts():
        for target in re.findall(r"`make ([a-z][a-z-]*)|how_to_get\(['\"]([a-z-]+)['\"]", text):
            named.setdefault("".join(target), name)
    assert {"build", "train", "webrtc", "wheel"} <= named.keys()
    assert {target: name for target, name in named.items() if target not in targets()} == {}
    assert set(_TARGETS.values()) <= targets()


def test_the_extra_train_is_what_training_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["name"] == DISTRIBUTION
    extra = {re.split(r"[<>=]", one)[0] for one in project["optional-dependencies"]["train"]}
    assert extra == set(installation.TRAINING_PACKAGES)
    locked = "".join((ROOT / "requirements" / name).read_text() for name in ("train.txt", "cuda.txt"))
    assert all(f"\n{name}==" in locked or locked.startswith(f"{name}==") for name in extra)
    assert "nvidia" not in (ROOT / "requirements/train.txt").read_text()


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
    monkeypatch.setattr(installation, "find_spec", lambda name: None)
    with pytest.raises(MissingComponent, match=r"torch, stable-baselines3, .*`make train` in "):
        installation.require("train")


def test_the_extra_call_is_locked():
    locked = (ROOT / "requirements/call.txt").read_text()
    assert all(f"\n{name}==" in f"\n{locked}" for name in installation.SPEECH_PACKAGES.values())


def test_doctor_knows_the_distribution_and_what_brings_each_package(monkeypatch):
    monkeypatch.setattr("weir.qoe_eval.doctor._package_version", lambda name: None)
    found = {component.name: component for component in components()}
    assert found[f"{DISTRIBUTION} (this)"].found == f"{installation.installed_version()}, {ROOT}"
    assert found["operating system"].found
    for name, need in _OPTIONAL_PACKAGES:
        assert found[f"Python package {name}"].remedy == how_to_get(
            {"train": "train", "test": "build-test"}.get(need, "webrtc")
        )


def test_a_missing_package_is_one_message():
    code = "import sys; sys.modules['typer'] = None; from weir.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 3
    assert done.stderr == f"weir: the Python package typer is not installed: `make build` in {ROOT} installs it\n"
