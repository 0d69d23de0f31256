import json

import pytest

from weir.errors import InputError
from weir.qoe_eval.call.plan import CallPlan
from weir.qoe_eval.experiments.calls.command import calls_markdown
from weir.qoe_eval.experiments.calls.experiment import (
    MAHIMAHI_TRACES,
    call_sets,
    experiment_calls,
    experiment_rows,
    with_delay,
    with_simulated_encoder,
    with_video,
)
from weir.qoe_eval.runs.shipped_model import shipped_model
from weir.traces.catalogue import load_bundled


@pytest.fixture
def traces(tmp_path):
    folder = tmp_path / "traces/mahimahi"
    folder.mkdir(parents=True)
    for name in MAHIMAHI_TRACES:
        (folder / name).write_text("".join(f"{time}\n" for time in range(10, 90_000, 10)))
    return folder.parent


@pytest.fixture
def base(tmp_path):
    return CallPlan((), "chromium", (), (0.4, 0.5, 0.1), range(1, 3), 640, 360, "VP8", 2_500_000, shipped_model())


def test_the_scenarios(traces):
    sets = call_sets(traces, 2_500_000)
    assert [scenario.name for scenario in sets.replayed] == [
        "muses-cross-traffic", "mahimahi-ATT-LTE-driving", "mahimahi-TMobile-UMTS-driving",
        "mahimahi-Verizon-EVDO-driving", "step-down-up",
    ]  # fmt: skip
    assert [scenario.duration_s for scenario in sets.replayed] == [110, 60, 60, 60, 60]
    assert {scenario.flows[0].media.max_rate_bps for scenario in sets.replayed} == {2.5e6}
    # What is replayed has an encoder like that of the calls; the calls themselves are not told of it.
    assert {scenario.flows[0].media.audio_rate_bps for scenario in sets.replayed} == {0.0}
    assert {scenario.flows[0].media.audio_rate_bps for scenario in sets.compared} == {32e3}
    (traces / "mahimahi" / MAHIMAHI_TRACES[0]).unlink()
    with pytest.raises(InputError, match=f"no mahimahi/{MAHIMAHI_TRACES[0]}"):
        call_sets(traces, 2_500_000)


def test_a_video_takes_the_place_of_the_first_rtp_flow_only():
    scenario = with_video(load_bundled("tcp-competitor"), 1_000_000)
    assert scenario.flows[0].media.kind == "video"
    assert scenario.flows[0].media.max_rate_bps == 1e6
    assert scenario.flows[1] == load_bundled("tcp-competitor").flows[1]


def test_an_encoder_like_that_of_calls_may_differ_in_what_is_said():
    scenario = with_video(load_bundled("tcp-competitor"), 1_000_000)
    alike, changed = with_simulated_encoder(scenario), with_simulated_encoder(scenario, minimum_output_share=1.0)
    assert (alike.flows[0].media.minimum_output_share, changed.flows[0].media.minimum_output_share) == (0.85, 1.0)
    assert changed.flows[0].media.rise_time_constant_s == alike.flows[0].media.rise_time_constant_s > 0


def test_the_calls(traces, base, tmp_path):
    calls = experiment_calls(base, call_sets(traces, 2_500_000), tmp_path, []).values()
    assert len(calls) == 2 * (4 * 2 + 1)
    assert {call.controller for call in calls if call.scenario.name == "step-down-up"} == {"weir"}
    assert len({call.out for call in calls}) == len(calls)
    assert len(experiment_calls(base, call_sets(None, 2_500_000), tmp_path, [])) == 2 * (2 + 1)


def test_rows_and_markdown(traces, base, tmp_path, monkeypatch):
    monkeypatch.setattr("weir.qoe_eval.experiments.calls.experiment.estimator_cpu_share", lambda model, rate_bps: 0.001)
    sets = call_sets(traces, 2_500_000)
    calls = experiment_calls(base, sets, tmp_path, [])
    records = []
    for key, call in calls.items():
        ahead = 1.8 if call.controller == "weir" else 1.0
        measures = {
            "received_bitrate_bps": ahead * 1e6, "receive_rate_bps": ahead * 1.1e6, "frames_per_second": 30.0,
            "total_freezes_duration_s": 0.0, "network_delay_ms_p95": 100.0, "end_to_end_delay_ms_p95": 200.0,
            "vmaf_mean": 80.0, "vmaf_p5": 60.0,
        }  # fmt: skip
        about = {"key": key, "scenario": call.scenario.name, "controller": call.controller, "seed": call.seed}
        records.append(about | {"metrics": {"run": measures}, "call": {"disturbed": []}})
        call.out.mkdir(parents=True)
        lines = [
            {
                "direction": "forward", "time_us": 100_000 * n, "scenario_time_s": 0.1 * n, "queue_bytes": 0,
                "carried_bytes": 0, "packets": 5, "delay_error_ms_p95": 0.2,
                "delay_error_ms_counts": [0, 0, 5, *[0] * 9],
            }
            for n in range(1, 20)
        ]  # fmt: skip
        (call.out / "link.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    replayed = [
        {
            "scenario": scenario.name, "controller": "weir", "seed": 1,
            "flows": [{"kind": "tcp"}, {"kind": "rtp", "one_way_delay_ms": {"p50": 50.0, "p95": 105.0}}],
            "metrics": {"run": {"receive_rate_bps": 1.98e6}},
        }
        for scenario in sets.replayed
    ]  # fmt: skip
    assert with_delay(replayed[0])["metrics"]["run"]["network_delay_ms_p95"] == 105.0
    rows = experiment_rows(sets, records, replayed, calls, shipped_model())
    reached = {row.name: row.reached for row in rows}
    assert reached.pop("link_capacity") is None
    assert reached == dict.fromkeys(reached, True)
    assert sum(name.startswith("sim_to_real") for name in reached) == 5
    run = {
        "calls": 18, "disturbed": 0, "size": "640x360", "seeds": [1, 2], "model": {"name": "m", "sha256": "0" * 64},
        "finished": "now", "failures": ["one call: it broke"], "encoder_lag": {},
    }  # fmt: skip
    text = calls_markdown(rows, records, run)
    assert "| Muses' scenario: received bitrate against GCC | at least 1.34 times | 1.80 times | yes |" in text
    assert f"{len(reached)} of {len(reached)} goals reached, 1 not decided" in text
    assert "| muses-cross-traffic | gcc | 2 | 1,000 | 30.0 |" in text
    assert "it broke" in text
