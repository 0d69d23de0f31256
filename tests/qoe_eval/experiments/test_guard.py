"""`weir experiment guard` with the stand-in for weir-sim, and its effects against results made by hand."""

import json

import pytest

import weir.trainer
from weir.qoe_eval.experiments.guard.experiment import SWITCHED, WHOLE, GuardResults, guard_plans, own_models
from weir.qoe_eval.experiments.guard.report import guard_markdown
from weir.qoe_eval.runs.jobs import plan_jobs
from weir.traces.generate.random_domain import random_scenario


def record(challenge, delay_ms, utilisation, changed=0, seed=1, controller="weir"):
    flow = {
        "one_way_delay_ms": {"p95": delay_ms},
        "estimator": {"decisions": 90, "fallback_decisions": 10},
        "guard": dict.fromkeys(SWITCHED, changed),
    }
    measures = {"challenge": challenge, "utilisation": utilisation}
    return {
        "scenario": "s", "controller": controller, "seed": seed, "metrics": {"run": measures, "flows": []},
        "flows": [flow],
    }  # fmt: skip


def results(with_rules, without):
    return GuardResults(("weir",), {"random": {WHOLE: with_rules, **dict.fromkeys(SWITCHED, without)}})


def test_an_effect_is_of_pairs():
    found = results(
        [record(80, 100, 0.7, 20), record(70, 200, 0.6, 40, seed=2), record(1, 1, 1, 99, seed=3)],
        [record(78, 150, 0.8), record(74, 250, 0.6, seed=2)],
    ).effect("random", "veto", "weir")
    assert found.runs == 2
    assert found.share == pytest.approx(0.3)
    assert found.challenge == pytest.approx(-1)
    assert found.p95_one_way_delay_ms == pytest.approx(-50)
    assert found.utilisation == pytest.approx(-0.05)


def test_a_model_without_runs_has_no_effect():
    assert results([record(80, 100, 0.7)], []).effect("random", "veto", "weir") is None
    page = guard_markdown(results([record(80, 100, 0.7)], []), {"command": "c", "runs": 1})
    assert "| veto | – |" in page


def test_a_rule_that_is_off_is_another_run(tmp_path, fake_simulator):
    model = tmp_path / "mine.onnx"
    model.write_bytes(b"model")
    broken = own_models({"mine": model})
    plans = guard_plans({"random": [random_scenario(1)]}, broken, [1], model, fake_simulator)
    jobs = [plan_jobs(plan) for plan in plans]
    assert [[job["guard_off"] for job in some.values()] for some in jobs] == [
        [[], []],
        *([[rule], [rule]] for rule in SWITCHED),
    ]
    assert len({key for some in jobs for key in some}) == 2 * (1 + len(SWITCHED))


def test_the_command(tmp_path, fake_simulator, monkeypatch, run_weir):
    monkeypatch.delenv("WEIR_SHARED", raising=False)
    arguments = ("experiment", "guard", "--model", weir.trainer.SHIPPED_MODEL, "--scenarios", 2, "--out", "out")
    status, out, error = run_weir(*arguments, "--json")
    assert (status, error) == (0, "")
    document = json.loads(out)
    assert document == json.loads((tmp_path / "out/guard.json").read_text())
    assert set(document["sets"]["random"]) == {
        "weir", "maximum", "minimum", "random", "nan", "alternating", "shuffled"
    }  # fmt: skip
    of_weir = document["sets"]["random"]["weir"]
    assert list(of_weir) == list(SWITCHED)
    # The stand-in does the same whatever is off.
    assert of_weir["slew"]["challenge"] == 0
    assert of_weir["slew"]["share"] > 0
    assert of_weir["veto"] == {
        "share": 0, "challenge": 0, "p95_one_way_delay_ms": 0, "utilisation": 0, "runs": 2
    }  # fmt: skip
    assert (tmp_path / "out/guard.md").read_text().startswith("# The guard, rule by rule")
