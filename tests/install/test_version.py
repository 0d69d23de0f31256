"""The version is in CMakeLists.txt; everything else takes it from there, or is compared with it here."""

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest

import weir
from weir_sim.executables import find_simulator
from weir_train.configuration.training import TrainingConfiguration

ROOT = Path(__file__).parents[2]
VERSION = re.search(r"^project\(weir VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), flags=re.MULTILINE)[1]


def printed(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_packages_and_programs_have_it():
    assert weir.__version__ == VERSION
    assert distribution("weir-bwe").version == VERSION
    assert printed(Path(sys.executable).parent / "weir", "--version") == f"weir {VERSION}\n"
    assert json.loads(printed(find_simulator(), "--version"))["weir"] == VERSION


def test_the_distributions_have_it():
    projects = [tomllib.loads(path.read_text())["project"] for path in ROOT.glob("*/pyproject.toml")]
    written = {project["name"]: project["version"] for project in projects if "version" in project}
    written.pop("weir-papers", None)  # not versioned
    assert len(written) >= 5
    assert set(written.values()) == {VERSION}, written


@pytest.mark.parametrize("name", ["weir.pc", "weir-cpp.pc"])
def test_pkg_config_has_it(name):
    assert f"Version: {VERSION}\n" in (ROOT / "build/release/estimator" / name).read_text()


def test_the_library_alone_has_it():
    assert f"project(weir VERSION {VERSION} " in (ROOT / "estimator/CMakeLists.txt").read_text()


def test_a_model_has_the_version_that_trained_it_unless_it_is_given_one():
    assert TrainingConfiguration.model_fields["version"].default == VERSION


def test_it_has_a_section_in_the_changelog():
    assert f"\n## [{VERSION}] - " in (ROOT / "CHANGELOG.md").read_text()
