"""`weir tune` on this machine, on the real simulator: a small search, killed, resumed, refused."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from tiny_search import tiny_search

optuna = pytest.importorskip("optuna", reason="needs weir-train[learning]")
from weir_eval.runs.task_processes import TaskFailure  # noqa: E402
from weir_train.configuration.training import load_configuration  # noqa: E402
from weir_train.model.file import CHECKPOINT  # noqa: E402
from weir_train.tune.rung import complete_rung, held_out_scenarios  # noqa: E402
from weir_train.tune.search import BEST, STUDY, Search  # noqa: E402

WEIR = [sys.executable, "-c", "from weir_cli.main import main; main()"]


def trials(folder):
    storage = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(folder / STUDY)))
    return optuna.load_study(study_name="weir", storage=storage).trials


def started(configuration, folder, trials=9, resume=False):
    configuration.write_text(re.sub(r"trials = \d+", f"trials = {trials}", configuration.read_text()))
    return Search(folder, load_configuration(configuration), resume=resume)


def test_a_search_writes_its_trials_and_the_best_configuration(configuration, tmp_path, run_weir):
    out = tmp_path / "search"
    status, printed, errors = run_weir("tune", configuration, "--out", out, "--jobs", 2)
    assert status == 0, errors
    from_configuration, suggested = found = trials(out)
    assert {trial.state.name for trial in found} <= {"COMPLETE", "PRUNED"}
    for trial in found:
        assert list(trial.intermediate_values) == [256, 768][: len(trial.intermediate_values)]
        assert all(0 < quality <= 100 for quality in trial.intermediate_values.values())
        assert (
            run_weir("export", out / "trials" / f"{trial.number:04}", "--out", tmp_path / f"{trial.number}.onnx")[0]
            == 0
        )
    best = max((trial for trial in found if trial.state.name == "COMPLETE"), key=lambda trial: trial.value)
    assert f"trial {best.number} complete: call quality {best.value:.2f}" in printed
    # The configuration can be trained as it is.
    base, written = load_configuration(configuration), load_configuration(out / BEST)
    ppo = base.ppo.model_copy(update={"learning_rate": best.params["ppo.learning_rate"]})
    policy = base.policy.model_copy(update={"hidden": tuple(json.loads(best.params["policy.hidden"]))})
    assert written == base.model_copy(update={"ppo": ppo, "policy": policy, "tune": None})
    assert from_configuration.params == {"ppo.learning_rate": base.ppo.learning_rate, "policy.hidden": "[8]"}
    assert suggested.params["ppo.learning_rate"] != base.ppo.learning_rate
    assert "already holds a search" in run_weir("tune", configuration, "--out", out)[2]
    assert "holds a search" in run_weir("replay", "catalogue", "--out", out)[2]


def test_a_search_that_is_killed_goes_on_and_repeats_nothing(configuration, tmp_path, run_weir):
    configuration.write_text(tiny_search(steps=256, rungs=1))
    out = tmp_path / "search"
    command = [*WEIR, "tune", str(configuration), "--out", str(out), "--jobs", "1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as search:
        assert search.stderr.readline().startswith("trial 0 ")
        search.kill()
    before = trials(out)
    status, _, errors = run_weir("tune", configuration, "--out", out, "--resume")
    assert status == 0, errors
    assert trials(out)[0] == before[0]
    assert [trial.state.is_finished() for trial in trials(out)] == [True, True]


def test_a_lock_that_a_killed_search_left_is_not_waited_for(configuration, tmp_path, monkeypatch):
    # Who is killed inside a write of the journal never releases it.
    optuna.storages.journal.JournalFileSymlinkLock(str(tmp_path / STUDY)).acquire()
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("Optuna waits"))
    (rung,) = started(configuration, tmp_path).begin(1)
    assert rung.number == 0


def test_a_trial_that_was_killed_goes_on_from_its_checkpoint(configuration, tmp_path):
    (tmp_path / "trials").mkdir()
    steps, resumed = [], []

    def die(done):
        steps.append(done)
        if done > 512:
            raise SystemExit

    search = started(configuration, tmp_path)
    (first,) = search.begin(1)
    quality = complete_rung(first, die)
    (second,) = search.follow(first, quality)
    with pytest.raises(SystemExit):
        complete_rung(second, die)
    assert (second.folder / CHECKPOINT).is_file()
    (again,) = started(configuration, tmp_path, resume=True).begin(1)
    assert again == second
    complete_rung(again, resumed.append)
    assert trials(tmp_path)[0].intermediate_values == {256: quality}
    # The checkpoints are 128 steps apart.
    assert steps[-1] - 128 <= resumed[0] <= steps[-1] + 64


def test_ctrl_c_keeps_what_is_done(configuration, tmp_path):
    configuration.write_text(tiny_search(steps=256, rungs=1))
    out = tmp_path / "search"
    command = [*WEIR, "tune", str(configuration), "--out", str(out), "--jobs", "1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as search:
        search.stderr.readline()
        search.send_signal(signal.SIGINT)
        errors = search.stderr.read()
    assert search.returncode == 1
    assert f"interrupted after 1 of 2 trials; continue with: weir tune {configuration} --out {out} --resume" in errors
    assert "Traceback" not in errors
    assert trials(out)[0].state.name == "COMPLETE"
    assert (out / BEST).is_file()


def test_ctrl_c_waits_until_the_journal_is_written(configuration, tmp_path, monkeypatch):
    search, unlink = started(configuration, tmp_path), os.unlink
    (rung,) = search.begin(1)

    def unlink_and_interrupt(path):
        unlink(path)
        signal.raise_signal(signal.SIGINT)

    # Optuna's lock is a link that it renames and removes.
    monkeypatch.setattr(os, "unlink", unlink_and_interrupt)
    with pytest.raises(KeyboardInterrupt):
        search.follow(rung, TaskFailure(rung.name, "lost"))
    monkeypatch.undo()
    assert [trial.state.name for trial in trials(tmp_path)] == ["FAIL", "RUNNING"]
    assert not list(tmp_path.glob(f"{STUDY}.*"))


def test_what_cannot_be_searched_is_refused(configuration, tmp_path, run_weir):
    assert "has no study.log to resume from" in run_weir("tune", configuration, "--resume")[2]
    without = tmp_path / "without.toml"
    without.write_text(configuration.read_text().partition("[tune]")[0])
    status, _, errors = run_weir("tune", without)
    assert (status, "has no table [tune]" in errors) == (2, True)


def test_only_the_number_of_trials_may_change(configuration, tmp_path, run_weir):
    started(configuration, tmp_path)
    started(configuration, tmp_path, trials=3, resume=True)
    configuration.write_text(configuration.read_text().replace("steps = 768", "steps = 769"))
    status, _, errors = run_weir("tune", configuration, "--out", tmp_path, "--resume")
    assert (status, "its search has another configuration" in errors) == (2, True)


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ('"ppo.batch_size" = { choices = [60, 61] }', "configuration: file: ppo.batch_size 6"),
    ],
)
def test_settings_that_cannot_be_are_a_failed_trial(configuration, tmp_path, run_weir, parameter, message):
    configuration.write_text(
        configuration.read_text().partition("[tune.parameters]")[0] + f"[tune.parameters]\n{parameter}\n"
    )
    status, _, errors = run_weir("tune", configuration, "--out", tmp_path / "search")
    assert status == 1
    assert [f"trial {number} fail: {message}" in errors for number in (0, 1)] == [True, True], errors
    assert not (tmp_path / "search" / BEST).exists()


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        (
            '"ppo.gamma" = { low = 1.5, high = 2.5 }',
            '"ppo.gamma": 1.5 is no value of this setting: Input should be less',
        ),
        (
            '"ppo.gamma" = { low = 0.9, high = 1.5 }',
            '"ppo.gamma": 1.5 is no value of this setting: Input should be less',
        ),
        ('"ppo.epochs" = { low = 1.0, high = 8.0 }', '"ppo.epochs": 3.22'),
        ('"policy.hidden" = { choices = [[8], []] }', '"policy.hidden": [] is no value of this setting'),
        ('"policy.hidden" = { choices = [[8], [0]] }', '"policy.hidden": [0] is no value of this setting'),
        ('"environment.side" = { choices = ["sender", "middle"] }', '"environment.side": "middle" is no value'),
    ],
)
def test_a_range_with_values_that_a_setting_cannot_have_is_refused(
    configuration, tmp_path, run_weir, parameter, message
):
    configuration.write_text(
        configuration.read_text().partition("[tune.parameters]")[0] + f"[tune.parameters]\n{parameter}\n"
    )
    status, _, errors = run_weir("tune", configuration, "--out", tmp_path / "search")
    assert (status, f"tune.parameters.{message}" in errors) == (2, True), errors
    assert not (tmp_path / "search").exists()


def test_an_unknown_setting_is_refused(configuration, tmp_path, run_weir):
    configuration.write_text(configuration.read_text().replace("ppo.learning_rate", "ppo.learning_rat"))
    status, _, errors = run_weir("tune", configuration, "--out", tmp_path / "search")
    assert (status, 'tune.parameters."ppo.learning_rat": is no setting that can be varied' in errors) == (2, True)
    assert not (tmp_path / "search" / STUDY).exists()


def test_another_trial_follows_one_that_failed(configuration, tmp_path):
    search = started(configuration, tmp_path, trials=2)
    (first,) = search.begin(1)
    (second,) = search.follow(first, TaskFailure("trial 0", "the disk is full"))
    assert (second.trial, second.number) == (1, 0)
    assert search.follow(second, TaskFailure("trial 1", "the disk is full")) == []
    assert [trial.state.name for trial in trials(tmp_path)] == ["FAIL", "FAIL"]
    assert search.write_best(tmp_path / BEST) is None


@pytest.mark.filterwarnings("ignore:The reported value")
def test_a_search_that_was_killed_before_a_trial_was_over_judges_it_again(configuration, tmp_path):
    search = started(configuration, tmp_path)
    (first,) = search.begin(1)
    (last,) = search.follow(first, 60.0)
    search._running[0].report(61.0, last.steps)
    search = started(configuration, tmp_path, resume=True)
    assert search.begin(1) == [last]
    search.follow(last, 61.0)
    assert trials(tmp_path)[0].value == 61.0


def test_the_best_of_every_few_go_on(configuration, tmp_path):
    search = started(configuration, tmp_path)
    rungs = search.begin(4)
    assert [rung.number for rung in search.follow(rungs[0], 50.0)] == [1]
    assert [rung.number for rung in search.follow(rungs[1], 70.0)] == [1]
    assert [rung.trial for rung in search.follow(rungs[2], 60.0)] == [4]
    assert [rung.trial for rung in search.follow(rungs[3], 71.0)] == [3]


def test_a_damaged_journal_is_one_message(configuration, tmp_path, run_weir):
    for text in ("{}\n", "[1, 2]\n{\n", '{"op_code": 99}\n'):
        (tmp_path / STUDY).write_text(text)
        status, _, errors = run_weir("tune", configuration, "--out", tmp_path, "--resume")
        assert (status, len(errors.splitlines())) == (2, 1), errors
        assert "is no journal of a search" in errors


def test_scenarios_are_held_out_ones_with_video(configuration):
    scenarios = held_out_scenarios(load_configuration(configuration).tune)
    assert [scenario.name for scenario in scenarios] == [f"random-held_out-{2_000_000 + n}" for n in range(3)]
    flows = [flow for scenario in scenarios for flow in scenario.to_dict()["flows"]]
    assert {flow["media"]["kind"] for flow in flows if flow.get("controller") == "under_test"} == {"video"}
