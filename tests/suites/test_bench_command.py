import json

import pytest

from weir_cli.errors import MissingComponent
from weir_suites.bench_command import FIGURES as TABLE
from weir_suites.bench_command import describe, read_google_benchmark, run_executables

GOOGLE = {
    "benchmarks": [
        {"name": "Decision", "run_type": "iteration", "real_time": 5.0, "p50_us": 4.0, "p99_us": 9.0},
        {"name": "Decision", "run_type": "iteration", "real_time": 5.0, "p50_us": 6.0, "p99_us": 9.0},
        {"name": "ShippedDecision", "run_type": "iteration", "p50_us": 3.2},
        {"name": "ShippedDecision", "run_type": "iteration", "p50_us": 3.0},
        {"name": "Decision_mean", "run_type": "aggregate", "p50_us": 99.0},
        {"name": "DecisionOfRuleAndNada", "run_type": "iteration", "real_time": 70.0, "p50_us": 99.0},
        {"name": "OnPacket", "run_type": "iteration", "cpu_time": 42.0, "allocations_per_packet": 0.0},
        {"name": "GccFeedback/1000/manual_time", "run_type": "iteration", "feedback_us_p50": 99.0},
        {"name": "GccFeedback/2500/manual_time", "run_type": "iteration", "feedback_us_p50": 21.0},
    ]
}
FIGURES = {
    "estimator.decision_us_p50": [4.0, 6.0],
    "estimator.decision_us_p99": [9.0, 9.0],
    "estimator.network_decision_us_p50": [3.2, 3.0],
    "estimator.on_packet_ns_p50": [42.0],
    "estimator.allocations_per_packet": [0.0],
    "gcc.feedback_us_p50": [21.0],
}


def test_figures_of_google_benchmark():
    assert read_google_benchmark(GOOGLE) == FIGURES


def test_a_benchmark_that_failed_is_named():
    failed = {"name": "Decision", "run_type": "iteration", "error_occurred": True, "error_message": "no model"}
    with pytest.raises(RuntimeError, match="Decision: no model"):
        read_google_benchmark({"benchmarks": [failed]})


def test_executables_are_found_and_run(tmp_path):
    executable = tmp_path / "tests" / "estimator_benchmark"
    executable.parent.mkdir()
    executable.write_text(f"#!/bin/sh\n[ $2 = --benchmark_repetitions=3 ] && echo '{json.dumps(GOOGLE)}'\n")
    executable.chmod(0o755)
    assert run_executables(tmp_path, 3) == FIGURES | {"estimator.decision_to_network_ratio": [1.25, 2.0]}


def test_no_executables_is_a_missing_component(tmp_path):
    with pytest.raises(MissingComponent, match="WEIR_BUILD_BENCHMARKS"):
        run_executables(tmp_path, 1)


def test_the_document_has_medians_spread_and_verdicts():
    document = describe({"sim.rss_mb": [130.0], "env.steps_per_s": [900, 12_200, 12_500]}, {"estimator": "why"})
    assert document["env.steps_per_s"] == 12_200
    assert document["spread"]["env.steps_per_s"] == [900, 12_500]
    assert document["reached"] == {"sim.rss_mb": False, "env.steps_per_s": True}
    assert document["failures"] == {"estimator": "why"}
    assert set(document["targets"]) == {name for name, one in TABLE.items() if one.bound}
