"""From records to episodes and their summary."""

import numpy as np
import pytest
from hand_made import run_record

from weir_eval.measures.metrics import flows_under_test_of, run_metrics
from weir_eval.measures.run_causes import run_episodes, summarise_causes
from weir_eval.records.record import Episode
from weir_eval.runs.jobs import ReplayPlan
from weir_eval.runs.run_plans import complete_plans
from weir_eval.runs.store import RunStore
from weir_sim.executables import find_simulator
from weir_traces.catalogue import load_bundled

SAMPLES = 100


def record(path=None, **columns):
    """A run of 10 s on 1 Mbps, whose frames come 50 ms after their capture."""
    known = {"target_bps": 5e5, "send_rate_bps": 5e5, "receive_rate_bps": 5e5, "one_way_delay_mean_ms": 25.0,
             "packets_lost": 0, "feedback_delay_ms": 25.0}  # fmt: skip
    captured = np.arange(0, 10_000_000, 33_333)
    frames = {
        "capture_time_us": captured.tolist(),
        "complete_time_us": (captured + 50_000).tolist(),
        "bytes": [2000] * len(captured),
    }
    flow = {
        "id": "media", "kind": "rtp", "controller": "gcc", "base_one_way_delay_ms": 25.0,
        "series": {name: [value] * SAMPLES for name, value in known.items()} | {"frames": frames} | columns,
    }  # fmt: skip
    of_path = {"interval_s": 0.1, "capacity_bps": [1e6] * SAMPLES, "queueing_delay_ms": [0.0] * SAMPLES}
    return run_record(flows=[flow], series=of_path | (path or {}))


def episodes(found):
    return run_episodes(found, flows_under_test_of(found, None))


def ramp(high, low=5e5):
    return [high if 40 <= index < 50 else low for index in range(SAMPLES)]


def test_a_smooth_run_and_one_without_series():
    assert episodes(record()) == []
    assert episodes(run_record(flows=[{"id": "media", "controller": "gcc"}])) == []


def test_a_reverse_flow_does_not_use_the_forward_link():
    found = record({"queueing_delay_ms": [500.0] * SAMPLES})
    assert len(episodes(found)) == 1
    reverse = found.flows[0].model_copy(update={"direction": "reverse"})
    assert episodes(found.model_copy(update={"flows": [reverse]})) == []


def test_the_columns_of_the_record_tell_the_causes_apart():
    path = {"queueing_delay_ms": [500.0 if 42 <= index < 55 else 0.0 for index in range(SAMPLES)]}
    sent = {"send_rate_bps": ramp(2e6, 4e5)}
    assert [one.cause for one in episodes(record(path, **sent))] == ["encoder"]
    causes = {
        "decision": {"target_bps": ramp(2e6)},
        "feedback": {"target_bps": ramp(2e6), "remb_bps": [5e5] * SAMPLES},
        "loss": {"retransmission_rate_bps": ramp(1.5e6, 0)},
    }
    for cause, columns in causes.items():
        assert [one.cause for one in episodes(record(path, **sent, **columns))] == [cause]
    # Feedback that stopped.
    late = {"target_bps": ramp(2e6), "feedback_delay_ms": [25.0 if i < 30 or i > 55 else None for i in range(SAMPLES)]}
    assert [one.cause for one in episodes(record(path, **sent, **late))] == ["feedback"]


def test_frames_that_wait_in_the_pacer_come_with_a_rush():
    found = record()
    frames = dict(found.flows[0].series["frames"])
    sent = [5_000_000 if 4_000_000 <= at < 5_000_000 else at for at in frames["capture_time_us"]]
    frames |= {"sent_time_us": sent, "complete_time_us": [at + 50_000 for at in sent]}
    path = {"queueing_delay_ms": [300.0 if 50 <= index < 54 else 0.0 for index in range(SAMPLES)]}
    rush = [2e6 if index == 50 else 4e5 for index in range(SAMPLES)]
    queue, freeze = sorted(
        episodes(record(path, frames=frames, send_rate_bps=rush)), key=lambda one: one.kind != "queue"
    )
    assert (queue.kind, queue.cause) == ("queue", "pacer")
    assert (freeze.kind, freeze.cause) == ("freeze", "pacer")


def test_a_queue_that_never_empties_lasts_to_the_end():
    (found,) = episodes(
        record({"queueing_delay_ms": [0.0] * 50 + [None] * 50, "capacity_bps": [1e6] * 50 + [0.0] * 50})
    )
    assert (found.start_s, found.duration_s) == (5.0, pytest.approx(4.8))
    assert found.cause == "outage"


def test_the_summary_has_means_over_the_runs_of_a_controller():
    some = [
        Episode(kind="freeze", start_s=1.0, duration_s=2.0, cause="outage", shares={"outage": 0.75, "loss": 0.25}),
        Episode(kind="queue", start_s=1.0, duration_s=1.0, cause="decision", shares={"decision": 1.0}),
    ]
    runs = [run_record(episodes=some), run_record(episodes=[]), run_record()]
    freezes, queues = summarise_causes(runs)
    assert (freezes.controller, freezes.kind, freezes.runs) == ("gcc", "freeze", 2)
    assert (freezes.episodes, freezes.seconds) == (0.5, 1.0)
    assert freezes.episodes_by_cause == {"outage": 0.5}
    assert freezes.seconds_by_cause == {"outage": 0.75, "loss": 0.25}
    assert (queues.episodes, queues.seconds_by_cause) == (0.5, {"decision": 0.5})
    assert summarise_causes([run_record()]) == []


def test_a_simulated_outage(tmp_path):
    scenarios = [load_bundled(name) for name in ("application-limited", "outage")]
    plan = ReplayPlan(scenarios, ["gcc"], (0.4, 0.5, 0.1), [0], None, find_simulator())
    records = complete_plans([plan], tmp_path, 1).records
    limited, outage = (
        next(one for one in records if one.scenario == name) for name in ("application-limited", "outage")
    )
    assert [one for one in limited.episodes if one.kind == "freeze"] == []
    assert {one.cause for one in outage.episodes if one.kind == "freeze" and one.duration_s > 1} == {"outage"}
    for one in records:
        whole = RunStore(tmp_path).with_series(one)
        measured = run_metrics(whole).run["total_freezes_duration_s"]
        assert sum(e.duration_s for e in one.episodes if e.kind == "freeze") == pytest.approx(measured)
