"""`make train` where only torch with CUDA can be had: 6 GB that nobody gets unasked."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# The package index has no torch for the CPU.
UV = """#!/bin/sh
echo "$@" >> calls
case "$*" in *torch-backend=cpu*) exit 1 ;; esac
"""


@pytest.fixture
def make(tmp_path):
    """Runs `make ARGUMENTS` in a tree whose Python packages are to be installed."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    (tmp_path / "docker").mkdir()
    (tmp_path / "build/stamps").mkdir(parents=True)
    for name in ("docker/packages.sh", "uv"):
        (tmp_path / name).write_text(UV if name == "uv" else "#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    for name in ("docker/packages-test.txt", "docker/packages-call.txt"):
        (tmp_path / name).touch()
    (tmp_path / "build/stamps/run").touch()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}

    def run(*arguments):
        command = ["make", "UV=./uv", "-o", "build/stamps/run", "-o", "build", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr, (tmp_path / "calls").read_text()

    return run


def test_it_stops_with_the_command_that_takes_it(make):
    status, error, calls = make("train")
    assert status != 0
    assert "make train CUDA=1" in error
    assert "cuda.txt" not in calls


@pytest.mark.parametrize("arguments", [("train", "CUDA=1"), ("build/stamps/test",)])
def test_it_is_installed_for_who_asks_and_for_tests(make, arguments):
    status, error, calls = make(*arguments)
    assert status == 0, error
    assert "cuda.txt" in calls
