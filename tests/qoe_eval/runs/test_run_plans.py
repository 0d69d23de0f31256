import json
import os
import signal
from dataclasses import replace

import pytest

from weir_eval.runs.jobs import ReplayPlan
from weir_eval.runs.run_plans import complete_plans
from weir_eval.runs.store import RunStore


@pytest.fixture
def plan(fake_simulator, scenarios):
    return ReplayPlan(scenarios, ["weir", "gcc"], (0.4, 0.5, 0.1), [1, 2], None, fake_simulator)


def lines(folder):
    return (folder / "results.jsonl").read_text().splitlines()


def test_one_lean_record_per_run_and_its_series_beside_it(plan, tmp_path):
    outcome = complete_plans([plan], tmp_path, 2)
    assert len(outcome.records) == len(lines(tmp_path)) == 8
    record = outcome.records[0]
    assert (record.scenario, record.controller, record.seed) == ("steady", "weir", 1)
    assert record.series is None
    assert all(flow.series is None for flow in record.flows)
    assert record.measures["challenge"] > 0
    assert record.media["media"].kind == "filler"
    series = RunStore(tmp_path).read_series(record)
    assert len(series["path"]["capacity_bps"]) == len(series["flows"]["media"]["receive_rate_bps"]) == 100
    assert len(list((tmp_path / "series").iterdir())) == 8


def test_existing_runs_are_not_run_again(plan, tmp_path, misbehave):
    first = complete_plans([plan], tmp_path, 2)
    misbehave({"*": "die"})
    second = complete_plans([plan], tmp_path, 2)
    assert second.reused == 8
    assert second.records == first.records


@pytest.mark.parametrize("change", ["objective", "scenario", "simulator"])
def test_runs_of_changed_plans_are_run_again_and_the_old_set_aside(plan, tmp_path, change):
    complete_plans([plan], tmp_path, 2)
    if change == "objective":
        other = replace(plan, objective=(0.1, 0.8, 0.1))
    elif change == "scenario":
        longer = plan.scenarios[0].model_copy(update={"duration_s": 12.0})
        other = replace(plan, scenarios=[longer, longer.model_copy(update={"name": "step"})])
    else:
        copy = tmp_path / "weir-sim"
        copy.write_text(plan.simulator.read_text() + "\n# another build\n")
        copy.chmod(0o755)
        other = replace(plan, simulator=copy)
    outcome = complete_plans([other], tmp_path, 2)
    assert outcome.reused == 0
    assert len(lines(tmp_path)) == 8
    assert len((tmp_path / "results.previous.jsonl").read_text().splitlines()) == 8


def test_a_decision_delay_is_part_of_the_run(plan, tmp_path):
    at_once = complete_plans([plan], tmp_path, 2)
    assert "decision_delay_ms" not in "".join(lines(tmp_path))
    slow = complete_plans([replace(plan, decision_delay_ms=50.0)], tmp_path, 2)
    # Only of controllers with a model.
    assert slow.reused == 4
    assert {(record.controller, record.decision_delay_ms) for record in slow.records} == {("weir", 50.0), ("gcc", 0.0)}
    assert {json.loads(line).get("decision_delay_ms") for line in lines(tmp_path)} == {None, 50.0}
    again = complete_plans([plan], tmp_path, 2)
    assert [record.key for record in again.records] == [record.key for record in at_once.records]


def test_more_seeds_extend_what_is_there(plan, tmp_path):
    complete_plans([plan], tmp_path, 2)
    outcome = complete_plans([replace(plan, seeds=[1, 2, 3])], tmp_path, 2)
    assert (outcome.reused, len(outcome.records), len(lines(tmp_path))) == (8, 12, 12)


def test_ctrl_c_keeps_complete_records_and_ends_the_processes(plan, tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE_WEIR_SIM_PIDS", str(tmp_path / "pids"))

    def interrupt(done, total, name):
        if done == 3:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        complete_plans([plan], tmp_path, 2, interrupt)
    kept = [json.loads(line) for line in lines(tmp_path)]
    assert 3 <= len(kept) < 8
    for pid in map(int, (tmp_path / "pids").read_text().split()):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    resumed = complete_plans([plan], tmp_path, 2)
    assert resumed.reused == len(kept)
    assert len(resumed.records) == 8


def test_a_torn_last_line_is_run_again(plan, tmp_path):
    complete_plans([plan], tmp_path, 2)
    whole = (tmp_path / "results.jsonl").read_bytes()
    (tmp_path / "results.jsonl").write_bytes(whole[:-100])
    outcome = complete_plans([plan], tmp_path, 2)
    assert outcome.reused == 7
    assert len(lines(tmp_path)) == 8
    assert all(json.loads(line)["schema"] == "weir.result/1" for line in lines(tmp_path))


def test_a_record_without_its_series_is_run_again(plan, tmp_path):
    record = complete_plans([plan], tmp_path, 2).records[0]
    RunStore(tmp_path).series_path(record).unlink()
    assert complete_plans([plan], tmp_path, 2).reused == 7


def test_scenario_names_do_not_leave_the_folder(plan, tmp_path):
    strange = plan.scenarios[0].model_copy(update={"name": "../../up / <b>&"})
    folder = tmp_path / "out"
    outcome = complete_plans([replace(plan, scenarios=[strange])], folder, 2)
    assert len(outcome.records) == 4
    assert {path.name for path in tmp_path.iterdir()} == {"out"}
    assert len(list((folder / "series").iterdir())) == 4
