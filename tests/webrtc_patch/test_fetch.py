"""`fetch.sh --package`: which version of Debian's Chromium is taken, with stand-ins for apt-get and apt-cache."""

import os
import subprocess
from pathlib import Path

import pytest

FETCH = Path(__file__).parents[2] / "webrtc_patch/libwebrtc/fetch.sh"
# As the index of the mirror lists them; the mirror has no source of 156.
APT_CACHE = "printf 'Package: chromium\\nVersion: %s\\n\\n' 150.0.7871.100-1 156.0.8078.108-1 150.0.7871.99-1 15.0.1-1"
APT_GET = """
case "$*" in
  indextargets*) echo deb-src x y main ;;
  *--dsc-only*=156.*) exit 100 ;;
  *--dsc-only*) ;;
  *" --download-only chromium="*) echo "$*" >>"$CALLS" ;;
esac
"""


@pytest.fixture
def fetch(tmp_path):
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, body in (("apt-get", APT_GET), ("apt-cache", APT_CACHE)):
        (programs / name).write_text(f"#!/bin/sh\n{body}\n")
        (programs / name).chmod(0o755)
    environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "CALLS": str(tmp_path / "calls")}

    def run(*arguments):
        command = [FETCH, tmp_path / "cache", *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)

    return run


def test_the_newest_version_that_is_served_is_taken_and_the_others_are_named(fetch, tmp_path):
    done = fetch("--package")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["150.0.7871.100-1", str(tmp_path / "cache/fetch")]
    assert "the mirror lists chromium 156.0.8078.108-1 but does not serve its source" in done.stderr
    assert "chromium=150.0.7871.100-1" in (tmp_path / "calls").read_text()


def test_a_milestone_is_taken_alone(fetch):
    done = fetch("--package", "15")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == "15.0.1-1"
    assert "156" not in done.stderr


@pytest.mark.parametrize("milestone", ["156", "149"])
def test_a_milestone_that_is_not_served_is_a_missing_component(fetch, tmp_path, milestone):
    done = fetch("--package", milestone)
    assert done.returncode == 3
    assert done.stderr.endswith(f"Debian's mirror serves the source of no chromium {milestone}\n")
    assert not (tmp_path / "calls").exists()


@pytest.mark.parametrize("arguments", [["--package", "newest"], ["--fetched", "150"], ["--package", "150", "156"]])
def test_wrong_use(fetch, arguments):
    done = fetch(*arguments)
    assert done.returncode == 2
    assert "usage" in done.stderr
