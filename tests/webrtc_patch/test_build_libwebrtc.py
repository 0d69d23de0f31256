"""The scripts behind `make webrtc`, with stand-ins for apt-get, gn and ninja: nothing is fetched or compiled here."""

import os
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "webrtc_patch/libwebrtc"


@pytest.fixture
def run(tmp_path):
    """Runs `build.sh` with the bodies of programs; its destination is `tmp_path/out`."""

    def run_build(*arguments, **programs):
        folder = tmp_path / "programs"
        folder.mkdir(exist_ok=True)
        calls = 'echo "$*" >>$CALLS; '
        defaults = {"apt_get": calls + "case $1 in indextargets) echo deb-src x y main;; esac", "gn": ":", "ninja": ":"}
        for name, body in (defaults | programs).items():
            file = folder / name.replace("_", "-")
            file.write_text(f"#!/bin/sh\n{body}\n")
            file.chmod(0o755)
        environment = os.environ | {
            "PATH": f"{folder}:{os.environ['PATH']}",
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
            "CALLS": str(tmp_path / "calls"),
        }
        command = [FOLDER / "build.sh", *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)

    return run_build


@pytest.fixture
def prepared(tmp_path):
    """A destination whose source is in place, as `build.sh` leaves it before it compiles."""
    series = FOLDER.parent / "patches"
    files = f"{FOLDER}/* {series}/series $(sed 's|^|{series}/|' {series}/series)"
    wanted = subprocess.run(
        ["bash", "-c", f"cat {files} | sha256sum"], capture_output=True, text=True, check=True
    ).stdout
    out = tmp_path / "out"
    (out / "src").mkdir(parents=True)
    (out / "prepared").write_text(wanted)
    (out / "source").write_text("150.1\n")
    return out


def test_wrong_use(run):
    done = run()
    assert done.returncode == 2
    assert "usage" in done.stderr


def test_where_no_version_is_served_one_message_says_what_to_do(run, tmp_path):
    served = 'case "$*" in indextargets*) echo deb-src x y main;; *dsc-only*) exit 100;; esac'
    done = run(tmp_path / "out", apt_get=served)
    assert done.returncode == 3
    (message,) = done.stderr.splitlines()
    assert "150.0." in message
    assert "weir-call" in message


def test_a_mirror_that_does_not_answer_is_a_failure(run, tmp_path):
    done = run(tmp_path / "out", apt_get='case "$*" in indextargets*) echo deb-src x y main;; *) exit 100;; esac')
    assert done.returncode == 1
    assert "index of Debian's sources" in done.stderr


def test_a_machine_without_a_mirror_lacks_a_component(run, tmp_path):
    done = run(tmp_path / "out", apt_get=":")
    assert done.returncode == 3
    assert "no Debian mirror" in done.stderr


@pytest.mark.parametrize(("option", "folder", "checks"), [([], ".", "false"), (["--checked"], "checked", "true")])
def test_one_source_is_built_with_checks_and_without(run, prepared, tmp_path, option, folder, checks):
    done = run(prepared, *option)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "calls").exists(), "fetched, though the source is there"
    result = prepared / folder
    assert (result / "version").read_text() == "150.1\n"
    assert f"dcheck_always_on = {checks}" in (result / "args.gn").read_text().splitlines()
    assert (result / "src").samefile(prepared / "src")
    assert (result / "libwebrtc.a").is_symlink()


def test_a_changed_patch_is_another_source(run, prepared, tmp_path):
    (prepared / "prepared").write_text("of another patch\n")
    run(prepared, apt_get='echo "$*" >>$CALLS; exit 100')
    assert (tmp_path / "calls").exists()


def test_what_does_not_compile_is_shown(run, prepared):
    done = run(prepared, ninja="echo 'FAILED: x.o'; echo 'x.cc:1: error: no such thing'; exit 1")
    assert done.returncode == 1
    assert "x.cc:1: error: no such thing" in done.stderr
    assert not (prepared / "version").exists()
