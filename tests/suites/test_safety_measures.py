"""Goals on safety against records made by hand, and the fault-injected models."""

import math

import onnx
import pytest
from hand_made import record
from hand_made_results import results, row

from weir_cli.errors import InputError
from weir_eval.runs.custom_controllers import read_custom_controller
from weir_eval.runs.jobs import ReplayPlan, plan_jobs
from weir_eval.runs.scenario_sets import Settings
from weir_sim.controllers import PRESETS
from weir_sim.installed import shipped_model
from weir_suites.faulty_models import FAULTY_MODELS, MAX_BPS, MIN_BPS, write_faulty_models
from weir_suites.suites import safety
from weir_traces.generate.random_domain import random_scenario

HEALTHY, MAXIMUM = "pool of the healthy model", "pool of maximum"
POOLS = {HEALTHY: "h", MAXIMUM: "m", "pool of shuffled": "s"}


@pytest.fixture
def models(tmp_path):
    return write_faulty_models(tmp_path / "models", shipped_model())


def test_the_library_loads_what_is_faulty(models):
    core = pytest.importorskip("weir._core", reason="the library's Python module is not built")
    assert tuple(models) == FAULTY_MODELS

    def answers(name):
        policy = core.Policy(models[name].read_bytes())
        return [policy.run([1e6], (0.4, 0.5, 0.1))[0] for _ in range(200)]

    assert answers("maximum") == pytest.approx([MAX_BPS] * 200)
    assert answers("minimum") == pytest.approx([MIN_BPS] * 200)
    assert answers("alternating") == pytest.approx([MAX_BPS, MIN_BPS] * 100)
    logarithms = [math.log(rate / MIN_BPS) / math.log(MAX_BPS / MIN_BPS) for rate in answers("random")]
    assert 0 <= min(logarithms) < 0.1
    assert 0.9 < max(logarithms) <= 1
    assert len(set(logarithms)) == 200
    with pytest.raises(ValueError, match="finite"):
        answers("nan")
    assert core.Policy(models["shuffled"].read_bytes()).description


def test_the_shuffled_one_names_its_features_in_another_order(models):
    shuffled, healthy = (
        {entry.key: entry.value for entry in onnx.load(file).metadata_props}
        for file in (models["shuffled"], shipped_model())
    )
    assert shuffled["weir.features"] != healthy["weir.features"]
    assert sorted(shuffled["weir.features"].split(",")) == sorted(healthy["weir.features"].split(","))


def test_a_healthy_model_that_is_none_and_a_file_that_no_pool_can_name(tmp_path):
    none = tmp_path / "none.onnx"
    none.write_bytes(b"not a model")
    with pytest.raises(InputError, match="is not an ONNX model"):
        write_faulty_models(tmp_path / "models", none)
    assert not (tmp_path / "models").exists()
    with pytest.raises(InputError, match="controller"):
        safety.custom_controllers(Settings(shipped_model(), tmp_path / "my models"))


def scored(controller, challenge, pilot_share=1.0, active_s=None, scenario="any"):
    flow = {"pool": {"members": [{"name": "first", "pilot_share": pilot_share}], "first_pilot_held_s": active_s}}
    return record(scenario, controller, flow=flow, challenge=challenge)


def test_the_worst_set_decides_against_the_better_of_nada_and_rule():
    found = results(
        {
            "random": [scored("weir", 80), scored("nada", 70), scored("rule", 75), scored("h", 79.9, 0.98),
                       scored("m", 72)],
            "tcp": [scored("weir", 60), scored("nada", 62), scored("rule", 50), scored("h", 60.1), scored("m", 58.28)],
        },
        pools=POOLS,
    )  # fmt: skip
    maximum, inactive, score = (row(name, found) for name in ("maximum", "healthy_inactive", "healthy_score"))
    assert (maximum.value, maximum.measured, maximum.reached) == (pytest.approx(58.28 / 62 - 1), "-6.0 %", False)
    assert (inactive.value, inactive.reached) == (pytest.approx(0.01), False)
    assert (score.value, score.reached) == (pytest.approx(-0.1), True)
    assert (
        row("minimum", found).verdict
        == "not measured: no run of pool of minimum on random; no run of pool of minimum on tcp"
    )
    nothing = results({"random": [scored("weir", 80)]}, pools=POOLS)
    assert [row(name, nothing).reached for name in ("maximum", "healthy_inactive", "healthy_score")] == [None] * 3


def test_how_soon_a_faulty_model_is_replaced():
    active_s = [1.0, 2.0, 3.0, 3.1, None]
    runs = [scored("m", 70, scenario=str(i), active_s=one) for i, one in enumerate(active_s)]
    found = results({"random": runs}, pools=POOLS)
    soon = row("maximum_replaced", found)
    assert (soon.value, soon.detail) == (0.6, "pool of maximum never; 5 runs; lowest random, 0, seed 1 1")
    assert row("shuffled_replaced", found).reached is None


def guarded(challenge, delay_ms, seed=1):
    return record("s", "weir", seed, flow={"one_way_delay_ms": {"p95": delay_ms}}, challenge=challenge)


def test_the_effect_of_a_rule_is_of_pairs():
    with_rule = [guarded(80, 100), guarded(70, 200, seed=2), guarded(1, 1, seed=3)]
    without = [guarded(78, 150), guarded(74, 250, seed=2)]
    reported = row("guard_veto", results({"random, all rules": with_rule, "random, veto off": without}))
    assert (reported.value, reported.reached, reported.verdict) == (pytest.approx(-1), None, "")
    assert reported.figures == {"weir/challenge": -1, "weir/p95_one_way_delay_ms": -50}
    unpaired = row("guard_veto", results({"random, all rules": with_rule, "random, veto off": []}))
    assert unpaired.value is None


def test_a_rule_that_is_off_is_another_run(tmp_path, fake_simulator):
    model = tmp_path / "mine.onnx"
    model.write_bytes(b"model")
    custom = {"mine": read_custom_controller(str(model))}
    sets = [one for one in safety.SUITE.replays if one.name.startswith("random, ")]
    jobs = [
        plan_jobs(ReplayPlan([random_scenario(1)], ("weir", "mine"), PRESETS[one.objective], [1], model, fake_simulator,
                             one.series, custom, one.guard_off))
        for one in sets
    ]  # fmt: skip
    assert [[job.request["guard_off"] for job in some.values()] for some in jobs] == [
        [list(one.guard_off)] * 2 for one in sets
    ]
    assert len({key for some in jobs for key in some}) == 2 * len(sets) > 8
