import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lint import tidy

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build/release"
# Not of this build: examples are built against an installed Weir, libFuzzer's main() by clang, what a browser has by
# gn; plug-ins need the headers of Janus and mediasoup; and what stands in for ONNX Runtime and for threads where those
# are left out.
ELSEWHERE = {
    ROOT / "examples/cpp/example.cc",
    ROOT / "examples/cpp/sender.cc",
    ROOT / "examples/webrtc/receiver.cc",
    ROOT / "tests/fuzz/fuzzer_main.cc",
    ROOT / "estimator/src/worker/policy_worker_absent.cc",
    ROOT / "webrtc_patch/chromium/weir_feature.cc",
    ROOT / "webrtc_patch/libwebrtc/receive_side_smoke_test.cc",
    ROOT / "plugins/mediasoup/src/network_controller.cc",
    ROOT / "plugins/mediasoup/src/remb_server.cc",
    *(ROOT / "plugins/janus").rglob("*.cc"),
}


def test_it_looks_at_every_file():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "*.cc"], capture_output=True, text=True, check=True)
    expected, seen = {ROOT / path for path in listed.stdout.split()} - ELSEWHERE, set(tidy.stamp_names(BUILD))
    if not (ROOT / "build/libwebrtc/version").exists():
        # Without `make webrtc` there are no weir-peer and virtual calls, and only what weir-sim needs of the adapter.
        names = (
            *("webrtc_patch", "tests/webrtc_patch", "tests/bench/receive_side_benchmark.cc"),
            "tests/bench/observer_benchmark.cc",
            *("calls/peer", "calls/virtual_call", "logs/event_log", "tests/calls/peer", "tests/calls/virtual_call"),
        )
        parts = [ROOT / name for name in names]
        expected, seen = (
            {path for path in some if not any(map(path.is_relative_to, parts))} for some in (expected, seen)
        )
    assert expected == seen


def test_a_file_has_changed_when_a_header_of_the_repository_has(monkeypatch, tmp_path):
    compiled = "estimator/CMakeFiles/weir.dir/src/guard/guard.cc.o"
    headers = tidy.headers_of_objects(BUILD)[compiled]
    assert ROOT / "estimator/src/guard/guard.h" in headers
    before = tidy.stamp_names(BUILD)
    changed = tmp_path / "guard.h"
    changed.write_bytes((ROOT / "estimator/src/guard/guard.h").read_bytes() + b"// changed\n")
    monkeypatch.setattr(tidy, "headers_of_objects", lambda build: {compiled: [*headers, changed]})
    after = tidy.stamp_names(BUILD)
    guard = ROOT / "estimator/src/guard/guard.cc"
    assert before[guard] != after[guard]


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A function that makes a clone with one file, which tidy.py then checks; returns its folder of the build."""

    def make(name):
        root = tmp_path / name
        (root / "build").mkdir(parents=True)
        (root / "tests").mkdir()
        for path in (".clang-tidy", "tests/.clang-tidy"):
            (root / path).write_bytes((ROOT / path).read_bytes())
        (root / "a.cc").write_text("int a;\n")
        command = {"directory": str(root), "file": f"{root}/a.cc", "command": f"c++ -I{root} -o a.o -c {root}/a.cc"}
        (root / "build/compile_commands.json").write_text(json.dumps([command]))
        monkeypatch.setattr(tidy, "ROOT", root)
        return root / "build"

    monkeypatch.setattr(tidy, "headers_of_objects", lambda build: {})
    return make


def test_a_file_that_passed_in_one_clone_passes_in_another(clone, tmp_path, monkeypatch, capsys):
    stamps = tmp_path / "stamps"
    stamps.mkdir()
    for name, age_s in (("of last week", 7 * 24 * 3600), ("of last year", 365 * 24 * 3600)):
        (stamps / name).touch()
        os.utime(stamps / name, times=2 * ((stamps / name).stat().st_mtime - age_s,))
    for name, line in (("one", "1 of 1 files pass, 0 as before"), ("another", "0 of 0 files pass, 1 as before")):
        monkeypatch.setattr(sys, "argv", ["tidy.py", str(clone(name)), str(stamps)])
        assert tidy.main() == 0
        assert line in capsys.readouterr().out
    assert [(stamps / name).exists() for name in ("of last week", "of last year")] == [True, False]


def test_the_checks_find_a_fault(tmp_path):
    source = tmp_path / "fault.cc"
    source.write_text(
        "#include <string>\n#include <utility>\n"
        "std::string Twice(std::string text) {\n  std::string first = std::move(text);\n  return first + text;\n}\n"
    )
    command = [tidy.CLANG_TIDY, f"--config-file={ROOT / '.clang-tidy'}", "--quiet", source, "--", "-std=c++20"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "bugprone-use-after-move" in done.stdout
