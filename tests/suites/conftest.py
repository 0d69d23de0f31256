import json
from functools import partial
from types import SimpleNamespace

import pytest
from hand_made import record
from shared_fixtures import fake_simulator, misbehave

from weir_eval.runs.scenario_sets import CALL_TRACES
from weir_sim.installed import shipped_model
from weir_suites import call_measures

__all__ = ["fake_simulator", "misbehave"]


@pytest.fixture
def traces(tmp_path):
    """A folder with two OpenNetLab traces and the Mahimahi traces of calls."""
    for name in ("opennetlab", "mahimahi"):
        (tmp_path / "traces" / name).mkdir(parents=True)
    pattern = [{"duration": 4000, "capacity": 1000}] * 2 + [{"duration": 2000, "capacity": 9e6}]
    (tmp_path / "traces/opennetlab/a.json").write_text(json.dumps({"uplink": {"trace_pattern": pattern}}))
    (tmp_path / "traces/opennetlab/b.json").write_text(json.dumps({"uplink": {"trace_pattern": pattern[:2]}}))
    for name in CALL_TRACES:
        (tmp_path / "traces/mahimahi" / name).write_text("".join(f"{12 * i}\n" for i in range(1, 1000)))
    (tmp_path / "traces/mahimahi/README.md").write_text("not a trace")
    return tmp_path / "traces"


@pytest.fixture
def weir(fake_simulator, monkeypatch, run_weir):
    """Runs `weir evaluate ARGUMENTS` with the stand-in for weir-sim and weir-virtual-call; returns status, standard
    output and error.
    """
    monkeypatch.setenv("WEIR_VIRTUAL_CALL", str(fake_simulator))
    monkeypatch.delenv("WEIR_SHARED", raising=False)
    return partial(run_weir, "evaluate", shipped_model(), "--out", "out")


@pytest.fixture
def made_calls(tmp_path, monkeypatch):
    """Calls are made up: Weir's are a tenth better than GCC's. Yields the planned calls by folder."""
    pytest.importorskip("weir_calls")
    from weir_calls.call import link_accuracy
    from weir_calls.call.run import CallsOutcome
    from weir_suites import real_calls

    (tmp_path / "peer").write_bytes(b"peer")
    made = {}

    def run_calls(calls, out, console, *, quiet):
        out.mkdir(parents=True, exist_ok=True)
        made[out.name] = list(calls.values())
        return CallsOutcome(
            [
                record(
                    one.scenario.name, one.controller, one.seed, disturbed=(), key=key,
                    received_bitrate_bps=1e6 if one.controller == "gcc" else 1.1e6, receive_rate_bps=1.2e6,
                    frames_per_second=30.0, total_freezes_duration_s=0.0, frozen_share=0.0,
                    call_score=70.0, network_delay_ms_p95=80.0,
                    end_to_end_delay_ms_p95=200.0, vmaf_mean=80.0, vmaf_p5=60.0,
                )
                for key, one in calls.items()
            ]
        )  # fmt: skip

    monkeypatch.setattr(real_calls, "find_peer", lambda: tmp_path / "peer")
    monkeypatch.setattr(real_calls, "run_calls", run_calls)
    monkeypatch.setattr(real_calls, "check_requirements", lambda *ends: None)
    monkeypatch.setattr(
        real_calls, "call_report", SimpleNamespace(write=lambda records, out, run: ({}, out / "report.html"))
    )
    monkeypatch.setattr(call_measures, "estimator_cpu_share", lambda model, rate_bps: 0.001)
    accuracy = link_accuracy.LinkAccuracy(1.01, 0.2)
    monkeypatch.setattr(link_accuracy, "link_accuracy", lambda log, scenario: accuracy)
    return made
