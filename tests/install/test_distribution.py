"""The sdist, what the build puts into an environment, and the README's environment."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

import weir._core
from weir_cli.errors import MissingComponent
from weir_sim.executables import find_simulator
from weir_sim.installed import shipped_model
from weir_sim.versions import simulator_versions

ROOT = Path(__file__).parents[2]


def test_the_sdist_has_all_that_git_has(tmp_path):
    library = ROOT / "estimator"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=library, capture_output=True, text=True, check=True)
    code = f"from scikit_build_core.build import build_sdist; build_sdist({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=library, check=True, capture_output=True)
    (archive,) = tmp_path.glob("weir_bwe-*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert {name for name in listed.stdout.split("\0") if name and (library / name).is_file()} - names == set()
    assert not any(name.startswith(("build/", ".venv/", ".git/")) for name in names)


def test_distributions_have_their_licence_and_their_programs():
    for name, program in (("weir-bwe", "weir-sim"), ("weir-cli", "weir")):
        assert {"LICENSE", program} <= {path.name for path in distribution(name).files}


@pytest.mark.parametrize("built", [Path(weir._core.__file__), find_simulator()], ids=["weir._core", "weir-sim"])
def test_what_is_installed_leads_nowhere_else(built):
    section = subprocess.run(["readelf", "-d", built], capture_output=True, text=True, check=True).stdout
    assert "onnxruntime" not in section
    paths = re.findall(r"R(?:UN)?PATH.*\[(.*)\]", section)
    assert all(path.startswith("$ORIGIN") for path in ":".join(paths).split(":") if path)


def test_weir_sim_finds_the_onnxruntime_of_its_environment(tmp_path):
    versions = subprocess.run([find_simulator(), "--version"], capture_output=True, text=True, check=True)
    assert f'"onnxruntime":"{weir.onnxruntime_version()}"' in versions.stdout
    # One environment with, one without.
    for name in ("with", "with out"):
        (tmp_path / name / "bin").mkdir(parents=True)
        shutil.copy2(find_simulator(), tmp_path / name / "bin")
    for version in ("3.9", "3.11", "3.13"):
        packages = tmp_path / f"with/lib/python{version}/site-packages"
        packages.mkdir(parents=True)
    (package,) = (path for path in sys.path if Path(path, "onnxruntime").is_dir())
    (packages / "onnxruntime").symlink_to(Path(package, "onnxruntime"))
    for name, version in (("with", weir.onnxruntime_version()), ("with out", "")):
        versions = subprocess.run([tmp_path / name / "bin/weir-sim", "--version"], capture_output=True, text=True)
        assert f'"onnxruntime":"{version}"' in versions.stdout


def test_weir_sim_on_a_machine_with_another_ns3(tmp_path):
    broken = tmp_path / "weir-sim"
    broken.write_bytes(find_simulator().read_bytes().replace(b"libns3-core.so.", b"libns4-core.so."))
    broken.chmod(0o755)
    with pytest.raises(MissingComponent, match=r"libns4-core.*apt-get install libns3-dev"):
        simulator_versions(broken)


@pytest.fixture
def without_onnxruntime(tmp_path):
    """Runs a program with a copy of Weir's module and no other package beside it: result."""
    packages = tmp_path / "packages"
    shutil.copytree(ROOT / "estimator/python/weir", packages / "weir")
    for name in (weir._core.__file__, shipped_model()):
        shutil.copy(name, packages / "weir")

    def run(program):
        # Without site-packages, whose finder leads to the clone.
        command = [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {str(packages)!r})\n{program}"]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    return run


def test_without_onnxruntime_only_models_of_other_operators_are_refused(tmp_path, without_onnxruntime):
    subprocess.run([sys.executable, ROOT / "tests/estimator/make_test_models.py", tmp_path], check=True)
    done = without_onnxruntime(f"""
import weir
weir.BandwidthEstimator("rule")
assert weir.onnxruntime_version() == ""
weir.Policy(weir.Model.shipped())
try:
    weir.Policy(open({str(tmp_path / "foreign_operator.onnx")!r}, "rb").read())
except ValueError as error:
    assert "there is no ONNX Runtime" in str(error) and "the extra `bench`" in str(error), error
else:
    sys.exit("it was accepted")
""")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_environment_as_the_readme_makes_it(tmp_path):
    call = re.search(r"gymnasium\.make\([^\n`]*\)", (ROOT / "trainer/README.md").read_text())[0]
    code = f"import gymnasium; environment = {call}; environment.reset(seed=1); environment.close()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=os.environ)
    assert done.returncode == 0, done.stderr
