"""Results that somebody else has written to: one message each, and two replays never mix."""

import fcntl
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = ("replay", "trace.csv", "--controller", "rule", "--controller", "gcc", "--seeds", "1", "--objectives", "0")


@pytest.fixture
def results(fake_simulator, run_weir, tmp_path):
    (tmp_path / "trace.csv").write_text("time_s,rate_bps\n0,1000000\n5,2000000\n10,1000000\n")
    assert run_weir(*COMMAND, "--out", "here")[0] == 0
    return tmp_path / "here"


def change_first_line(results, change):
    first, *rest = (results / "results.jsonl").read_text().splitlines()
    record = json.loads(first)
    change(record)
    (results / "results.jsonl").write_text("\n".join([json.dumps(record), *rest]) + "\n")


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.update(key=["a"]),
        lambda record: record.pop("scenario"),
        lambda record: record.update(controller=["gcc"]),
        lambda record: record.pop("seed"),
        lambda record: record.pop("duration_s"),
        lambda record: record.update(path={}),
        lambda record: record.update(flows=5),
        lambda record: record.update(flows=[3]),
        lambda record: record.update(metrics=None),
        lambda record: record["metrics"]["run"].update(utility="x"),
        lambda record: record["metrics"]["run"].update(utility=float("nan")),
        lambda record: record["metrics"]["run"].update(utility=10**400),
        lambda record: record.update(duration_s=10**400),
    ],
)
def test_a_line_that_is_no_record_is_named(results, run_weir, change):
    change_first_line(results, change)
    for command in (("report", "here"), (*COMMAND, "--out", "here")):
        status, _, said = run_weir(*command)
        assert status == 2
        assert "line 1 is no weir.result/1 record" in said


def test_a_line_that_is_too_deep_is_named(results, run_weir):
    (results / "results.jsonl").write_text("[" * 100_000 + "\n")
    status, _, said = run_weir("report", "here")
    assert status == 2
    assert "line 1 is no weir.result/1 record" in said


@pytest.mark.parametrize("damage", ["bytes", "shape"])
def test_damaged_series_are_named(results, run_weir, damage):
    path = next((results / "series").iterdir())
    content = bytearray(path.read_bytes())
    if damage == "bytes":
        content[200:208] = b"\xff" * 8
    else:
        content = gzip.compress(b'{"path": 5, "flows": [1]}')
    path.write_bytes(content)
    status, _, said = run_weir("report", "here")
    assert status == 2
    assert f"{path.name}: damaged" in said


def test_results_without_an_end_are_refused(results, run_weir):
    (results / "results.jsonl").unlink()
    os.mkfifo(results / "results.jsonl")
    reader = os.open(results / "results.jsonl", os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(results / "results.jsonl", os.O_WRONLY)
    try:
        status, _, said = run_weir("report", "here")
    finally:
        os.close(writer)
        os.close(reader)
    assert status == 2
    assert "nothing came out of it" in said


def test_another_replay_in_the_folder_is_told(results, run_weir):
    held = os.open(results, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    status, _, said = run_weir(*COMMAND, "--out", "here")
    os.close(held)
    assert status == 2
    assert "another weir writes its results there" in said
    assert run_weir(*COMMAND, "--out", "here")[0] == 0


def test_a_killed_replay_leaves_no_simulator(fake_simulator, misbehave, tmp_path):
    (tmp_path / "trace.csv").write_text("time_s,rate_bps\n0,1000000\n10,1000000\n")
    misbehave({"*": "hang"})
    pids = tmp_path / "pids"
    environment = os.environ | {"FAKE_WEIR_SIM_PIDS": str(pids)}
    command = [str(Path(sys.executable).with_name("weir")), *COMMAND, "--jobs", "1", "--out", "here"]
    replay = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not pids.exists() or not pids.read_text().strip():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    replay.send_signal(signal.SIGKILL)
    replay.wait()
    simulator = int(pids.read_text().split()[0])
    while os.path.exists(f"/proc/{simulator}") and "zombie" not in status_of(simulator):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def status_of(pid):
    try:
        with open(f"/proc/{pid}/status") as file:
            return file.read()
    except OSError:
        return "zombie"


def test_controllers_that_are_no_files_are_refused(results, run_weir, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for name in ("/dev/zero", "./fifo"):
        status, _, said = run_weir("replay", "trace.csv", "--controller", name, "--out", "there")
        assert status == 2
        assert f"--controller {name}: is no regular file" in said


@pytest.mark.parametrize("option", ["--model", "--controller"])
def test_names_that_cannot_be_said_are_refused(results, run_weir, tmp_path, option):
    name = os.fsdecode(b"\xff.py" if option == "--controller" else b"\xff.onnx")
    (tmp_path / name).write_bytes(b"content")
    status, _, said = run_weir(
        "replay", "trace.csv", "--controller", "weir", option, f"./{name}" + (":C" if option == "--controller" else "")
    )
    assert status == 2
    assert "its name is no UTF-8 text; rename it" in said
