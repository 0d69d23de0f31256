"""`weir tune` on this machine, on the real simulator: a small search, killed, resumed, refused."""

import json
import signal
import subprocess
import sys

import pytest
from html_page import check, data_of

from weir.errors import InputError
from weir.trainer.configuration.training import load_configuration
from weir.trainer.tune.description import begin
from weir.trainer.tune.score import Score, held_out_scenarios
from weir.trainer.tune.study import distributions, make_study
from weir.trainer.tune.trial import TrialRecord, read_trials, run_trial, save_trial, trial_configuration, trial_file

WEIR = [sys.executable, "-c", "from weir.cli.main import main; main()"]


def judged(number, *qualities, state="running", **parameters):
    scores = [
        Score(steps=100 * 3**rung, viewer_quality=quality, challenge=50.0) for rung, quality in enumerate(qualities)
    ]
    return TrialRecord(number=number, parameters=parameters, scores=scores, state=state)


def test_a_search_writes_its_trials_the_best_configuration_and_a_page(configuration, tmp_path, run_weir):
    out = tmp_path / "search"
    status, printed, said = run_weir("tune", configuration, "--out", out, "--jobs", 2)
    assert status == 0, said
    trials = read_trials(out)
    assert [record.number for record in trials] == [0, 1]
    assert {record.state for record in trials} <= {"complete", "pruned"}
    best = json.loads((out / "summary.json").read_text())["best"]
    assert f"trial {best} complete" in printed
    for record in trials:
        assert [score.steps for score in record.scores] == [256, 768][: len(record.scores)]
        assert all(0 < score.viewer_quality <= 100 for score in record.scores)
    # The configuration can be trained as it is.
    found, base = load_configuration(out / "best.toml"), load_configuration(configuration)
    assert found == trial_configuration(base, trials[best])
    own, drawn = (record.parameters for record in trials)
    assert own == {"ppo.learning_rate": base.ppo.learning_rate, "policy.hidden": [8]}
    assert drawn["ppo.learning_rate"] != base.ppo.learning_rate
    page = (out / "report.html").read_text()
    check(page)
    assert [axis["label"] for axis in data_of(page)["parallel"]] == [*base.tune.parameters, "viewer’s quality"]
    (out / "report.html").unlink()
    assert run_weir("report", out)[0] == 0
    assert (out / "report.html").read_text() == page
    assert "already holds a search" in run_weir("tune", configuration, "--out", out)[2]
    assert "holds a search" in run_weir("replay", "catalogue", "--out", out)[2]


def test_a_search_that_is_killed_goes_on_and_repeats_nothing(configuration, tmp_path, run_weir):
    out = tmp_path / "search"
    command = [*WEIR, "tune", str(configuration), "--out", str(out), "--jobs", "1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as search:
        assert search.stderr.readline().startswith("trial 0 ")
        search.kill()
    first = trial_file(out, 0).read_bytes()
    status, _, said = run_weir("tune", configuration, "--out", out, "--resume")
    assert status == 0, said
    assert trial_file(out, 0).read_bytes() == first
    assert [record.state == "running" for record in read_trials(out)] == [False, False]


def test_a_trial_that_was_killed_goes_on_from_its_checkpoint(configuration, tmp_path):
    base = load_configuration(configuration)
    save_trial(tmp_path, TrialRecord(number=0, parameters={"ppo.learning_rate": 1e-3}))
    steps = []

    def die(done):
        steps.append(done)
        if done > 512:
            raise SystemExit

    with pytest.raises(SystemExit):
        run_trial(tmp_path, base, 0, die, lambda score: None)
    (killed,) = read_trials(tmp_path)
    assert killed.state == "running"
    assert [score.steps for score in killed.scores] == [256]
    resumed = []
    record = run_trial(tmp_path, base, 0, resumed.append, lambda score: None)
    assert record.state == "complete"
    assert record.scores[0] == killed.scores[0]
    # The checkpoints are 128 steps apart.
    assert steps[-1] - 128 <= resumed[0] <= steps[-1] + 64


def test_ctrl_c_keeps_what_is_done(configuration, tmp_path):
    out = tmp_path / "search"
    command = [*WEIR, "tune", str(configuration), "--out", str(out), "--jobs", "1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as search:
        search.stderr.readline()
        search.send_signal(signal.SIGINT)
        said = search.stderr.read()
    assert search.returncode == 1
    assert f"interrupted after 1 of 2 trials; continue with: weir tune {configuration} --out {out} --resume" in said
    assert "Traceback" not in said
    assert read_trials(out)[0].state == "complete"
    assert (out / "best.toml").is_file()


def test_what_cannot_be_searched_is_refused(configuration, tmp_path, run_weir):
    assert "has no tune.json to resume from" in run_weir("tune", configuration, "--resume")[2]
    without = tmp_path / "without.toml"
    without.write_text(configuration.read_text().partition("[tune]")[0])
    status, _, said = run_weir("tune", without)
    assert (status, "has no table [tune]" in said) == (2, True)


def test_only_the_number_of_trials_may_change(configuration, tmp_path, run_weir):
    begin(tmp_path, load_configuration(configuration), "weir tune", resume=False)
    configuration.write_text(configuration.read_text().replace("steps = 768", "steps = 769"))
    status, _, said = run_weir("tune", configuration, "--out", tmp_path, "--resume")
    assert (status, "its search has another configuration" in said) == (2, True)


def test_settings_that_contradict_each_other_are_a_failed_trial(configuration, tmp_path, run_weir):
    text = configuration.read_text().partition("[tune.parameters]")[0]
    configuration.write_text(text + '[tune.parameters]\n"ppo.batch_size" = { choices = [60, 61] }\n')
    status, _, said = run_weir("tune", configuration, "--out", tmp_path / "search")
    assert status == 1
    assert "2 of 2 trials failed; the first: configuration: file: ppo.batch_size 6" in said
    assert "must divide" in said


def test_a_failure_is_in_the_record_or_an_error(configuration, tmp_path, monkeypatch):
    base = load_configuration(configuration)
    save_trial(tmp_path, judged(0, **{"ppo.learning_rate": 1e-3}))
    (tmp_path / "trials" / "0000" / "training").write_text("no folder")

    def full(path, text):
        raise InputError(f"{path}: the disk is full")

    monkeypatch.setattr("weir.trainer.tune.trial.write_text", full)
    with pytest.raises(InputError, match="the disk is full"):
        run_trial(tmp_path, base, 0, lambda steps: None, lambda score: None)
    monkeypatch.undo()
    record = run_trial(tmp_path, base, 0, lambda steps: None, lambda score: None)
    assert record.state == "failed"
    assert "training" in record.error
    assert read_trials(tmp_path) == [record]


@pytest.mark.parametrize(
    ("qualities", "promoted"), [([], True), ([70.0], False), ([50.0], True), ([70.0, 50.0, 40.0], False)]
)
def test_the_best_of_every_few_go_on(tmp_path, qualities, promoted):
    from weir.trainer.tune.trial import is_promoted

    for number, quality in enumerate(qualities):
        save_trial(tmp_path, judged(number, quality))
    assert is_promoted(tmp_path, judged(9, 60.0), reduction_factor=3) is promoted
    for number in (5, 6):
        save_trial(tmp_path, judged(number, 10.0, 20.0))
    assert is_promoted(tmp_path, judged(9, 60.0), reduction_factor=3) is (promoted or len(qualities) == 3)


def test_a_study_has_the_trials_so_far_and_asks_for_those_that_were_killed(configuration, tmp_path):
    base = load_configuration(configuration)
    values = {"ppo.learning_rate": 1e-3, "policy.hidden": [16, 8]}
    save_trial(tmp_path, judged(0, 60.0, 70.0, state="complete", **values))
    save_trial(tmp_path, judged(1, 55.0, **values | {"ppo.learning_rate": 2e-3}))
    save_trial(tmp_path, judged(2, 50.0, state="pruned", **values))
    study, space = make_study(tmp_path, base), distributions(base.tune)
    assert study.best_trial.number == 0
    drawn = study.ask(space)
    assert (drawn.number, drawn.params["ppo.learning_rate"]) == (1, 2e-3)
    assert study.ask(space).number == 3


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"scores": []}, "is no trial of this search"),
        ({"parameters": {}}, "is no trial of this search"),
        ({"parameters": {"ppo.learning_rate": -1.0, "policy.hidden": [8]}}, "is no trial of this search"),
        ({"parameters": {"ppo.learning_rate": 1e-3, "policy.hidden": [9]}}, "is no trial of this search"),
        ({"number": 10**300}, "is the record of another trial"),
    ],
)
def test_a_damaged_record_of_a_trial_is_one_message(configuration, tmp_path, run_weir, changed, message):
    out = tmp_path / "search"
    trial = judged(0, 60.0, state="complete", **{"ppo.learning_rate": 1e-3, "policy.hidden": [8]})
    save_trial(out, trial)
    begin(out, load_configuration(configuration), "weir tune", resume=False)
    trial_file(out, 0).write_text(json.dumps(trial.model_dump(mode="json") | changed))
    for command in (["report", out], ["tune", configuration, "--out", out, "--resume"]):
        status, _, said = run_weir(*command)
        assert (status, len(said.splitlines())) == (2, 1), said
        assert message in said


def test_scenarios_are_held_out_ones_with_video(configuration):
    scenarios = held_out_scenarios(load_configuration(configuration).tune)
    assert [scenario.name for scenario in scenarios] == [f"random-held_out-{2_000_000 + n}" for n in range(3)]
    flows = [flow for scenario in scenarios for flow in scenario.to_dict()["flows"]]
    assert {flow["media"]["kind"] for flow in flows if flow.get("controller") == "under_test"} == {"video"}
