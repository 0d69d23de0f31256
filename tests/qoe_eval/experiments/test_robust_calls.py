"""`weir experiment robust --calls`: which scenarios, over calls made by hand, and their goals."""

import json
from functools import partial

import pytest

from weir.errors import InputError
from weir.qoe_eval.call.run import CallsOutcome
from weir.qoe_eval.experiments.robust import calls as robust_calls
from weir.qoe_eval.experiments.robust import command as robust_command
from weir.qoe_eval.experiments.robust.call_rows import call_rows
from weir.qoe_eval.experiments.robust.calls import CALL_SIZES, SMALL_SIZE, RobustCalls, call_scenarios, is_compared
from weir.qoe_eval.experiments.robust.experiment import chosen_calls
from weir.traces.generate.families.families import FAMILIES, small_grid

CALLED = [one for some in call_scenarios().values() for one in some]
COMPARED = [one.name for one in CALLED if is_compared(one)]
BEYOND_A_LINK = {"clock", "mute", "content"}
NOT_CALLED = BEYOND_A_LINK | {"fault"}


def test_two_scenarios_of_each_family_that_a_link_can_do():
    counts = {name: len(some) for name, some in call_scenarios().items()}
    assert counts == dict.fromkeys(FAMILIES.keys() - NOT_CALLED, 2) | {"start": 1}
    assert COMPARED == [
        "route-plus40-4M-video", "loss-random5-4M-video", "jitter-gaussian20-4M-video", "tcp-cubic-stays-4M-video",
    ]  # fmt: skip
    assert {one.duration_s for one in CALLED} == {20.0, 40.0}


def test_a_link_can_do_all_that_they_say_of_the_call():
    plain = small_grid()["loss"][0].flows[0]
    assert [one.flows[0] for one in CALLED] == [plain] * len(CALLED)
    assert all(one.flows[0] != plain for name in BEYOND_A_LINK for one in small_grid()[name])


def test_they_are_chosen_as_those_of_replays():
    assert [one.name for one in chosen_calls(["route", "tcp"], ["*plus40*", "*cubic*"])] == [COMPARED[0], COMPARED[3]]
    with pytest.raises(InputError, match="no scenario of a call is chosen; there are route-plus40-4M-video"):
        chosen_calls(["clock"], [])


def record(scenario, controller, seed=1, disturbed=(), **measures):
    return {
        "scenario": scenario, "controller": controller, "seed": seed, "metrics": {"run": measures},
        "call": {"disturbed": list(disturbed)},
    }  # fmt: skip


def call(scenario, controller, seed=1, bitrate=2e6, vmaf=90.0, frozen=0.0, rate=2.2e6, delay=80.0, disturbed=()):
    return record(
        scenario,
        controller,
        seed,
        disturbed,
        received_bitrate_bps=bitrate,
        vmaf_mean=vmaf,
        total_freezes_duration_s=frozen,
        receive_rate_bps=rate,
        network_delay_ms_p95=delay,
    )


def rows_of(records, replays=(), names=("one", "other")):
    calls = RobustCalls(names, names, {SMALL_SIZE: list(records)}, list(replays), [])
    return {row.name: row for row in call_rows(calls)}


def replay(scenario, controller, rate, delay):
    return record(scenario, controller, receive_rate_bps=rate, network_delay_ms_p95=delay)


def test_the_worst_scenario_decides_against_gcc():
    records = [
        call("one", "weir", bitrate=2.2e6), call("one", "gcc"),
        call("other", "weir", bitrate=1.8e6, vmaf=91.0, frozen=0.5), call("other", "gcc"),
    ]  # fmt: skip
    rows = rows_of(records)
    bitrate, vmaf, frozen = (rows[f"calls_640x360_{name}"] for name in ("bitrate", "vmaf", "frozen"))
    assert (bitrate.value, bitrate.reached) == (pytest.approx(0.9), False)
    assert bitrate.detail == (
        "1 of 2 miss it. other 0.90 times: 1,800 kbps and 2,000 kbps (1 pair); "
        "one 1.10 times: 2,200 kbps and 2,000 kbps (1 pair)"
    )
    assert (vmaf.value, vmaf.reached) == (0.0, True)
    assert (frozen.value, frozen.measured, frozen.reached) == (0.5, "+0.50 s", False)


def test_pairs_that_were_disturbed_leave_a_goal_open_unless_another_misses_it():
    good = [call("one", "weir"), call("one", "gcc")]
    disturbed = [call("other", "weir", disturbed=["late"]), call("other", "gcc")]
    row = rows_of(good + disturbed)["calls_640x360_bitrate"]
    assert row.verdict == "not decided: other: no undisturbed pair of calls: late"
    worse = [call("one", "weir", bitrate=1e6), call("one", "gcc")]
    assert rows_of(worse + disturbed)["calls_640x360_bitrate"].reached is False
    assert rows_of(disturbed)["calls_640x360_vmaf"].verdict == "not measured: no undisturbed pair of calls: late"
    assert rows_of([], names=())["calls_640x360_vmaf"].verdict == "not measured: no such call"


def test_calls_against_replays_controller_by_controller():
    records = [call(name, controller) for name in ("one", "other") for controller in ("weir", "gcc")]
    replays = [
        replay("one", "weir", 2.2e6, 80.0), replay("other", "weir", 2.0e6, 100.0),
        replay("one", "gcc", 2.2e6, 60.0), replay("other", "gcc", 2.2e6, 80.0),
    ]  # fmt: skip
    rows = rows_of(records, replays)
    found = {name: (row.value, row.reached) for name, row in rows.items() if name.startswith("sim_to_real")}
    assert found == {
        "sim_to_real_weir_rate": (pytest.approx(0.1), True),
        "sim_to_real_weir_delay": (pytest.approx(0.2), False),
        "sim_to_real_gcc_rate": (pytest.approx(0.0), True),
        "sim_to_real_gcc_delay": (pytest.approx(1 / 3), False),
    }
    assert "other 20 %: receive rate 2200 kbps in the call, 2000" in rows["sim_to_real_weir_delay"].detail


@pytest.fixture
def weir(tmp_path, fake_simulator, monkeypatch, run_weir):
    """Runs `weir experiment robust --calls ARGUMENTS` over calls that are made up; also what was to be called."""
    (tmp_path / "m.onnx").write_bytes(b"model")
    (tmp_path / "peer").write_bytes(b"peer")
    made = []

    def run_calls(calls, out, console, *, quiet, repeat_disturbed):
        out.mkdir(parents=True, exist_ok=True)
        made.extend((out.name, one.name) for one in calls.values())
        # As fast as the stand-in for weir-sim, whose capacity is the scenario's.
        records = [call(one.scenario.name, one.controller, one.seed) for one in calls.values()]
        return CallsOutcome(records)

    monkeypatch.setattr(robust_calls, "find_peer", lambda: tmp_path / "peer")
    monkeypatch.setattr(robust_calls, "run_calls", run_calls)
    monkeypatch.setattr(robust_calls.call_report, "write", lambda records, out, run: ({}, out))
    monkeypatch.setattr(robust_command, "check_requirements", lambda sender: None)
    return partial(run_weir, "experiment", "robust", "--model", "m.onnx", "--calls", "--out", "out"), made


def test_calls_join_document_and_page(weir, tmp_path):
    run, made = weir
    only = ("--only", "route-plus[14]*0-4M-video")
    status, out, error = run(*only, "--json")
    assert (status, error) == (0, "")
    assert made == [
        (SMALL_SIZE, "route-plus40-4M-video, weir, seed 1"), (SMALL_SIZE, "route-plus40-4M-video, gcc, seed 1"),
        (SMALL_SIZE, "route-plus100-4M-video, weir, seed 1"), (SMALL_SIZE, "route-plus100-4M-video, gcc, seed 1"),
        ("1280x720", "route-plus40-4M-video, weir, seed 1"), ("1280x720", "route-plus40-4M-video, gcc, seed 1"),
    ]  # fmt: skip
    document = json.loads(out)
    assert {size: len(some) for size, some in document["calls"].items()} == {SMALL_SIZE: 4, "1280x720": 2}
    rows = {row["name"]: row for row in document["rows"]}
    assert rows["calls_1280x720_bitrate"]["reached"]
    # Replays of calls are of the stand-in, too.
    assert rows["sim_to_real_gcc_rate"]["value"] > 0
    page = (tmp_path / "out/robust.html").read_text()
    assert 'href="calls/640x360/report.html"' in page
    assert rows["sim_to_real_weir_delay"]["measured"] in page
    assert len((tmp_path / "out/calls/replays/results.jsonl").read_text().splitlines()) == 4


def test_one_size_only(weir):
    run, made = weir
    only = ("--only", "loss-random[25]-4M-video")
    status, out, _ = run(*only, "--size", "1280x720", "--seeds", 2, "--json")
    assert status == 0
    assert {size for size, _ in made} == {"1280x720"}
    assert len(made) == 4
    rows = {row["name"]: row for row in json.loads(out)["rows"]}
    assert rows["sim_to_real_weir_rate"]["reason"] == "no such call"
    status, _, error = run(*only, "--size", "9x9")
    assert (status, error.strip().splitlines()[-1]) == (2, f"weir: --size 9x9: use {', '.join(CALL_SIZES)}")


def test_choosing_no_call_is_an_error(weir):
    run, _ = weir
    status, _, error = run("--family", "clock")
    assert status == 2
    assert "--calls: no scenario of a call is chosen" in error
