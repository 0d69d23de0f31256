"""Results that somebody else has written to: one message each, and two replays never mix."""

import fcntl
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hand_made import call_record
from processes import is_running, wait_until
from shared_fixtures import REPLAY as COMMAND

from weir_eval.records.results_file import to_line


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
        lambda record: record["metrics"]["run"].update(utility=1e308),
        lambda record: record["flows"][0].update(packets_sent=10**30),
        lambda record: record.update(duration_s=1e308),
        lambda record: record.update(duration_s=10**400),
    ],
)
def test_a_line_that_is_no_record_is_named(results, run_weir, change):
    change_first_line(results, change)
    for command in (("report", "here"), (*COMMAND, "--out", "here")):
        status, _, err = run_weir(*command)
        assert status == 2
        assert "line 1 is no weir.result/1 record" in err


@pytest.mark.parametrize("line", ["nonsense", "[" * 100_000])
def test_a_line_that_is_no_json_is_named(results, run_weir, line):
    (results / "results.jsonl").write_text(f"{line}\n")
    status, _, err = run_weir("report", "here")
    assert status == 2
    assert "line 1 is no weir.result/1 record" in err


def damaged(content, *place, value):
    """The series with another value at a place."""
    series = part = json.loads(gzip.decompress(content))
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    return gzip.compress(json.dumps(series).encode())


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:200] + b"\xff" * 8 + content[208:],
        lambda content: gzip.compress(b'{"path": 5, "flows": [1]}'),
        lambda content: gzip.compress(b"[" * 100_000),
        lambda content: damaged(content, "flows", "media", value={}),
        lambda content: damaged(content, "flows", "media", "receive_rate_bps", 0, value="reverse"),
        lambda content: damaged(content, "flows", "media", "receive_rate_bps", 0, value=1e308),
        lambda content: damaged(content, "flows", "media", "packets_lost", value="0"),
        lambda content: damaged(content, "flows", "media", "packets_lost", value=[1, 2]),
        lambda content: damaged(content, "flows", "media", "one_way_delay_mean_ms", 0, value=[None]),
        lambda content: damaged(content, "flows", "media", "frames", "bytes", value=[1]),
        lambda content: damaged(content, "flows", "media", "frames", "complete_time_us", 0, value=-(1 << 62)),
        lambda content: damaged(content, "path", "interval_s", value=[1e308, 2]),
        lambda content: damaged(content, "path", "interval_s", value=0),
    ],
)
def test_damaged_series_are_named(results, run_weir, damage):
    path = next((results / "series").iterdir())
    path.write_bytes(damage(path.read_bytes()))
    status, _, err = run_weir("report", "here")
    assert status == 2
    assert f"{path.name}: damaged" in err


def test_a_pipe_in_the_place_of_series_is_named(results, run_weir):
    path = next((results / "series").iterdir())
    path.unlink()
    os.mkfifo(path)
    status, _, err = run_weir("report", "here")
    assert status == 2
    assert f"{path.name}: damaged ([Errno 22] is no file)" in err


def test_results_without_an_end_are_refused(results, run_weir, monkeypatch):
    monkeypatch.setattr("weir_cli.files.input._LONGEST_WAIT_S", 0.05)
    (results / "results.jsonl").unlink()
    os.mkfifo(results / "results.jsonl")
    reader = os.open(results / "results.jsonl", os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(results / "results.jsonl", os.O_WRONLY)
    try:
        status, _, err = run_weir("report", "here")
    finally:
        os.close(writer)
        os.close(reader)
    assert status == 2
    assert "results.jsonl: cannot be read (is no file)" in err


def test_a_line_without_an_end_is_refused_before_it_takes_memory(results, run_weir, monkeypatch):
    with (results / "results.jsonl").open("ab") as file:
        file.truncate(10_000_000_000)
    status, _, err = run_weir("report", "here")
    assert (status, err) == (2, "weir: here/results.jsonl: has a line of over 16 MiB; choose another folder\n")
    monkeypatch.setattr("weir_eval.records.results_file.LARGEST_RESULTS_BYTES", 4 << 20)
    with (results / "results.jsonl").open("rb") as file:
        record = file.readline()
    (results / "results.jsonl").write_bytes(record * (1 + (4 << 20) // len(record)))
    status, _, err = run_weir("report", "here")
    assert (status, err) == (2, "weir: here/results.jsonl: over 4 MiB; choose another folder\n")


def test_a_folder_in_use_by_another_replay_is_refused(results, run_weir):
    held = os.open(results, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    status, _, err = run_weir(*COMMAND, "--out", "here")
    os.close(held)
    assert status == 2
    assert "another weir writes its results there" in err
    assert run_weir(*COMMAND, "--out", "here")[0] == 0


def test_a_killed_replay_leaves_no_simulator(fake_simulator, misbehave, tmp_path):
    (tmp_path / "trace.csv").write_text("time_s,rate_bps\n0,1000000\n10,1000000\n")
    misbehave({"*": "hang"})
    pids = tmp_path / "pids"
    environment = os.environ | {"FAKE_WEIR_SIM_PIDS": str(pids)}
    command = [str(Path(sys.executable).with_name("weir")), *COMMAND, "--jobs", "1", "--out", "here"]
    replay = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)
    started = wait_until(lambda: pids.exists() and pids.read_text().split(), "the simulator")
    replay.kill()
    replay.wait()
    wait_until(lambda: not is_running(started[0]), "the end of the simulator")


def test_controllers_that_are_no_files_are_refused(results, run_weir, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for name in ("/dev/zero", "./fifo"):
        status, _, err = run_weir("replay", "trace.csv", "--controller", name, "--out", "there")
        assert status == 2
        assert f"--controller '{name}': is no regular file" in err


@pytest.mark.parametrize("option", ["--model", "--controller"])
def test_names_that_are_no_utf_8_are_refused(results, run_weir, tmp_path, option):
    name = os.fsdecode(b"\xff.py" if option == "--controller" else b"\xff.onnx")
    (tmp_path / name).write_bytes(b"content")
    status, _, err = run_weir(
        "replay", "trace.csv", "--controller", "weir", option, f"./{name}" + (":C" if option == "--controller" else "")
    )
    assert status == 2
    assert "its name is no UTF-8 text; rename it" in err


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("results.jsonl", None, "holds calls and no replays"),
        ("call.json", "{}", "holds a call (call.json)"),
        ("configuration.json", "{}", "holds a training (configuration.json)"),
    ],
)
def test_results_of_another_command_are_not_overwritten(results, run_weir, tmp_path, name, content, message):
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "report.html").write_text("theirs")
    (folder / name).write_bytes(content.encode() if content else to_line(call_record(measures={})))
    before = (folder / name).read_bytes()
    status, _, err = run_weir(*COMMAND, "--out", "there")
    assert (status, message in err) == (2, True), err
    assert "choose another folder" in err
    assert (folder / "report.html").read_text() == "theirs"
    assert (folder / name).read_bytes() == before
