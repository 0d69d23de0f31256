"""The record of a training run in its folder and in the exported model."""

import functools
import hashlib
import json
import os
import re

import numpy as np
import pytest

from weir_cli.errors import InputError
from weir_eval.measurement import commit_with_changes
from weir_traces.schema.scenario import Scenario
from weir_train.configuration.training import checked_configuration
from weir_train.learning.run_record import TrainingRecord, load_run_configuration, read_training_record
from weir_train.train_command import evaluation_text

pytest.importorskip("torch", reason="needs weir-train[learning]")
pytest.importorskip("stable_baselines3", reason="needs weir-train[learning]")


@pytest.fixture
def configuration_toml(values, write_toml):
    del values["seed"], values["policy"], values["environment"]["objective"]
    values["environment"]["action"] = {"kind": "around_rule"}
    values["ppo"] |= {"epochs": 1}
    return write_toml(values)


@pytest.fixture
def short_evaluation(monkeypatch):
    """Two scenarios of two seconds instead of sixteen of thirty."""
    from weir_train.learning.evaluation import Evaluation

    quick = functools.partial(Evaluation, scenarios=2, duration_s=2.0)
    monkeypatch.setattr("weir_train.learning.reinforcement.Evaluation", quick)


def interrupted_after(steps):
    def on_progress(state):
        if state.steps >= steps:
            raise KeyboardInterrupt

    return on_progress


def test_the_record_of_an_interrupted_run_has_the_steps_done(values, tmp_path, fake_simulator):
    from weir_train.learning.provenance import provenance_of_run
    from weir_train.learning.train import train

    result = train(
        checked_configuration(values), tmp_path / "run", simulator=fake_simulator, on_progress=interrupted_after(512)
    )
    provenance = provenance_of_run(tmp_path / "run", result.checkpoint)
    assert "512 of 1,024 planned steps" in provenance["algorithm"]
    assert provenance["interrupted"] is True
    # Nobody gave a command, and there is no configuration file.
    assert not {"command", "configuration"} & set(provenance)
    assert set(provenance["versions"]) >= {"torch", "stable-baselines3"}
    assert "CPU cores" in provenance["hardware"]
    assert provenance["date"].startswith("20")
    assert json.loads((tmp_path / "run" / "training.json").read_text())["interrupted"] is True


def test_the_record_of_a_killed_run_reports_it(values, tmp_path, fake_simulator):
    from weir_train.learning.provenance import provenance_of_run
    from weir_train.learning.train import train

    def killed(state):
        if state.steps >= 768:
            raise RuntimeError("as if killed")

    settings = checked_configuration(values | {"checkpoint_every_steps": 256})
    with pytest.raises(RuntimeError, match="as if killed"):
        train(settings, tmp_path / "run", simulator=fake_simulator, on_progress=killed)
    provenance = provenance_of_run(tmp_path / "run", tmp_path / "run" / "checkpoint.zip")
    assert " of 1,024 planned steps" in provenance["algorithm"]
    assert provenance["interrupted"] is True


def test_the_record_has_the_command_and_the_configuration(weir, configuration_toml, tmp_path):
    run, model = tmp_path / "run", tmp_path / "small.onnx"
    assert weir("train", configuration_toml, "--out", run, "--steps", 512).exit_code == 0
    assert weir("train", configuration_toml, "--out", run, "--resume").exit_code == 0
    assert weir("export", run, "--out", model).exit_code == 0
    provenance = json.loads(weir("model", model, "--json").output)["provenance"]
    first = f"weir train {configuration_toml} --out {run} --steps 512"
    assert provenance["command"] == f"{first} && weir train {configuration_toml} --out {run} --resume"
    digest = hashlib.sha256(configuration_toml.read_bytes()).hexdigest()
    assert provenance["configuration"] == {"name": "small.toml", "sha256": digest}
    assert "1,024 steps" in provenance["algorithm"]
    assert "interrupted" not in provenance


def test_a_folder_of_version_0_1_0_has_the_tables_of_all_algorithms(values, tmp_path):
    settings = checked_configuration(values)
    tables = {"td3": {"tau": 0.005}, "sac": {"tau": 0.005}, "impala": {"runners": None}}
    (tmp_path / "configuration.json").write_text(json.dumps(settings.model_dump(mode="json") | tables))
    assert load_run_configuration(tmp_path) == settings


def test_names_that_are_no_utf_8(weir, configuration_toml, tmp_path):
    named = configuration_toml.rename(tmp_path / os.fsdecode(b"caf\xe9.toml"))
    assert weir("train", named, "--out", tmp_path / "run", "--steps", 256).exit_code == 0
    assert r"caf\xe9.toml" in json.loads((tmp_path / "run" / "training.json").read_text())["parts"][0]["command"]
    # TensorBoard takes no such folder.
    with pytest.raises(InputError, match=r"caf\\xe9': its name is no UTF-8 text; rename it"):
        weir("train", named, "--out", tmp_path / os.fsdecode(b"caf\xe9"))


def test_resuming_a_complete_run_reports_how_to_continue(weir, configuration_toml, tmp_path):
    run = tmp_path / "run"
    weir("train", configuration_toml, "--out", run, "--steps", 512)
    before = (run / "training.json").read_bytes()
    result = weir("train", configuration_toml, "--out", run, "--steps", 512, "--resume")
    assert result.exit_code == 0
    assert "complete, 512 of 512 steps" in result.output
    assert "--steps N" in result.output
    assert "nan" not in result.output
    assert (run / "training.json").read_bytes() == before


def test_a_run_without_a_finished_episode_has_no_mean_reward(weir, configuration_toml, values, tmp_path):
    # One update, in which no episode ends.
    text = configuration_toml.read_text().replace("steps_per_update = 128", "steps_per_update = 8")
    configuration_toml.write_text(text.replace("batch_size = 64", "batch_size = 16"))
    result = weir("train", configuration_toml, "--out", tmp_path / "run", "--steps", 16)
    assert result.exit_code == 0
    assert "nan" not in result.output
    assert "no episode has ended yet" in result.output


@pytest.mark.parametrize(
    ("options", "change", "message"),
    [
        (("--seed", 5), None, "seed differs: 1 in the run, 5 in the file: give the run's values, or train anew in"),
        ((), ("history = 2", "history = 4"), "environment.history differs: 2 in the run, 4 in the file"),
        ((), ("epochs = 1", "epochs = 2"), "ppo.epochs differs: 1 in the run, 2 in the file"),
    ],
)
def test_a_resume_with_other_settings_is_refused(weir, configuration_toml, tmp_path, options, change, message):
    run = tmp_path / "run"
    arguments = ["train", configuration_toml, "--out", run]
    assert weir(*arguments, "--steps", 256).exit_code == 0
    before = {path: path.read_bytes() for path in run.iterdir() if path.is_file()}
    if change is not None:
        configuration_toml.write_text(configuration_toml.read_text().replace(*change))
    refused = weir(*arguments, "--steps", 512, "--resume", *options, catch=True)
    assert isinstance(refused.exception, InputError)
    assert message in str(refused.exception)
    assert {path: path.read_bytes() for path in run.iterdir() if path.is_file()} == before


def test_a_resume_to_other_steps_reports_it(weir, configuration_toml, tmp_path):
    arguments = ["train", configuration_toml, "--out", tmp_path / "run"]
    assert weir(*arguments, "--steps", 256).exit_code == 0
    result = weir(*arguments, "--steps", 512, "--resume")
    assert result.exit_code == 0
    assert "planned for 256 steps, at which its schedules ended: it will not be like one run of 512" in result.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"commit": "0123abcd"}, "was trained at commit 0123abcd, and this is .*: check out the run's commit"),
        ({"versions": {"torch": "1.0"}}, "torch 1.0 in the run, .* here: install the run's versions"),
        ({"versions": {"libwebrtc": "2023-01"}}, "libwebrtc 2023-01 in the run, 150 here"),
    ],
)
def test_a_resume_with_other_code_is_refused(weir, configuration_toml, tmp_path, change, message):
    run = tmp_path / "run"
    assert weir("train", configuration_toml, "--out", run, "--steps", 256).exit_code == 0
    record = json.loads((run / "training.json").read_text())
    record["parts"][0] |= change
    (run / "training.json").write_text(json.dumps(record))
    before = (run / "training.json").read_bytes()
    with pytest.raises(InputError, match=message):
        weir("train", configuration_toml, "--out", run, "--resume")
    assert (run / "training.json").read_bytes() == before


def test_the_record_and_the_model_have_each_part_with_its_commit(weir, configuration_toml, tmp_path):
    run = tmp_path / "run"
    assert weir("train", configuration_toml, "--out", run, "--steps", 256).exit_code == 0
    assert weir("train", configuration_toml, "--out", run, "--steps", 512, "--resume").exit_code == 0
    parts = json.loads((run / "training.json").read_text())["parts"]
    assert [part["first_step"] for part in parts] == [0, 256]
    assert parts[0]["commit"] == parts[1]["commit"] == commit_with_changes()
    assert weir("export", run, "--out", tmp_path / "small.onnx").exit_code == 0
    line = ", ".join(f"from step {part['first_step']}: commit {part['commit']}, {part['date']}" for part in parts)
    assert f"- parts: {line}\n" in (tmp_path / "small.md").read_text()
    assert weir("report", run).exit_code == 0


def test_a_record_of_version_0_1_0_has_a_part_for_each_command(tmp_path):
    old = {"commands": ["weir train a", "weir train a --resume"], "commit": "0123abcd", "date": "2026-11-27"}
    (tmp_path / "training.json").write_text(json.dumps(old))
    first, second = read_training_record(tmp_path).parts
    assert (first.command, first.commit, first.text) == (
        "weir train a", "", "from step 0: commit unknown, date unknown"
    )  # fmt: skip
    assert (second.command, second.commit) == ("weir train a --resume", "0123abcd")


def test_an_interruption_before_the_first_step_reports_that_nothing_was_kept(
    weir, configuration_toml, tmp_path, monkeypatch
):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("weir_train.learning.stages.train", interrupt)
    result = weir("train", configuration_toml, "--out", tmp_path / "run")
    assert result.exit_code == 1
    assert "interrupted before the first checkpoint: nothing was kept" in result.stderr


def test_an_unknown_key_of_a_table_has_the_closest_one(values):
    with pytest.raises(InputError, match=r"ppo\.learning_rte: unknown key; did you mean learning_rate\?"):
        checked_configuration(values | {"ppo": {"learning_rte": 0.1}})


def test_evaluation_changes_nothing_that_is_learned(short_evaluation, values, tmp_path, fake_simulator):
    from weir_train.learning.algorithms import load_policy
    from weir_train.learning.train import train

    paths = {"source": "random_domain", "minimum_duration_s": 2.0, "maximum_duration_s": 4.0}
    settings = checked_configuration(values | {"steps": 512, "scenarios": paths})
    results = [
        train(settings, tmp_path / name, simulator=fake_simulator, evaluate_every_steps=eval_freq)
        for name, eval_freq in (("without", None), ("with", 128))
    ]
    without, evaluated = (load_policy(result.checkpoint).state_dict() for result in results)
    for name, value in without.items():
        np.testing.assert_array_equal(value.numpy(), evaluated[name].numpy(), err_msg=name)
    with np.load(tmp_path / "with" / "evaluations.npz") as file:
        assert file["timesteps"][0] == 0
        assert file["timesteps"][-1] == 512
        assert file["results"].shape == file["ep_lengths"].shape == (len(file["timesteps"]), 2)
        assert np.isfinite(file["results"]).all()
    assert not (tmp_path / "without" / "evaluations.npz").exists()


def test_the_best_trained_policy_is_kept_and_exported(short_evaluation, weir, configuration_toml, tmp_path):
    from weir_train.learning.checkpoint import read_checkpoint

    run = tmp_path / "run"
    arguments = ["train", configuration_toml, "--out", run, "--eval", "--eval-freq", 256]
    result = weir(*arguments, "--steps", 512)
    assert result.exit_code == 0, result.output
    assert "--best" in result.output
    assert "mean reward per step on 1 scenario: before training 0." in result.output
    assert "the ten-line rule 0." in result.output
    assert weir(*arguments, "--resume").exit_code == 0
    with np.load(run / "evaluations.npz") as file:
        evaluations = dict(file)
    steps, means = evaluations["timesteps"], evaluations["results"].mean(axis=1)
    # The resumed part goes on with the evaluations of the first.
    assert steps[0] == 0
    assert steps[-1] == 1024
    assert (np.diff(steps) > 0).all()
    best = int(steps[1:][np.argmax(means[1:])])
    assert read_checkpoint(run / "best_model.zip").steps == best
    record = json.loads((run / "training.json").read_text())
    assert 0.0 < record["rule_mean_reward"] <= 1.0
    for untrained, warns in ((0.0, False), (2.0, True)):
        evaluations["results"][0] = untrained
        np.savez(run / "evaluations.npz", **evaluations)
        exported = weir("export", run, "--best", "--out", tmp_path / "best.onnx", "--force")
        assert exported.exit_code == 0
        assert f"{best:,}" in exported.stderr
        assert "checking it in ONNX Runtime" in exported.stderr
        assert ("the untrained policy was better" in exported.stderr) == warns
    provenance = json.loads(weir("model", tmp_path / "best.onnx", "--json").output)["provenance"]
    assert provenance["checkpoint"] == "best_model.zip"
    assert "interrupted" not in provenance
    logged = [json.loads(line) for line in (run / "progress.json").read_text().splitlines()]
    assert logged[0]["time/total_timesteps"] < logged[-1]["time/total_timesteps"] == 1024
    assert any("eval/mean_reward" in line for line in logged)
    (run / "evaluations.npz").write_bytes(b"PK")
    assert "evaluations.npz: is not what" in str(weir(*arguments, "--steps", 1280, "--resume", catch=True).exception)


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ([], r"last minus before training: \+0\.1000, 95 % interval \+0\.0[5-9]\d\d to \+0\.1[1-5]\d\d$"),
        (list("abcdefga"), r"\+0\.\d{4}, 95 % interval \+0\.0"),
        # Near copies of one path are not independent.
        (list("aaaabbbb"), r"last minus before training: \+0\.1000, too few scenarios for an interval \(2\)$"),
    ],
)
def test_an_evaluation_has_the_interval_of_its_difference(tmp_path, paths, expected):
    before = np.linspace(0.1, 0.8, 8)
    after = before + 0.1 + 0.05 * np.array([1, -1, 1, -1, -1, 1, -1, 1])
    np.savez(tmp_path / "evaluations.npz", timesteps=[0, 100], results=[before, after], ep_lengths=np.ones((2, 8)))
    TrainingRecord(held_out_paths=paths).save(tmp_path)
    assert re.search(expected, evaluation_text(tmp_path), re.MULTILINE)


def test_the_same_policy_gets_the_same_evaluation(values, fake_simulator):
    from weir_train.learning.evaluation import Evaluation

    settings = checked_configuration(
        values | {"environment": values["environment"] | {"action": {"kind": "around_rule"}}}
    )
    with Evaluation(settings, 3, 2.0, simulator=fake_simulator) as evaluation:
        first, second = (evaluation.rewards(None, (0.4, 0.5, 0.1)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_an_evaluation_judges_each_held_out_scenario_for_its_whole_duration(values, steady, fake_simulator):
    from weir_train.learning.evaluation import Evaluation

    settings = checked_configuration(
        values | {"environment": values["environment"] | {"action": {"kind": "around_rule"}}}
    )
    documents = [
        Scenario.from_dict(steady(name, rate_bps=rate_bps, duration_s=duration_s)).to_dict()
        for name, rate_bps, duration_s in (("short", 1e6, 4.0), ("long", 8e6, 40.0))
    ]
    with Evaluation(settings, documents=documents, simulator=fake_simulator) as evaluation:
        assert evaluation.steps.tolist() == [19, 199]
        first, second = (evaluation.rewards(None, (0.4, 0.5, 0.1)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    for document, reward in zip(documents, first, strict=True):
        with Evaluation(settings, documents=[document], simulator=fake_simulator) as alone:
            expected = alone.rewards(None, (0.4, 0.5, 0.1))
        assert expected.shape == (1,)
        assert abs(expected[0] - reward) < 0.1
    assert first[0] != first[1]


def test_a_single_trace_is_judged_on_its_end_and_trained_on_the_rest(weir, configuration_toml, tmp_path):
    run = tmp_path / "run"
    arguments = ["train", configuration_toml, "--out", run, "--eval", "--eval-freq", 256]
    result = weir(*arguments, "--steps", 256)
    assert result.exit_code == 0, result.output
    assert "on the last fifth of steady, held out of the training" in result.output
    record = json.loads((run / "training.json").read_text())
    assert record["held_out"] == ["the last fifth of steady"]
    with np.load(run / "evaluations.npz") as file:
        assert file["ep_lengths"].tolist() == [[3], [3]]
    # Resumed without an evaluation, it still does not train on that part.
    assert weir("train", configuration_toml, "--out", run, "--resume", "--steps", 512).exit_code == 0
    assert json.loads((run / "training.json").read_text())["held_out"] == record["held_out"]
    weir("export", run, "--out", tmp_path / "new.onnx")
    provenance = json.loads(weir("model", tmp_path / "new.onnx", "--json").output)["provenance"]
    assert provenance["held_out"] == record["held_out"]


def test_eval_freq_without_eval_is_a_wrong_use(configuration_toml):
    from weir_cli.errors import InputError
    from weir_train.train_command import train

    with pytest.raises(InputError, match="--eval"):
        train(configuration_toml, eval_freq=10)
