"""The runner of simulator processes against a stand-in that dies, hangs and lies on request."""

import os
import re
import signal
import threading
import time

import pytest
from processes import is_running, wait_until

from weir_cli.errors import ComponentFailed, MissingComponent
from weir_eval.runs.simulator import run_jobs, say_left_out
from weir_eval.runs.simulator_worker import SimulatorJob
from weir_sim.versions import simulator_versions


@pytest.fixture
def jobs(scenarios):
    document = scenarios[0].to_dict()
    return [
        SimulatorJob(
            f"{controller}, {seed}",
            {"scenario": document, "controller": controller, "objective": [0.4, 0.5, 0.1], "seed": seed},
        )
        for seed in (1, 2, 3)
        for controller in ("weir", "gcc")
    ]


def run(simulator, jobs, processes=2, time_limit_s=30.0):
    return list(run_jobs(simulator, jobs, processes, time_limit_s))


def assert_gone(pids_file):
    pids = [int(line) for line in pids_file.read_text().split()]
    assert pids
    assert not any(map(is_running, pids))


@pytest.mark.parametrize("processes", [1, 2, 9])
def test_every_job_is_answered_once(fake_simulator, jobs, processes):
    outcomes = run(fake_simulator, jobs, processes)
    assert sorted(o.job.name for o in outcomes) == sorted(job.name for job in jobs)
    assert all(outcome.error is None for outcome in outcomes)
    assert all(outcome.record.controller == outcome.job.name.split(",")[0] for outcome in outcomes)


def test_no_jobs_start_no_process(tmp_path):
    assert run(tmp_path / "not there", []) == []


def test_a_job_larger_than_a_pipe(fake_simulator, jobs):
    times = [i / 10 for i in range(50_000)]
    scenario = jobs[0].request["scenario"]
    scenario["forward"]["capacity"] = {"times_s": times, "rates_bps": [1e6] * len(times), "period_s": None}
    scenario["duration_s"] = 0.5
    (outcome,) = run(fake_simulator, jobs[:1])
    assert outcome.error is None


@pytest.mark.parametrize(
    ("how", "expected"), [("die", ("SIGABRT", "queue.size")), ("die quietly", ("status 7", "nothing"))]
)
def test_a_crash_fails_its_job_at_once_and_no_other(fake_simulator, misbehave, jobs, how, expected):
    misbehave({"gcc:2": how})
    outcomes = run(fake_simulator, jobs, time_limit_s=300.0)
    (failure,) = [outcome for outcome in outcomes if outcome.error]
    assert failure.job.name == "gcc, 2"
    assert all(part in failure.error for part in expected)
    assert not failure.refused
    assert len(outcomes) == len(jobs)


def test_a_simulator_that_always_dies_is_given_up(fake_simulator, misbehave, jobs):
    misbehave({"*": "die"})
    with pytest.raises(ComponentFailed, match=r"3 times.*queue\.size"):
        run(fake_simulator, jobs)


def test_a_hung_run_is_ended_and_the_others_go_on(fake_simulator, misbehave, jobs, monkeypatch, tmp_path):
    misbehave({"gcc:1": "hang"})
    monkeypatch.setenv("FAKE_WEIR_SIM_PIDS", str(tmp_path / "pids"))
    outcomes = run(fake_simulator, jobs, time_limit_s=5.0)
    (failure,) = [outcome for outcome in outcomes if outcome.error]
    assert failure.job.name == "gcc, 1"
    assert "within 5 s" in failure.error
    assert len(outcomes) == len(jobs)
    assert_gone(tmp_path / "pids")


def test_a_refusal_is_told_apart_from_a_crash(fake_simulator, misbehave, jobs):
    misbehave({"weir:1": "refuse"})
    (failure,) = [outcome for outcome in run(fake_simulator, jobs) if outcome.error]
    assert failure.refused
    assert "weir.schema is 9" in failure.error


def test_an_invalid_answer_is_a_failure(fake_simulator, misbehave, jobs):
    misbehave({"gcc:3": "nonsense"})
    (failure,) = [outcome for outcome in run(fake_simulator, jobs) if outcome.error]
    assert "something else than a result" in failure.error


def test_processes_end_when_the_consumer_stops(fake_simulator, misbehave, jobs, monkeypatch, tmp_path):
    misbehave({"gcc:1": "hang"})
    monkeypatch.setenv("FAKE_WEIR_SIM_PIDS", str(tmp_path / "pids"))
    outcomes = run_jobs(fake_simulator, jobs, 2, 300.0)
    assert next(outcomes).error is None
    outcomes.close()
    assert_gone(tmp_path / "pids")


def test_ctrl_c_that_does_not_wake_the_main_thread_ends_the_jobs(
    fake_simulator, misbehave, jobs, monkeypatch, tmp_path
):
    misbehave({"*": "hang"})
    pids = tmp_path / "pids"
    monkeypatch.setenv("FAKE_WEIR_SIM_PIDS", str(pids))

    def interrupt():
        wait_until(pids.exists)
        os.kill(os.getpid(), signal.SIGINT)

    other = threading.Thread(target=interrupt)
    other.start()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    started_s = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            run(fake_simulator, jobs)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        other.join()
    assert time.monotonic() - started_s < 25
    assert_gone(pids)


def test_an_executable_that_does_not_start(tmp_path, jobs):
    broken = tmp_path / "weir-sim"
    broken.write_bytes(b"\x7fELF but not really")
    broken.chmod(0o755)
    with pytest.raises(ComponentFailed, match="does not start"):
        run(broken, jobs)
    with pytest.raises(MissingComponent, match="--version does not work"):
        simulator_versions(broken)


def test_versions(fake_simulator, misbehave):
    assert simulator_versions(fake_simulator) == {"weir": "0.0", "ns3": "none", "libwebrtc": "150.0"}
    misbehave({"version": "fail"})
    with pytest.raises(MissingComponent, match=r"libns3\.so"):
        simulator_versions(fake_simulator)


def test_excluded_controllers_are_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    say_left_out(["gcc", "scream", "weir", "scream"], {"scream", "scream-ccfb"})
    assert re.fullmatch(r"weir: left out: scream; they need `make webrtc`.*\n", capsys.readouterr().err)
    say_left_out(["gcc"], {"scream"})
    assert capsys.readouterr().err == ""
