"""`weir experiment robust` with the stand-in for weir-sim, and its goals against results made by hand."""

import json
from functools import partial

import pytest

from weir.errors import InputError
from weir.qoe_eval.experiments.robust.experiment import CHOICES, chosen_scenarios
from weir.qoe_eval.experiments.robust.results import RobustResults
from weir.qoe_eval.experiments.robust.rows import robust_rows
from weir.qoe_eval.experiments.robust.sharing import SHARING, sharing_scenarios
from weir.qoe_eval.measures.families import family_row
from weir.qoe_eval.measures.metric_table import METRICS

SMALL = ("--model", "m.onnx", "--only", "*-3M-video", "--only", "route-plus[26]0-4M-*", "--out", "out")


@pytest.fixture
def weir(tmp_path, fake_simulator, run_weir):
    """Runs `weir experiment robust ARGUMENTS`; returns status, standard output, standard error."""
    (tmp_path / "m.onnx").write_bytes(b"model")
    return partial(run_weir, "experiment", "robust")


def test_families_goals_and_page(weir, tmp_path):
    status, out, error = weir(*SMALL, "--json")
    assert (status, error) == (0, "")
    document = json.loads(out)
    assert document == json.loads((tmp_path / "out/robust.json").read_text())
    assert [(row["name"], row["scenarios"]) for row in document["families"]] == [("route", 4), ("start", 2)]
    assert document["run"]["runs"] == 5 * 6
    assert list(document["scenarios"]["route"]["route-plus20-4M-filler"]) == ["weir", "gcc", "gcc-remb", "nada", "rule"]
    rows = {row["name"]: row for row in document["rows"]}
    # The stand-in's weir has a higher score than its gcc, and no dip.
    assert rows["families_gcc"]["reached"]
    assert rows["route_below_80"]["value"] == pytest.approx(0, abs=1)
    assert rows["start_queue"]["measured"].endswith(" ms")
    assert rows["clock_utilisation"]["reason"] == rows["jain_5.4"]["reason"] == "no such run"
    assert document["decided"] == sum(row["reached"] is not None for row in document["rows"])
    page = (tmp_path / "out/robust.html").read_text()
    assert page.count('class="chart worst"') == 4
    assert 'id="family-start"' in page
    assert all(row["measured"] in page for row in rows.values() if row["measured"])


def test_it_goes_on_where_it_was_and_shows_both_tables(weir, tmp_path):
    assert weir(*SMALL, "--family", "start")[0] == 0
    lines = (tmp_path / "out/results.jsonl").read_text().splitlines()
    status, out, _ = weir(*SMALL, "--family", "start")
    assert status == 0
    assert (tmp_path / "out/results.jsonl").read_text().splitlines() == lines
    assert "worst score against gcc" in out
    assert "start on 3 Mbps: largest queue of the first 5 s" in out
    assert "10 runs in" in out


def test_sharing_is_run_by_weir_and_gcc_and_is_no_family(weir, tmp_path):
    status, out, _ = weir("--model", "m.onnx", "--family", "sharing", "--only", "*5.4*", "--out", "out", "--json")
    document = json.loads(out)
    assert (status, document["families"], document["run"]["runs"]) == (0, [], 4)
    rows = {row["name"]: row for row in document["rows"]}
    assert rows["jain_5.4"]["value"] == pytest.approx(1, abs=0.01)
    assert rows["jain_5.4-route-changes"]["value"] == pytest.approx(1, abs=0.01)
    assert rows["families_gcc"]["reason"] == "no pair of runs completed"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--family", "weather"], "--family weather: there is none; one of route, clock, loss,"),
        (["--only", "nothing"], "--only nothing: no scenario is called so"),
        (["--model", "no.onnx"], "--model no.onnx: no such file"),
    ],
)
def test_wrong_use_is_one_message_and_status_2(weir, options, message):
    status, out, error = weir("--model", "m.onnx", "--out", "out", *options)
    assert (status, out) == (2, "")
    assert message in error


def test_a_death_is_status_1_and_the_rest_is_measured(weir, misbehave, tmp_path):
    misbehave({"gcc:1": "die"})
    status, _, error = weir(*SMALL, "--family", "start")
    assert status == 1
    assert "did not complete" in error
    document = json.loads((tmp_path / "out/robust.json").read_text())
    assert document["run"]["failures"]
    assert document["families"][0]["better_gcc"] == "gcc-remb"
    rows = {row["name"]: row for row in document["rows"]}
    assert rows["start_queue"]["reached"] is not None
    assert rows["scenarios_gcc"]["reason"] == "no pair of runs completed"


def test_an_interrupted_run_keeps_what_it_has(weir, misbehave, tmp_path):
    misbehave({"rule:1": "interrupt parent"})
    status, _, error = weir(*SMALL, "--family", "start", "--jobs", "1")
    assert status == 1
    assert "kept in out: the same command goes on" in error


def test_all_families_and_sharing_can_be_chosen():
    everything = chosen_scenarios([], [])
    assert tuple(everything) == CHOICES
    assert list(chosen_scenarios(["tcp", "route"], [])) == ["route", "tcp"]
    with pytest.raises(InputError, match="--family x"):
        chosen_scenarios(["x"], [])


def test_the_base_delay_of_sharing_changes_where_it_says_so():
    scenarios = {one.name: one for one in sharing_scenarios()}
    assert len(scenarios) == 4
    changed = scenarios["rfc8867-5.5-route-changes"]
    assert changed.forward.one_way_delay_ms.at([0, 149, 151, 226]).tolist() == [10, 10, 50, 10]
    assert changed.flows == scenarios["rfc8867-5.5"].flows


def record(scenario, controller, **measures):
    return {
        "scenario": scenario,
        "controller": controller,
        "seed": 1,
        "flows": [],
        "metrics": {"run": dict.fromkeys(METRICS) | measures},
    }


def rows_of(**families):
    """The goals by name, from records by family."""
    results = RobustResults({}, families, lambda one: one)
    table = [family_row(name, "", records) for name, records in families.items() if name != SHARING]
    return {row.name: row for row in robust_rows(results, table)}


def test_the_mean_over_rates_decides_on_a_strength_and_one_scenario_on_the_worst():
    used = {"1M": 0.99, "4M": 0.93, "10M": 0.96}
    loss = [record(f"loss-random2-{rate}-video", "weir", utilisation=value) for rate, value in used.items()]
    loss += [record(f"loss-random2-{rate}-video", "gcc", utilisation=1.0) for rate in used]
    # Filler is not asked for.
    loss += [
        record("loss-random2-1M-filler", name, utilisation=0.1 if name == "weir" else 1) for name in ("weir", "gcc")
    ]
    rows = rows_of(loss=loss)
    assert rows["loss_2"].value == pytest.approx(0.96)
    assert rows["loss_2"].reached
    assert rows["loss_2"].detail.startswith("weir: 1 Mbps 0.99, 4 Mbps 0.93, 10 Mbps 0.96; gcc:")
    assert rows["loss_5"].verdict == "not measured: no such run"
    assert rows["scenarios_utilisation"].value == pytest.approx(0.1)
    assert rows["scenarios_utilisation"].reached is False


def test_the_worst_clock_decides_against_the_right_one():
    utilisation = {"right": 0.9, "slow300": 0.882, "fast1000": 0.9, "back100ms": 0.1}
    clock = [record(f"clock-{name}-1M-video", "weir", utilisation=value) for name, value in utilisation.items()]
    row = rows_of(clock=clock)["clock_utilisation"]
    assert row.value == pytest.approx(0.98)
    assert row.reached


def test_delay_under_jitter_is_that_of_all_rates_together():
    delays = {"weir": {"1M": 60.0, "4M": 50.0}, "gcc": {"1M": 50.0, "4M": 50.0}}
    jitter = [
        record(f"jitter-gaussian20-{rate}-video", name, p95_queueing_delay_ms=value)
        for name, by_rate in delays.items()
        for rate, value in by_rate.items()
    ]
    row = rows_of(jitter=jitter)["jitter_delay_20"]
    assert row.value == pytest.approx(1.1)


def test_the_scenario_with_the_most_feedback_about_audio_decides():
    def muted(packets_per_second, controller, every):
        # While video runs, in each 100 ms.
        sent = [2] * 200 + [int(index % every == 0) for index in range(200)] + [2] * 200
        one = record(f"mute-audio{packets_per_second}-4M-video", controller)
        return one | {"series": {"interval_s": 0.1}, "flows": [{"series": {"rate_feedback_sent": sent}}]}

    mute = [muted(1, "weir", 4), muted(50, "weir", 10), muted(1, "gcc", 20), record("mute-20s-4M-video", "weir")]
    row = rows_of(mute=mute)["audio_feedback"]
    assert row.value == pytest.approx(2.5)
    assert row.reached is False
    assert row.detail == "weir: audio1-4M-video 2.5, audio50-4M-video 1.0; gcc: audio1-4M-video 0.5"
    assert rows_of(mute=mute[1:])["audio_feedback"].reached
    assert rows_of(mute=mute[2:])["audio_feedback"].verdict == "not measured: no such run"


def test_the_slowest_recovery_of_a_fault_decides():
    def struck(rate, controller, back_s):
        receive = [1e6] * 200 + [0.0] * 100 + [0.0] * round(10 * back_s) + [1e6] * 300
        own = {"receive_rate_bps": receive[:600], "one_way_delay_mean_ms": [25.0] * 600}
        flow = {"id": "media", "kind": "rtp", "direction": "forward", "start_s": 0.0, "stop_s": None, "series": own}
        one = record(f"fault-outage-{rate}-video", controller)
        flow["base_one_way_delay_ms"] = 25.0
        return one | {"duration_s": 60.0, "series": {"interval_s": 0.1}, "flows": [flow]}

    fault = [struck("1M", "weir", 2), struck("4M", "weir", 7), struck("4M", "gcc", 1)]
    row = rows_of(fault=fault)["recovery_outage"]
    assert row.value == pytest.approx(7, abs=0.9)
    assert row.reached is False
    assert row.detail.startswith("weir: 1M-video ")
    assert "; gcc: 4M-video" in row.detail
    assert rows_of(fault=fault[:1])["recovery_outage"].reached
    never = rows_of(fault=[*fault, struck("10M", "weir", 40)])["recovery_outage"]
    assert (never.value, never.reached, never.measured) == (None, False, "not within the call")
    assert rows_of(fault=fault[2:])["recovery_outage"].verdict == "not measured: no such run"
    assert rows_of(fault=fault)["recovery_queue5s"].reached is None


def test_tcp_is_left_out_of_the_utilisation_goal():
    tcp = [
        record("tcp-bbr-stays-1M-video", "weir", utilisation=0.1, challenge=80.0),
        record("tcp-bbr-stays-1M-video", "gcc", utilisation=0.9, challenge=82.0),
    ]
    rows = rows_of(tcp=tcp)
    assert rows["scenarios_utilisation"].reached is None
    assert rows["scenarios_gcc"].value == pytest.approx(-2)
    assert rows["families_gcc"].reached is False
