"""Calls whose ends are commands of the user, over the real link."""

import json
import sys

import pytest

from weir.errors import MissingComponent
from weir.qoe_eval.requirements import check_link_requirements


def missing():
    try:
        check_link_requirements()
    except MissingComponent as error:
        return str(error)
    return ""


needs_link = pytest.mark.skipif(bool(missing()), reason=missing())

# 500 packets of 1,000 bytes a second; and whatever arrives, with getStats as a browser would have it.
SENDER = """
import os, socket, time
to = (os.environ["WEIR_LINK_FAR"], 5000)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True:
    s.sendto(bytes(972), to)
    time.sleep(0.002)
"""
RECEIVER = """
import json, os, socket, sys, time
assert os.environ["WEIR_CALL_ROLE"] == "receiver" and os.path.isdir(os.environ["WEIR_CALL_FOLDER"])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((os.environ["WEIR_LINK_LOCAL"], 5000))
print("a line that is no message")
received, said, reports = 0, 0.0, 0
while True:
    received += len(s.recv(2000))
    if not said:
        print(json.dumps({"type": "state", "state": "connected"}), flush=True)
    if time.monotonic() > said + 0.5:
        said, reports = time.monotonic(), reports + 1
        slow = reports if os.environ["WEIR_CALL_LABEL"] == "slow" else 0
        video = {"id": "v", "type": "inbound-rtp", "kind": "video", "bytesReceived": received, "frameHeight": 360,
                 "freezeCount": slow, "totalFreezesDuration": 0.2 * slow}
        print(json.dumps({"type": "stats", "report": [video]}), flush=True)
"""


@pytest.fixture
def commands(tmp_path):
    for name, text in (("sender.py", SENDER), ("receiver.py", RECEIVER)):
        (tmp_path / name).write_text(text)
    return [
        *("--sender", f"{sys.executable} {tmp_path}/sender.py"),
        *("--receiver", f"exec {sys.executable} {tmp_path}/receiver.py"),
    ]


@needs_link
def test_two_programs_are_measured_on_the_link_and_by_their_statistics(run_weir, commands, tmp_path):
    (tmp_path / "path.csv").write_text("time_s,rate_bps\n0,2000000\n")
    command = ["call", "path.csv", *commands, "--duration", "5", "--controller", "fast", "--controller", "slow"]
    rules = ["--reference", "fast", "--require", "stats_total_freezes_duration_s<=fast"]
    status, out, error = run_weir(*command, *rules, "--out", "here")
    assert status == 1, out + error
    assert "stats_total_freezes_duration_s<=fast" in out
    assert "NOT MET" in out
    records = [json.loads(line) for line in (tmp_path / "here/results.jsonl").read_text().splitlines()]
    fast, slow = (record["metrics"]["run"] for record in records)
    # Up to four megabits a second meet a link of two.
    for run in (fast, slow):
        assert 0.9 < run["utilisation"] <= 1.01
        assert 0.2 < run["loss_ratio"] < 0.6
        assert 1.7e6 < run["received_bitrate_bps"] < 2.1e6
        assert run["frame_height_mean"] == 360
        assert run["vmaf_mean"] is run["end_to_end_delay_ms_p95"] is run["call_score"] is None
    assert fast["frozen_share"] == 0
    assert 0.2 < slow["frozen_share"] < 0.5
    assert records[0]["call"]["sender"].endswith("sender.py")
    assert (tmp_path / "here/report.html").stat().st_size > 1000
    assert run_weir("report", "here")[0] == 0


@needs_link
def test_a_command_that_ends_early_fails_the_call(run_weir, commands, tmp_path):
    (tmp_path / "path.csv").write_text("time_s,rate_bps\n0,2000000\n")
    commands[1] = "echo nothing to send >&2; exit 7"
    status, _, error = run_weir("call", "path.csv", *commands, "--duration", "5", "--out", "here")
    assert status == 1
    assert "ended with status 7 before the call was over" in error


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--sender", "./mine"], "--receiver 'native': with a command at --sender, this end is a command too"),
        (["--receiver", "./mine"], "--sender 'chromium': with a command at --receiver, this end is a command too"),
        (["--sender", "chromum"], "--sender 'chromum': not known; did you mean chromium?"),
        (["--sender", "./a", "--receiver", "./b", "--controller", "a b"], "--controller 'a b': a label is of 1 to 40"),
        (["--sender", "./a", "--receiver", "./b", "--compare"], "--compare: has no meaning"),
    ],
)
def test_ends_that_do_not_fit_are_refused(run_weir, tmp_path, arguments, words):
    (tmp_path / "path.csv").write_text("time_s,rate_bps\n0,2000000\n")
    status, _, error = run_weir("call", "path.csv", *arguments)
    assert status == 2
    assert words in error
    assert not (tmp_path / "weir-calls").exists()
