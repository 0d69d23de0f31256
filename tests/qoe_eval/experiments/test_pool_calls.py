"""`weir experiment pool-calls`: which calls, what a break of the pilot came to, and the goals; over calls made up."""

import json

import pytest

from weir.qoe_eval.call.plan import CallPlan
from weir.qoe_eval.experiments.pool_calls import command
from weir.qoe_eval.experiments.pool_calls.broken_pilot import AfterBreak, after_break
from weir.qoe_eval.experiments.pool_calls.experiment import BROKEN_AT_S, BY_TRUST, WITH_GCC, pool_calls
from weir.qoe_eval.experiments.pool_calls.rows import pool_call_rows
from weir.traces.schema.scenario import Scenario

STEADY = Scenario.make(
    name="steady",
    duration_s=60.0,
    forward={"capacity": {"times_s": [0.0], "rates_bps": [1e6]}},
    flows=[{"kind": "rtp"}],
)


def base(tmp_path, **changes):
    (tmp_path / "m.onnx").write_bytes(b"model")
    fields = {
        "scenarios": (STEADY,), "sender": "chromium", "controllers": (), "objective": (0.4, 0.5, 0.1), "seeds": (),
        "width": 640, "height": 360, "codec": "VP8", "max_bitrate_bps": 2_500_000, "model": tmp_path / "m.onnx",
    }  # fmt: skip
    return CallPlan(**(fields | changes))


def test_the_four_calls_of_a_seed_come_one_after_the_other_and_one_pilot_breaks(tmp_path):
    broken = tmp_path / "broken.onnx"
    calls = list(pool_calls(base(tmp_path), (1, 2), broken, tmp_path, []).values())
    assert [(one.seed, one.controller) for one in calls] == [
        (seed, name) for seed in (1, 2) for name in ("weir", "gcc", WITH_GCC, BY_TRUST)
    ]
    assert [one.orders for one in calls[:4]] == [(), (), (), ((BROKEN_AT_S, {"type": "model", "path": str(broken)}),)]


def record(controller, scenario="one", seed=1, disturbed=(), **measures):
    measures = {"received_bitrate_bps": 1e6, "network_delay_ms_p95": 100.0, "end_to_end_delay_ms_p95": 200.0,
                "total_freezes_duration_s": 1.0} | measures  # fmt: skip
    return {
        "controller": controller, "scenario": scenario, "seed": seed, "key": f"{controller}{scenario}{seed}",
        "metrics": {"run": measures}, "call": {"disturbed": list(disturbed)},
    }  # fmt: skip


def four(scenario="one", pool=None, **of_all):
    return [
        record("weir", scenario, **of_all),
        record("gcc", scenario, network_delay_ms_p95=120.0, **of_all),
        record(WITH_GCC, scenario, **(pool or {}), **of_all),
        record(BY_TRUST, scenario, **of_all),
    ]


def rows_of(records, scenarios=("one",), **after):
    known = {one["key"]: AfterBreak(100.0, 0.5) for one in records}
    return {row.name: row for row in pool_call_rows(scenarios, records, known | after)}


def test_as_good_as_the_better_of_both_reaches_every_goal():
    rows = rows_of(four())
    assert {name: row.reached for name, row in rows.items()} == dict.fromkeys(rows, True)
    assert rows["delay"].value == 0.0
    assert rows["bitrate"].detail == "all 1. one 1.00 times: pool 1,000 kbps, weir 1,000 kbps, gcc 1,000 kbps"


def test_the_worst_scenario_decides_and_the_better_rival_counts():
    worse = {"received_bitrate_bps": 0.9e6, "network_delay_ms_p95": 110.0, "total_freezes_duration_s": 1.5}
    rows = rows_of([*four(), *four("other", worse)], ("one", "other"))
    assert (rows["bitrate"].value, rows["bitrate"].reached) == (pytest.approx(0.9), False)
    assert (rows["delay"].value, rows["delay"].reached) == (pytest.approx(10.0), False)
    assert (rows["frozen"].value, rows["end_to_end"].reached) == (pytest.approx(0.5), True)


def test_what_is_disturbed_or_missing_leaves_a_goal_open():
    rows = rows_of([*four(), *four("other", disturbed=["late"])], ("one", "other"))
    assert rows["bitrate"].verdict == "not decided: other: no undisturbed pair of calls: late"
    assert rows_of([])["goes_on"].verdict == "not measured: no such call"
    assert rows_of([])["broken_seat"].verdict == "not measured: no such call"


def test_a_call_that_ends_with_its_pilot_a_queue_and_a_seat_that_is_kept_are_missed():
    ended = [*four(), *four("other")[:3]]
    assert (rows_of(ended)["goes_on"].value, rows_of(ended)["goes_on"].reached) == (0.5, False)
    rows = rows_of(four(), **{f"{BY_TRUST}one1": AfterBreak(130.0, None)})
    assert (rows["broken_delay"].value, rows["broken_delay"].reached) == (pytest.approx(1.3), False)
    assert (rows["broken_seat"].measured, rows["broken_seat"].reached) == ("never in 1 of 1", False)


def test_a_path_on_which_no_call_goes_on_is_held_against_nobody():
    assert rows_of([*four(), record("weir", "dead")])["goes_on"].value == 1.0


def estimate(time_us, pilot):
    members = [
        {"name": name, "role": "pilot" if name == pilot else "watching", "trust": 1.0} for name in ("weir", "nada")
    ]
    return {"type": "estimate", "time_us": time_us, "target_rate_bps": 1e6, "pool": {"members": members}}


def link_line(time_us, delay_ms):
    return {"time_us": time_us, "direction": "forward", "packets": 10, "bytes": 9000,
            "one_way_delay_ms_mean": delay_ms, "one_way_delay_ms_p95": delay_ms}  # fmt: skip


def test_after_the_break_is_read_from_the_logs(tmp_path):
    started_us, broken_us = 1_000_000, 31_000_000
    seats = [estimate(started_us + 5, "nada"), estimate(broken_us - 1, "weir"), estimate(broken_us + 700_000, "nada")]
    (tmp_path / "estimates.jsonl").write_text("".join(json.dumps(one) + "\n" for one in seats) + '{"torn')
    delays = [link_line(broken_us - 100_000, 900.0), *(link_line(broken_us + n * 100_000, 80.0) for n in range(1, 9))]
    (tmp_path / "link.jsonl").write_text("".join(json.dumps(one) + "\n" for one in delays))
    about = {"call": {"started_us": started_us, "ended_us": broken_us + 10_000_000}}
    assert after_break(about, tmp_path) == AfterBreak(pytest.approx(80.0), pytest.approx(0.7))
    (tmp_path / "estimates.jsonl").write_text(json.dumps(estimate(broken_us + 1, "weir")) + "\n")
    assert after_break(about, tmp_path).seat_lost_s is None


def test_the_command_says_what_is_wrong_before_anything_is_called(run_weir, tmp_path, monkeypatch):
    status, _, error = run_weir("experiment", "pool-calls", "--out", tmp_path / "out", "--size", "1x1")
    assert (status, "--size 1x1: use 1280x720, 640x360" in error) == (2, True)
    monkeypatch.setattr(command, "check_requirements", lambda kind: None)
    status, _, error = run_weir("experiment", "pool-calls", "--out", tmp_path / "out", "--traces", tmp_path)
    assert (status, "no mahimahi/ATT-LTE-driving.up in it" in error) == (2, True)
