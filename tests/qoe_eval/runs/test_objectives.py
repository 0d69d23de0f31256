import pytest

from weir_eval.records.objectives import ObjectiveMeans, ObjectivesSummary
from weir_eval.runs.jobs import ReplayPlan
from weir_eval.runs.objectives import objective_fan, objective_plans, pareto_front, summarise_objectives
from weir_eval.runs.run_plans import complete_plans
from weir_eval.runs.store import RunStore
from weir_sim.controllers import PRESETS
from weir_sim.objectives import checked_objective


def test_the_fan_covers_the_simplex():
    fan = objective_fan(20)
    assert len(set(fan)) == 20
    assert all(checked_objective(objective) == pytest.approx(objective) for objective in fan)
    assert all(weight >= 0.05 for objective in fan for weight in objective)
    for axis in range(3):
        weights = [objective[axis] for objective in fan]
        assert min(weights) < 0.15
        assert 0.6 < max(weights) < 0.95
        assert 0.28 < sum(weights) / 20 < 0.39
    assert objective_fan(7) == fan[:7]
    assert objective_fan(0) == []


def test_the_front():
    points = [
        ObjectiveMeans(utilisation=u, p95_queueing_delay_ms=d, loss_ratio=None, challenge=None)
        for u, d in ((0.9, 100), (0.8, 50), (0.7, 60), (0.8, 50), (0.9, 110), (0.5, 10), (None, 1))
    ]
    assert pareto_front(points) == [True, True, False, True, False, True, False]


@pytest.fixture
def plan(fake_simulator, scenarios):
    return ReplayPlan(scenarios, ["weir", "gcc", "rule"], (0.4, 0.5, 0.1), [1, 2], None, fake_simulator)


def test_the_summary(plan, tmp_path):
    main = complete_plans([plan], tmp_path, 2).records
    records = complete_plans(objective_plans(plan, 4), tmp_path / "objectives", 2).records
    assert len(records) == (3 + 4) * 2
    assert not (tmp_path / "objectives" / "series").exists()
    found = summarise_objectives(records, main)
    assert ObjectivesSummary.model_validate_json(found.model_dump_json(exclude_unset=True)) == found
    assert summarise_objectives(records[::-1], main) == found
    assert found.scenarios == ["steady", "step"]
    assert list(found.presets) == ["throughput", "balanced", "latency"]
    assert [found.presets["latency"].measure(name) for name in ("throughput", "latency", "loss")] == list(
        PRESETS["latency"]
    )
    own = [r.measures for r in records if r.objective == PRESETS["throughput"]]
    for means in (*found.presets.values(), *found.references.values()):
        assert means.utility.keys() == PRESETS.keys()
        assert all(0 < value <= 100 for value in means.utility.values())
    # Runs under an objective have that objective's utility.
    utilities = [r.measures["utility"] for r in records if r.objective == PRESETS["latency"]]
    assert found.presets["latency"].utility["latency"] == pytest.approx(sum(utilities) / 2)
    for metric in ("utilisation", "p95_queueing_delay_ms", "loss_ratio", "challenge"):
        assert found.presets["throughput"].measure(metric) == pytest.approx(sum(run[metric] for run in own) / 2)
    assert [(p.throughput, p.latency, p.loss) for p in found.fan] == sorted(objective_fan(4), reverse=True)
    assert any(point.non_dominated for point in found.fan)
    gcc = [r.measures["utilisation"] for r in main if r.controller == "gcc" and r.seed == 1]
    assert found.references["gcc"].utilisation == pytest.approx(sum(gcc) / 2)
    (row,) = [
        row
        for row in found.preset_differences
        if (row.a, row.b, row.metric) == ("throughput", "latency", "utilisation")
    ]
    assert row.mean == pytest.approx(found.presets["throughput"].utilisation - found.presets["latency"].utilisation)
    assert (row.ci95, row.independent) == ((None, None), 2)
    assert found.steering.right == 1
    assert found.preset_scenarios["step"]["latency"].keys() >= {"utilisation", "challenge"}


def test_only_scenarios_that_every_objective_has_count(plan, tmp_path):
    records = complete_plans(objective_plans(plan, 1), tmp_path, 2).records
    without = [r for r in records if not (r.scenario == "step" and r.objective == objective_fan(1)[0])]
    assert summarise_objectives(without, []).scenarios == ["steady"]
    no_latency = [r for r in records if r.objective != PRESETS["latency"]]
    assert summarise_objectives(no_latency, []) is None
    assert summarise_objectives([], []) is None


def test_runs_of_several_plans_run_once_and_keep_their_series_if_any_wants_them(plan, tmp_path):
    bare = ReplayPlan(plan.scenarios, ["weir"], plan.objective, [1], None, plan.simulator, "none")
    outcome = complete_plans([bare, plan], tmp_path, 2)
    assert len(outcome.records) == 12
    assert [len(records) for records in outcome.by_plan] == [2, 12]
    assert outcome.by_plan[0][0] in outcome.by_plan[1]
    assert RunStore(tmp_path).read_series(outcome.by_plan[0][0]) is not None
