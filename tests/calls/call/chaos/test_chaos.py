"""Every process of a call killed, or stopped, at every stage: nothing is left, and the record tells.

A few by default; all with WEIR_CHAOS=all, as `make chaos` has it.
"""

import json
import os
import re
import signal
import urllib.request
from pathlib import Path

import pytest
from call.chaos.staged_run import StagedRun
from processes import wait_until

from weir_calls.call.media.source_video import source_video_path
from weir_calls.requirements import missing_requirements
from weir_traces.catalogue import load_bundled


def _peer(role):
    return lambda words: "weir-peer" in words[0] and role in words


# The processes of a call, by their command lines.
VICTIMS = {
    "link": lambda words: "weir-sim" in words[0] and "link" in words,
    "receiver": _peer("receive"),
    "sender": _peer("send"),
    "chromium": lambda words: "chromium" in words[0] and "--type=" not in " ".join(words),
    # It writes all of it as one word.
    "renderer": lambda words: "chromium" in words[0] and "--type=renderer" in " ".join(words),
    "driver": lambda words: words[0].endswith("node"),
    "ffmpeg": lambda words: "ffmpeg" in words[0],
    # And the first process of its PID namespace.
    "holder": lambda words: any(word.endswith("namespace_holder.py") for word in words),
}

KILL, STOP = signal.SIGKILL, signal.SIGSTOP
# The stage at which the process is killed, as the command prints it.
START, SIGNALLING, MEDIA, END, MEASURING = (
    "starting the receiver", "connecting", "in the call", "ending the call", "measuring",
)  # fmt: skip
BY_DEFAULT = {
    *(("native", MEDIA, "weir", number) for number in (KILL, signal.SIGINT, signal.SIGTERM)),
    ("native", MEDIA, "holder", KILL), ("native", MEDIA, "receiver", STOP),
    ("native", MEDIA, "sender", KILL), ("native", MEDIA, "link", KILL),
    ("native", SIGNALLING, "link", KILL), ("native", MEASURING, "weir", KILL), ("native", END, "link", STOP),
    ("chromium", MEDIA, "driver", STOP), ("chromium", MEDIA, "chromium", KILL),
    ("chromium", MEDIA, "weir", signal.SIGINT), ("chromium", MEDIA, "weir", KILL),
}  # fmt: skip
ALL = [
    *(("native", stage, victim, number)
      for stage in (SIGNALLING, MEDIA, END) for victim in ("link", "receiver", "sender") for number in (KILL, STOP)),
    *(("native", START, "link", number) for number in (KILL, STOP)),
    *(("native", stage, "weir", KILL) for stage in ("setting up", START, SIGNALLING, MEDIA, END, MEASURING)),
    *(("native", MEDIA, "weir", number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)),
    *(("native", MEASURING, "ffmpeg", number) for number in (KILL, STOP)),
    *(("native", MEDIA, "holder", number) for number in (KILL, STOP)),
    *(("chromium", stage, victim, number) for stage in (SIGNALLING, MEDIA)
      for victim in ("chromium", "renderer", "driver") for number in (KILL, STOP)),
    *(("chromium", stage, "weir", KILL) for stage in (SIGNALLING, MEDIA, END)),
    ("chromium", MEDIA, "weir", signal.SIGINT),
]  # fmt: skip
# The record's words for what broke, by victim; at some stages the other end is the first to tell.
REPORTED = {
    "link": r"weir-sim link|connection|no connection",
    "receiver": r"receiver|connection",
    "sender": r"sender|connection",
    "chromium": r"Chromium|connection",
    "renderer": r"Chromium|connection",
    "driver": r"Chromium|connection",
    "holder": r"receiver|sender|connection",
}


def _cases():
    for case in ALL:
        sender, stage, victim, number = case
        missing = missing_requirements(sender)
        marks = [pytest.mark.skipif(bool(missing), reason=f"no call here: {'; '.join(missing)}")]
        if case not in BY_DEFAULT and os.environ.get("WEIR_CHAOS") != "all":
            marks.append(pytest.mark.skip(reason="one of all, which `make chaos` runs"))
        name = f"{sender}-{stage.replace(' ', '-')}-{victim}-{signal.Signals(number).name}"
        yield pytest.param(*case, id=name, marks=marks)


@pytest.fixture(scope="module")
def video():
    """Made once, not while a process is struck."""
    return source_video_path(640, 360)


@pytest.fixture
def start(tmp_path, video):
    runs = []

    def start_weir(*arguments, **options):
        runs.append(StagedRun(tmp_path, *arguments, **options))
        return runs[-1]

    yield start_weir
    for run in runs:
        run.kill()


def start_call(start, folder, sender, **options):
    load_bundled("steady-1m").model_copy(update={"name": "chaos"}).save(folder / "chaos.json")
    return start(
        "call", "chaos.json", "--sender", sender, "--duration", 5, "--size", "640x360", "--out", "out", **options
    )


def record(folder):
    """Returns the record of the only call below the folder."""
    (path,) = folder.rglob("call.json")
    return json.loads(path.read_text())


def assert_failure_is_reported(run, victim, number, ended):
    status, _, errors = ended
    assert "Traceback" not in errors
    if victim == "weir":
        # SIGHUP and SIGTERM are taken as Ctrl-C is.
        assert status == (-KILL if number == KILL else 1)
        assert number == KILL or "interrupted; 0 calls kept" in errors
    elif (victim, number) == ("holder", STOP):
        assert (status, record(run.folder)["call"]["failure"]) == (0, "")
    elif victim == "ffmpeg":
        assert status == 0
        assert "ffmpeg" in "; ".join(record(run.folder)["call"]["measured"]["problems"])
    else:
        failure = record(run.folder)["call"]["failure"]
        assert re.search(REPORTED[victim], failure), failure
        assert status == 1
        assert failure in errors


@pytest.mark.parametrize(("sender", "stage", "victim", "number"), list(_cases()))
def test_a_process_is_struck(start, tmp_path, sender, stage, victim, number):
    run = start_call(start, tmp_path, sender)
    run.go_to(stage)
    if victim == "ffmpeg":
        run.go()
        run.strike(VICTIMS[victim], number)
    elif victim == "weir":
        run.process.send_signal(number)
    else:
        run.strike(VICTIMS[victim], number)
    ended = run.finish()
    assert_failure_is_reported(run, victim, number, ended)
    run.assert_nothing_is_left()


@pytest.mark.skipif(bool(missing_requirements("native")), reason="no call here")
@pytest.mark.parametrize("victim", ["helper", "weir"])
def test_a_process_is_struck_while_the_video_is_made(start, tmp_path, victim):
    run = start_call(start, tmp_path, "native", environment={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    run.go_to("making the video")
    run.go()
    helpers = run.find(lambda words: any("spawn_main" in word for word in words))
    os.kill(helpers[0] if victim == "helper" else run.process.pid, KILL if victim == "helper" else signal.SIGTERM)
    status, _, errors = run.finish()
    assert status == 1
    assert ("killed by SIGKILL" if victim == "helper" else "interrupted; 0 calls kept") in errors
    assert "Traceback" not in errors
    run.assert_nothing_is_left()


@pytest.mark.skipif(bool(missing_requirements("native")), reason="no call here")
def test_sigterm_ends_the_measurement(start, tmp_path):
    run = start_call(start, tmp_path, "native")
    run.go_to(MEASURING)
    run.go()
    run.find(VICTIMS["ffmpeg"])
    run.process.send_signal(signal.SIGTERM)
    status, _, errors = run.finish()
    assert status == 1
    assert "interrupted; 0 calls kept" in errors
    run.assert_nothing_is_left()


STRUCK_AT_START = """#!/bin/sh
case "$*" in *{words}*) kill -{signal} $$ ;; esac
exec {program} "$@"
"""


@pytest.mark.skipif(os.environ.get("WEIR_CHAOS") != "all", reason="some of all, which `make chaos` runs")
@pytest.mark.parametrize("number", [KILL, STOP])
@pytest.mark.parametrize("victim", ["link", "receiver", "sender"])
def test_a_process_is_struck_before_it_is_ready(start, tmp_path, victim, number):
    from weir_sim.executables import find_peer, find_simulator

    words = {"link": "link", "receiver": "receive", "sender": "send"}[victim]
    name, program = ("WEIR_SIM", find_simulator()) if victim == "link" else ("WEIR_PEER", find_peer())
    wrapper = tmp_path / f"struck-{Path(program).name}"
    wrapper.write_text(STRUCK_AT_START.format(words=words, signal=signal.Signals(number).name[3:], program=program))
    wrapper.chmod(0o700)
    run = start_call(start, tmp_path, "native", environment={name: str(wrapper)})
    run.go_to("setting up")
    ended = run.finish()
    assert_failure_is_reported(run, victim, number, ended)
    run.assert_nothing_is_left()


def start_serve(start, folder):
    """`weir serve` with a call of a native sender that waits at its first stage; and the server's address."""
    run = start("serve", "--port", 0, "--out", "out", "--no-browser")
    address = run.process.stdout.readline().strip()
    call = {
        "scenario": "steady-1m", "sender": "native", "controller": "weir", "duration_s": 5, "size": "640x360",
        "objective": {"throughput": 0.4, "latency": 0.5, "loss": 0.1},
    }  # fmt: skip
    headers = {"Origin": address.rpartition("/")[0].rpartition("/")[0], "Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}call", json.dumps(call).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == 201
    return run, address


SERVED = [("link", KILL, True), ("receiver", STOP, False), ("weir", KILL, True), ("weir", signal.SIGHUP, False)]


@pytest.mark.skipif(bool(missing_requirements("native")), reason="no call here")
@pytest.mark.parametrize(
    ("victim", "number"),
    [(victim, number) for victim, number, always in SERVED if always or os.environ.get("WEIR_CHAOS") == "all"],
)
def test_a_process_of_a_served_call_is_struck(start, tmp_path, victim, number):
    run, address = start_serve(start, tmp_path)
    run.go_to(MEDIA)
    if victim == "weir":
        run.process.send_signal(number)
        status, _, errors = run.finish()
        assert status == (-KILL if number == KILL else 0)
    else:
        run.strike(VICTIMS[victim], number)
        run.go()
        run.go_to(MEASURING)
        run.go()
        # The server keeps serving, and the list of calls has the reason of the failure.
        calls = wait_until(lambda: get(address, "calls"), "the list of calls")
        assert re.search(REPORTED[victim], calls[0]["failure"])
        run.process.send_signal(signal.SIGTERM)
        status, _, errors = run.finish()
        assert status == 0
    assert "Traceback" not in errors
    run.assert_nothing_is_left()


def get(address, path):
    with urllib.request.urlopen(address + path, timeout=10) as answer:
        return json.loads(answer.read())
