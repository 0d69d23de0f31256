"""A seed means something in every bundled scenario, and the same to every controller; a path that changes, from its
file to the page. Runs weir-sim.
"""

import json

import pytest

from weir_cli.errors import MissingComponent
from weir_eval.runs.jobs import ReplayPlan, plan_jobs
from weir_eval.runs.simulator import run_jobs
from weir_sim.executables import find_simulator
from weir_sim.installed import shipped_model
from weir_traces.catalogue import bundled_scenarios
from weir_traces.schema.scenario import Scenario

CONTROLLERS = ("weir", "gcc", "rule")
SEEDS = range(1, 6)
# Long enough for every path to be filled; whole ones tell no more here.
DURATION_S = 12.0


@pytest.fixture(scope="module")
def plan():
    try:
        simulator = find_simulator()
    except MissingComponent as error:
        pytest.skip(str(error))
    scenarios = [scenario.model_copy(update={"duration_s": DURATION_S}) for scenario in bundled_scenarios()]
    return ReplayPlan(scenarios, CONTROLLERS, (0.4, 0.5, 0.1), SEEDS, shipped_model(), simulator, "none")


@pytest.fixture(scope="module")
def runs(plan):
    """By scenario, controller and seed, what happened to the flows."""
    found = {}
    for outcome in run_jobs(plan.simulator, plan_jobs(plan).values(), 2, 60):
        record = outcome.record
        assert record is not None, outcome.describe()
        found[record.scenario, record.controller, record.seed] = json.dumps(record.to_json()["flows"])
    return found


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_five_seeds_are_five_runs_of_every_scenario(plan, runs, controller):
    for scenario in plan.scenarios:
        assert len({runs[scenario.name, controller, seed] for seed in SEEDS}) == len(SEEDS), scenario.name


def test_the_same_seed_gives_the_same_bytes(plan, runs):
    some = [job for job in plan_jobs(plan).values() if job.request["seed"] == 2 and job.request["controller"] != "gcc"]
    for outcome in run_jobs(plan.simulator, some, 2, 60):
        record = outcome.record
        assert json.dumps(record.to_json()["flows"]) == runs[record.scenario, record.controller, 2]


def test_all_controllers_of_a_seed_see_the_same_path(plan):
    jobs = plan_jobs(plan).values()
    by_run: dict = {}
    for job in jobs:
        seen = by_run.setdefault((job.request["scenario"]["name"], job.request["seed"]), [])
        seen.append((job.request["scenario"], job.variation))
    assert len(by_run) == 26 * 5
    assert all(
        len(seen) == len(CONTROLLERS) and all(received == seen[0] for received in seen) for seen in by_run.values()
    )


def test_a_route_change_and_changing_loss_reach_the_page(plan, run_weir, tmp_path):
    delay = {"times_s": [0, 4], "values_ms": [20, 60]}
    loss = {"kind": "bernoulli", "ratio": {"times_s": [0, 2], "ratios": [0, 0.1], "period_s": 4}}
    capacity = {"times_s": [0], "rates_bps": [1e6]}
    Scenario.make(
        name="route",
        duration_s=8.0,
        forward={"capacity": capacity, "one_way_delay_ms": delay, "loss": loss},
        flows=[{"kind": "rtp"}],
    ).save(tmp_path / "route.json")
    command = ("replay", "route.json", "--controller", "rule", "--seeds", "2", "--out", "out", "--csv")
    status, _, err = run_weir(*command)
    assert status == 0, err
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert summary["run"]["scenarios"]["route"]["one_way_delay_ms"] == 40
    records = [json.loads(line) for line in (tmp_path / "out/results.jsonl").read_text().splitlines()]
    # The mean, and a tenth of it or 5 ms either way.
    assert all(36 <= record["path"]["one_way_delay_ms"] <= 44 for record in records)
    assert all(0.02 < record["metrics"]["run"]["loss_ratio"] < 0.09 for record in records)
    # A longer path is no queue.
    assert all(record["metrics"]["run"]["p95_queueing_delay_ms"] < 250 for record in records)


def test_one_path_under_two_names_counts_once(plan, run_weir, tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.csv").write_text("time_s,rate_bps\n0,1000000\n5,2000000\n10,\n")
    status, _, err = run_weir("replay", "one.csv", "two.csv", "--out", "out")
    assert status == 2
    assert "two.csv: is the same path as one.csv, under another name; a path counts once" in err
