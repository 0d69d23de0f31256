"""Weir beside the controller in charge of virtual calls: it changes nothing, and `weir report` shows what it saw."""

import json

import pytest

CALL = ("--stack", "libwebrtc", "--encoder", "fake", "--duration", 15, "--seeds", 0, "--jobs", 1, "--objectives", 0)


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    return tmp_path_factory.mktemp("observations")


def replay(run_weir, out, *options, **environment):
    arguments = ("replay", "catalogue/steps", *CALL, *options, "--out", out)
    status, _, error = run_weir(*arguments, **environment)
    assert status == 0, error
    return (out / "results.jsonl").read_bytes()


@pytest.mark.parametrize("controller", ["gcc", "scream", "weir-send"])
def test_an_observer_changes_no_byte_of_a_call(controller, logs, virtual_call_program, run_weir, tmp_path):
    alone = replay(run_weir, tmp_path / "alone", "--controller", controller)
    observed = replay(run_weir, tmp_path / "observed", "--controller", controller, WEIR_OBSERVATIONS=str(logs))
    assert observed == alone


def test_the_report_of_observed_calls_has_both_targets_and_freezes(logs, virtual_call_program, run_weir, tmp_path):
    for controller in ("gcc", "weir-send"):
        if not list(logs.glob(f"*-{controller}-*")):
            replay(run_weir, tmp_path / controller, "--controller", controller, WEIR_OBSERVATIONS=str(logs))
    for log in logs.glob("*-scream-*"):
        log.unlink()
    status, printed, error = run_weir("report", logs, "--json", "--out", tmp_path / "page")
    assert status == 0, error
    found = json.loads(printed)
    assert (found["connections"], found["other"]) == (2, "gcc")
    assert found["in_charge"] == {"weir": 1, "other": 1, "changed": 0}
    every = found["conditions"]["all"]
    assert 12 <= every["seconds"] <= 16
    assert every["other_kbps"] > 100
    assert every["weir_kbps"] > 100
    rows = {row["measure"]: row for row in found["comparison"]}
    assert rows["received_kbps"]["weir"] > 100
    assert {"freezes_per_minute", "frozen_percent", "queueing_delay_ms"} <= rows.keys()
