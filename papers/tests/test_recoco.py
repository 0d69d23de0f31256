"""`weir paper recoco` with the stand-in for weir-sim and models that need no training."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from weir_cli.errors import MissingComponent
from weir_cli.installation import require
from weir_eval.measures.flow_series import read_flow_series
from weir_eval.measures.recoco import recoco_scores_of_series
from weir_eval.runs.simulator import run_jobs
from weir_eval.runs.simulator_worker import SimulatorJob
from weir_eval.runs.task_processes import TaskFailure
from weir_papers.recoco import results as recoco_results
from weir_papers.recoco.claims import measured
from weir_papers.recoco.results import RESULT, SCHEMA, ModelTask, scores_of_record
from weir_papers.recoco.tables import PAPER_TRACES
from weir_sim.executables import find_simulator
from weir_traces.formats.plain_trace import scenario_from_capacity
from weir_traces.schema.capacity import CapacityTrace
from weir_traces.schema.scenario import Scenario
from weir_train.gym import ActionSpecification, BottleneckEnv, EnvironmentSpecification
from weir_train.gym.step import STEP_FIELDS, StepRecord

SMALL = ("--traces", "traces", "--steps", "100", "--steps-all", "100", "--search-steps", "10", "--seeds", "2",
         "--jobs", "1", "--out", "out")  # fmt: skip


@pytest.fixture
def weir(tmp_path, fake_simulator, monkeypatch, run_weir):
    """Runs `weir paper recoco ARGUMENTS`; returns status, standard output, standard error."""
    try:
        require("weir-train[learning]")
    except MissingComponent as error:
        pytest.skip(str(error))
    monkeypatch.delenv("WEIR_SHARED", raising=False)
    (tmp_path / "traces").mkdir()
    for trace in PAPER_TRACES:
        pattern = [{"duration": 6000, "capacity": 1000}, {"duration": 4000, "capacity": 2000}]
        (tmp_path / f"traces/{trace.name}.json").write_text(json.dumps({"uplink": {"trace_pattern": pattern}}))
    return partial(run_weir, "paper", "recoco")


@pytest.fixture
def trained(monkeypatch):
    """In place of training: a model of one trace scores 80 + its seed there and 10 less elsewhere, and one of all 70 +
    its seed; SAC has the highest reward of a search, delayed the highest scores. The names of what was trained.
    """
    names = []

    def complete(task: ModelTask) -> None:
        configuration, own = task.model.configuration, task.model.order is None

        def row(name):
            parts = (80 if own and name in task.model.traces else 70) + task.model.seed + 0.1 * configuration.delayed
            return {
                "rate": parts,
                "delay": parts,
                "loss": parts,
                "mean_reward": 0.5 + 0.1 * (configuration.algorithm == "sac"),
            }

        rows = {name: row(name) for name in task.evaluated}
        task.folder.mkdir(parents=True)
        document = {"schema": SCHEMA, "model": task.description, "traces": rows}
        (task.folder / RESULT).write_text(json.dumps(document))

    def run_tasks(tasks, work, processes, on_progress, on_done):
        for task in tasks:
            names.append(task.name)
            complete(task)
            on_progress(task, task.model.steps)
            on_done(task, None)
        return []

    monkeypatch.setattr(recoco_results, "run_tasks", run_tasks)
    return names


def test_the_tables_stand_beside_the_papers(weir, trained, tmp_path):
    status, output, errors = weir(*SMALL)
    assert status == 0, errors
    assert len(trained) == len(set(trained)) == 12 * 9 + 2 * 9 + 2 * 3
    document = json.loads((tmp_path / "out/recoco.json").read_text())
    assert document["schema"] == "weir.recoco/1"
    assert len(document["table_1"]) == len(document["table_2"]) == 10
    mean = document["table_1"][-1]
    assert mean["trace"] == "mean"
    own = mean["measured"]["recoco"]["overall"]
    assert own["mean"] == pytest.approx(0.999 * 81.6)
    assert own["sd"] == pytest.approx(0.999 * np.std([81, 82], ddof=1))
    assert mean["paper"]["recoco"]["overall"] == pytest.approx(80.85, abs=0.005)
    single = document["table_2"][-1]
    assert single["measured"]["gap"]["overall"]["mean"] == pytest.approx(0.999 * 71.6)
    assert single["paper"]["gap"]["overall"] == pytest.approx(72.09, abs=0.005)
    assert set(document["orders"]) == {"reward", "gap"}
    assert sorted(document["orders"]["gap"]) == sorted(trace.name for trace in PAPER_TRACES)
    assert document["run"]["steps_all"] == 900
    markdown = (tmp_path / "out/recoco.md").read_text()
    for words in ("Table I", "Table II", "Figure 7", "SAC, delayed, not tuned", "80.85", "Python port"):
        assert words in markdown
    assert "81.52 ± 0.71" in output
    assert len(document["search"]) == 108
    assert {row["configuration"] for row in document["table_1"][:-1]} == {"SAC, delayed, not tuned"}
    assert document["figure_7"]["4G_3mbps"]["4G_500kbps"]["overall"]["mean"] == pytest.approx(0.999 * 71.6)
    found = measured(document)
    assert found["recoco/transfer"] == pytest.approx([-9.99, -9.99])
    # All models are equal on foreign traces.
    for name in ("fast", "middle", "stable"):
        assert found[f"recoco/{name}"] == pytest.approx([0.0, 0.0])
    assert (tmp_path / "out/figure-7.svg").read_text().count("<rect") == 1 + 3 * 81
    assert (found["recoco/off_policy"], found["recoco/delayed"]) == ([9.0], [9.0])
    assert found["recoco/gap_random"] == pytest.approx([0.0, 0.0])
    gcc = mean["measured"]["gcc"]["overall"]["mean"]
    assert found["recoco/trace_gain"] == pytest.approx([0.999 * 81.1 - gcc, 0.999 * 82.1 - gcc])
    gcc_remb = mean["measured"]["gcc-remb"]["overall"]["mean"]
    assert found["recoco/trace_gain_remb"] == pytest.approx([0.999 * 81.1 - gcc_remb, 0.999 * 82.1 - gcc_remb])
    assert "of all steps" in errors


def test_the_same_command_goes_on(weir, trained, tmp_path):
    assert weir(*SMALL)[0] == 0
    (tmp_path / "out/models/all-gap-2" / RESULT).unlink()
    (tmp_path / "out/models/all-gap-2").rmdir()
    trained.clear()
    assert weir(*SMALL, "--json")[0] == 0
    assert trained == ["all-gap-2"]


def test_another_experiment_is_not_mixed_in(weir, trained):
    assert weir(*SMALL)[0] == 0
    status, _, errors = weir(*SMALL, "--steps", "200")
    assert status == 2
    assert "other steps" in errors


def test_a_folder_without_the_nine_traces(weir, trained, tmp_path):
    (tmp_path / "traces/4G_3mbps.json").unlink()
    status, _, errors = weir(*SMALL)
    assert status == 2
    assert "has no 4G_3mbps.json" in errors
    status, _, errors = weir("--out", "out")
    assert status == 2
    assert "WEIR_SHARED has none" in errors


def test_a_model_that_fails_is_named(weir, monkeypatch):
    monkeypatch.setattr(
        recoco_results, "run_tasks", lambda tasks, *rest: [TaskFailure(tasks[0].name, "the simulator failed")]
    )
    status, _, errors = weir(*SMALL)
    assert status == 1
    assert "search-WIRED_200kbps-0: the simulator failed" in errors


def test_an_interruption_is_one_message(weir, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(recoco_results, "run_tasks", interrupted)
    status, _, errors = weir(*SMALL)
    assert status == 1
    assert "the same command continues" in errors


def test_gym_and_replay_score_the_same_rate_alike():
    try:
        simulator = find_simulator()
    except MissingComponent as error:
        pytest.skip(str(error))
    capacity = CapacityTrace(np.array([0.0, 10.0, 20.0]), np.array([2e6, 0.8e6, 3e6]))
    fixed = scenario_from_capacity(capacity, "steps", duration_s=40.0).to_dict()
    # The sender sends at the rate of REMB, whatever is lost.
    fixed["flows"][0]["transport_cc"] = False
    scenario = Scenario.from_dict(fixed)
    low, high, rate = 1e5, 1e7, 1e6
    specification = EnvironmentSpecification(200, action=ActionSpecification("log_rate", low, high))
    environment = BottleneckEnv(scenario, specification, simulator=simulator)
    _, info = environment.reset(seed=1)
    fixed["flows"][0] |= {"controller": "fixed", "fixed_rate_bps": rate}
    # With the episode's chance.
    request = {"scenario": fixed, "controller": "fixed", "objective": [0.4, 0.5, 0.1], "seed": info["seed"],
               "series": True}  # fmt: skip
    outcome = next(iter(run_jobs(simulator, [SimulatorJob("fixed", request)], 1, 60.0)))
    assert outcome.record is not None, outcome.error
    flow = outcome.record.flows[0]
    series = read_flow_series(outcome.record, flow)
    # Without the first second, in which the fixed controller's first report is still on its way.
    replayed = recoco_scores_of_series(replace(series, start_s=1.0), flow.bytes_received / flow.packets_received)
    rows, ended = [], False
    action = np.array([2 * np.log(rate / low) / np.log(high / low) - 1], dtype=np.float32)
    while not ended:
        _, _, _, ended, info = environment.step(action)
        rows.append([info[name] for name in STEP_FIELDS])
    environment.close()
    stepped = scores_of_record(StepRecord(np.array(rows[5:])))
    assert stepped.rate == pytest.approx(replayed.rate, abs=1.0)
    assert stepped.delay == pytest.approx(replayed.delay, abs=3.0)
    assert stepped.loss == pytest.approx(replayed.loss, abs=0.5)
    assert 30 < stepped.rate < 80
