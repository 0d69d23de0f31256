"""`fetch_source.sh`: what it refuses, and that it does nothing when all is in place. Nothing is fetched here."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "webrtc_patch/fetch_source.sh"
VERSION = "1.0-1"


@pytest.fixture
def series(tmp_path: Path) -> Path:
    folder = tmp_path / "series"
    folder.mkdir()
    (folder / "series").write_text("# One patch.\none.patch\n")
    (folder / "one.patch").write_text("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")
    return folder


def run(tmp_path: Path, *arguments: object, installed: bool = True) -> subprocess.CompletedProcess[str]:
    programs = tmp_path / "programs"
    programs.mkdir(exist_ok=True)
    program(programs / "dpkg-query", f"printf {VERSION}" if installed else "exit 1")
    program(programs / "apt-get", "echo 'apt-get was called' >&2; exit 100")
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    command = [str(SCRIPT), *(str(argument) for argument in arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=30, check=False)


def program(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def test_wrong_use(tmp_path: Path, series: Path) -> None:
    assert run(tmp_path).returncode == 2
    assert "no folder" in run(tmp_path, tmp_path / "out", tmp_path / "none").stderr
    (series / "series").write_text("missing.patch\n")
    done = run(tmp_path, tmp_path / "out", series)
    assert done.returncode == 2
    assert "no patch 'missing.patch'" in done.stderr
    (series / "series").write_text("# Nothing.\n")
    assert run(tmp_path, tmp_path / "out", series).returncode == 2


def test_a_missing_package_is_named(tmp_path: Path, series: Path) -> None:
    done = run(tmp_path, tmp_path / "out", series, installed=False)
    assert done.returncode == 3
    assert "apt-get install libtgowt-dev" in done.stderr


def test_nothing_is_fetched_when_it_is_there(tmp_path: Path, series: Path) -> None:
    sums = "\n".join(
        f"{hashlib.sha256((series / name).read_bytes()).hexdigest()}  {name}" for name in ("series", "one.patch")
    )
    out = tmp_path / "out"
    out.mkdir()
    (out / ".weir").write_text(f"{VERSION}\n{sums}\n")
    done = run(tmp_path, out, series)
    assert done.returncode == 0, done.stderr
    assert "apt-get was called" not in done.stderr

    # A changed patch is another source; what was there stays until the new one is complete.
    (series / "one.patch").write_text("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+c\n")
    done = run(tmp_path, out, series)
    assert done.returncode == 1
    assert "apt-get was called" in done.stderr
    assert (out / ".weir").exists()
