"""`weir experiment send-side-calls`: its scenarios and rows, without calls."""

import pytest

from weir.qoe_eval.experiments.calls.experiment import call_sets
from weir.qoe_eval.experiments.send_side.calls import FEEDBACK_LOSSES, call_rows, with_feedback_lost
from weir.traces.catalogue import load_bundled

SETS = call_sets(None, 2_500_000)


def record(controller, scenario, bitrate_bps, delay_ms, frozen_s, disturbed=()):
    metrics = {
        "received_bitrate_bps": bitrate_bps, "network_delay_ms_p95": delay_ms, "total_freezes_duration_s": frozen_s,
    }  # fmt: skip
    return {
        "controller": controller, "scenario": scenario, "seed": 1, "metrics": {"run": metrics},
        "call": {"disturbed": list(disturbed)},
    }  # fmt: skip


def test_the_way_back_loses_what_is_asked_and_nothing_else_changes():
    scenario = load_bundled("muses-cross-traffic")
    assert with_feedback_lost(scenario, 0.0) == scenario
    lossy = with_feedback_lost(scenario, 0.2).to_dict()
    assert lossy["name"] == "muses-cross-traffic-feedback-lost-20"
    assert lossy["reverse"]["loss"]["ratio"] == 0.2
    lossy["reverse"]["loss"] = scenario.to_dict()["reverse"]["loss"]
    assert lossy | {"name": scenario.name} == scenario.to_dict()


def test_rows_hold_weir_at_the_sender_against_gcc():
    muses = SETS.muses.name
    records = [
        record("weir-send", muses, 1.5e6, 80.0, 0.0), record("gcc", muses, 1.0e6, 100.0, 0.4),
        record("weir-send", f"{muses}-feedback-lost-5", 0.9e6, 120.0, 1.0),
        record("gcc", f"{muses}-feedback-lost-5", 1.0e6, 100.0, 0.4),
        record("weir-send", f"{muses}-feedback-lost-20", 1.5e6, 80.0, 0.0, disturbed=["late"]),
        record("gcc", f"{muses}-feedback-lost-20", 1.0e6, 100.0, 0.4),
    ]  # fmt: skip
    rows = {row.name: row for row in call_rows(SETS, records)}
    assert len(rows) == len(FEEDBACK_LOSSES) * 2 * 3
    values = [rows[f"calls_muses_0_{what}"].value for what in ("bitrate", "delay", "frozen")]
    assert values == pytest.approx([1.5, -20.0, -0.4])
    for share, reached in ((0, True), (5, False), (20, None)):
        assert {rows[f"calls_muses_{share}_{what}"].reached for what in ("bitrate", "delay", "frozen")} == {reached}
    assert "no undisturbed pair of calls: late" in rows["calls_muses_20_delay"].reason
    assert rows["calls_mahimahi_0_delay"].reached is None
