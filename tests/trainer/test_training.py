"""Configuration, training, resume, export. Small, and against the fake simulator unless it is about the real one."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
from importlib.metadata import EntryPoints
from pathlib import Path

import numpy as np
import pytest

from weir_cli.errors import InputError, MissingComponent
from weir_train.configuration.training import checked_configuration, load_configuration
from weir_train.gym.specification import DEFAULT_FEATURES

pytest.importorskip("torch", reason="needs weir-train[learning]")
pytest.importorskip("stable_baselines3", reason="needs weir-train[learning]")

CONFIGURATIONS = Path(__file__).parents[2] / "trainer/configs"


def train(values, out, simulator, **arguments):
    from weir_train.learning.train import train

    return train(checked_configuration(values), out, simulator=simulator, **arguments)


def trained(values, out, simulator, **arguments):
    from weir_train.learning.algorithms import load_policy

    result = train(values, out, simulator, **arguments)
    return result, load_policy(result.checkpoint)


def parameters(policy):
    return {name: value.numpy() for name, value in policy.state_dict().items()}


def test_a_trivial_environment_is_learned(values, tmp_path, fake_simulator):
    shown = []
    values |= {"steps": 12_288}
    values["environment"] |= {"reward": "mocc", "objective": [0.7, 0.2, 0.1], "environments": 4}
    values["ppo"] |= {"learning_rate": 1e-3, "learning_rate_end": 3e-4, "gamma": 0.5, "steps_per_update": 128}
    result, _ = trained(values, tmp_path / "run", fake_simulator, on_progress=shown.append)
    first = next(state.mean_reward for state in shown if np.isfinite(state.mean_reward))
    assert result.steps == shown[-1].steps == 12_288
    # Best is about 1: the capacity filled without a queue. The untrained policy fills a quarter of it.
    assert first < 0.75
    assert 0.85 < result.mean_reward <= 1.0


def test_two_seeded_runs_are_equal_and_another_seed_is_not(values, tmp_path, fake_simulator):
    values |= {"steps": 512}
    first = parameters(trained(values, tmp_path / "a", fake_simulator)[1])
    second = parameters(trained(values, tmp_path / "b", fake_simulator)[1])
    other = parameters(trained(values | {"seed": 4}, tmp_path / "c", fake_simulator)[1])
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name])
    assert any(not np.array_equal(value, other[name]) for name, value in first.items())


def test_resume_goes_on_where_it_stopped(values, tmp_path, fake_simulator):
    out = tmp_path / "run"
    assert train(values | {"steps": 512}, out, fake_simulator).steps == 512
    half = json.loads((out / "training.json").read_text())
    with pytest.raises(InputError, match="already holds"):
        train(values, out, fake_simulator)
    result = train(values | {"steps": 1024}, out, fake_simulator, resume=True)
    assert result.steps == 1024
    whole = json.loads((out / "training.json").read_text())
    assert (half["steps"], whole["steps"]) == (512, 1024)
    assert whole["wall_s"] > half["wall_s"] > 0
    assert whole["steps_per_s"] == pytest.approx(1024 / whole["wall_s"], rel=0.1)
    with pytest.raises(InputError, match="resume from"):
        train(values, tmp_path / "elsewhere", fake_simulator, resume=True)


def test_a_folder_with_a_replays_results_is_refused(values, tmp_path, fake_simulator):
    out = tmp_path / "replay"
    out.mkdir()
    (out / "results.jsonl").write_text("")
    with pytest.raises(InputError, match="holds runs or calls"):
        train(values, out, fake_simulator)
    assert [path.name for path in out.iterdir()] == ["results.jsonl"]


def test_the_average_of_the_weights_is_what_a_run_ends_with(values, tmp_path, fake_simulator):
    from weir_train.learning.algorithms import load_policy
    from weir_train.model.file import trained_policy

    out = tmp_path / "run"
    result = train(values | {"steps": 512}, out, fake_simulator)
    assert trained_policy(out) == result.checkpoint
    values["ppo"] |= {"weight_average_decay": 0.5}
    result = train(values | {"steps": 1024}, out, fake_simulator, resume=True)
    last, averaged = parameters(load_policy(result.checkpoint)), parameters(load_policy(trained_policy(out)))
    assert trained_policy(out) != result.checkpoint
    assert any(not np.array_equal(value, averaged[name]) for name, value in last.items())
    # It goes on from the average: with almost no weight on what is new, that stays.
    values["ppo"] |= {"weight_average_decay": 0.999999}
    train(values | {"steps": 1536}, out, fake_simulator, resume=True)
    for name, value in parameters(load_policy(trained_policy(out))).items():
        np.testing.assert_allclose(value, averaged[name], atol=1e-4)


def test_interruption_keeps_a_checkpoint(values, tmp_path, fake_simulator):
    def interrupt(state):
        if state.steps >= 512:
            raise KeyboardInterrupt

    result = train(values, tmp_path / "run", fake_simulator, on_progress=interrupt)
    assert result.interrupted
    assert result.steps == 512
    assert train(values, tmp_path / "run", fake_simulator, resume=True).steps == 1024


def test_ctrl_c_on_the_terminal_keeps_a_checkpoint(values, tmp_path, fake_simulator):
    lines = [
        "import sys, json",
        "from weir_train.configuration.training import checked_configuration",
        "from weir_train.learning.train import train",
        "def show(state): print(state.steps, flush=True)",
        "values = json.loads(sys.argv[1])",
        "result = train(checked_configuration(values), sys.argv[2], simulator=sys.argv[3], on_progress=show)",
        "print('interrupted', result.interrupted)",
    ]
    arguments = [json.dumps(values | {"steps": 10_000_000}), str(tmp_path / "run"), str(fake_simulator)]
    with subprocess.Popen(
        [sys.executable, "-c", "\n".join(lines), *arguments], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as program:
        program.stdout.readline()
        os.killpg(program.pid, signal.SIGINT)
        output, _ = program.communicate(timeout=120)
    assert output.splitlines()[-1] == "interrupted True"
    assert program.returncode == 0
    assert (tmp_path / "run" / "checkpoint.zip").is_file()


def test_training_on_the_real_simulator(values, tmp_path, real_simulator):
    values["environment"] |= {"action": {"kind": "around_rule"}}
    result, _ = trained(values | {"steps": 512}, tmp_path / "run", real_simulator)
    assert 0.0 < result.mean_reward <= 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stepz": 1}, "stepz: unknown key"),
        ({"steps": -1}, "steps: .*greater than 0"),
        ({"environment": {"features": ["colour"]}}, "environment: .*unknown: colour"),
        ({"environment": {"features": DEFAULT_FEATURES, "action": {"kind": "brake"}}}, "action.kind"),
        ({"environment": {"features": ["receive_rate_bps"]}}, "around the rule needs"),
        ({"environment": {}}, "environment.features"),
        ({"ppo": {"batch_size": 100}}, "must divide"),
        ({"scenarios": {"source": "files"}}, "files"),
        ({"policy": {"hidden": []}}, "policy.hidden: .*at least 1 item"),
        ({"policy": {"hidden": [3_000_000, 3_000_000]}}, "policy.hidden.0: .*4096"),
        ({"policy": {"hidden": [8] * 9}}, "policy.hidden: .*at most 8 items"),
        ({"ppo": {"batch_size": 1}}, "ppo.batch_size: .*2"),
        ({"ppo": {"learning_rate": float("inf")}}, "ppo.learning_rate: .*finite"),
        ({"environment": {"features": DEFAULT_FEATURES, "environments": 10**9}}, "environment.environments: .*4096"),
        ({"algorithm": "a2c"}, "algorithm a2c: one of ppo, imitation, impala, sac, td3$"),
        ({"td3": {"tau": 0.1}}, "td3: unknown key"),
    ],
)
def test_bad_configuration_is_one_message(values, change, message):
    with pytest.raises(InputError, match=message) as raised:
        checked_configuration(values | change, "my.toml")
    assert str(raised.value).startswith("my.toml: ")
    assert "\n" not in str(raised.value)


def test_bad_configuration_files(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        load_configuration(tmp_path / "none.toml")
    (tmp_path / "half.toml").write_text("steps = [")
    with pytest.raises(InputError, match="is not TOML"):
        load_configuration(tmp_path / "half.toml")


def test_commands_end_to_end(values, tmp_path, weir, write_toml):
    values["environment"] |= {"action": {"kind": "around_rule"}}
    run, model = tmp_path / "run", tmp_path / "small.onnx"
    result = weir("train", write_toml(values | {"steps": 512}), "--out", run)
    assert result.exit_code == 0, result.output
    assert "512 steps" in result.output
    result = weir("export", run, "--out", model)
    assert result.exit_code == 0, result.output
    card = (tmp_path / "small.md").read_text()
    assert re.search(r"^# Model card: small", card)
    assert "None are given" in card
    shown = json.loads(weir("model", model, "--json").output)
    assert shown["features"] == values["environment"]["features"]
    assert shown["action_kind"] == "rate_bps"
    assert shown["golden_vectors"] > 0
    assert (shown["computed_by"], shown["onnxruntime_difference"] <= 1.0) == ("the library", True)
    assert weir("model", model).output.startswith("path:")


def test_the_steps_of_whole_updates_are_printed_and_trained(values, tmp_path, weir, write_toml):
    result = weir("train", write_toml(values), "--steps", 300, "--out", tmp_path / "run")
    assert result.exit_code == 0, result.output
    assert "weir: 512 steps for the 300: whole updates of 256" in result.output
    assert "512 steps, reward" in result.output
    assert "compare it with the rule" in result.output


@pytest.mark.parametrize(("steps", "trained"), [(257, 512), (256, 256)])
def test_trained_steps_are_whole_updates(values, steps, trained):
    assert checked_configuration(values | {"steps": steps}).trained_steps == trained


def test_an_address_is_for_algorithms_on_a_cluster(values, tmp_path, weir, write_toml):
    result = weir("train", write_toml(values), "--address", "auto", "--out", tmp_path / "run", catch=True)
    assert "--address: algorithm ppo trains on this machine alone" in str(result.exception)


@pytest.mark.parametrize("algorithm", ["imitation", "impala", "sac", "td3"])
def test_an_algorithm_of_the_papers_names_their_distribution(
    values, tmp_path, weir, write_toml, monkeypatch, algorithm
):
    monkeypatch.setattr("weir_train.configuration.training.entry_points", lambda **selected: EntryPoints())
    with pytest.raises(MissingComponent, match=rf"algorithm {algorithm} is in .* weir-papers, .*: `make train` in "):
        weir("train", write_toml(values | {"algorithm": algorithm}), "--out", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_first_run_of_the_readme(tmp_path, weir, real_simulator, monkeypatch, steady):
    monkeypatch.setenv("WEIR_SIM", str(real_simulator))
    text = (CONFIGURATIONS / "smoke.toml").read_text().replace("environments = 64", "environments = 2")
    settings = load_configuration(CONFIGURATIONS / "smoke.toml")
    assert settings.trained_steps == settings.steps
    (tmp_path / "smoke.toml").write_text(text.replace("batch_size = 1024", "batch_size = 96"))
    (tmp_path / "s.json").write_text(json.dumps(steady()))
    model = tmp_path / "smoke.onnx"
    for command in (
        ("train", tmp_path / "smoke.toml", "--steps", 192, "--out", tmp_path / "run"),
        ("export", tmp_path / "run", "--out", model),
        ("replay", tmp_path / "s.json", "--controller", "rule", "--controller", "weir", "--model", model,
         "--seeds", 1, "--objectives", 0, "--out", tmp_path / "replay"),
    ):  # fmt: skip
        result = weir(*command)
        assert result.exit_code == 0, result.output
    assert (tmp_path / "replay/report.html").is_file()


def test_the_coefficient_of_entropy_falls_to_its_end(values, tmp_path, fake_simulator):
    from stable_baselines3.common.callbacks import BaseCallback

    found = []

    class Coefficients(BaseCallback):
        def _on_step(self):
            return True

        def _on_rollout_end(self):
            found.append(self.model.ent_coef)

    values["ppo"] |= {"entropy_coefficient": 1.0, "entropy_coefficient_end": 0.2}
    train(values, tmp_path / "run", fake_simulator, callbacks=[Coefficients()])
    assert found == pytest.approx([0.8, 0.6, 0.4, 0.2])


def test_damaged_checkpoints_are_named(values, tmp_path, fake_simulator):
    from weir_train.learning.algorithms import load_policy

    checkpoint = train(values | {"steps": 256}, tmp_path / "run", fake_simulator).checkpoint
    whole = checkpoint.read_bytes()
    for content in (b"", whole[: len(whole) // 2], whole[:-10], whole[:2000] + bytes(500) + whole[2500:]):
        checkpoint.write_bytes(content)
        with pytest.raises(InputError, match=r"checkpoint\.zip: is damaged, or no checkpoint of `weir train`"):
            load_policy(checkpoint)
        with pytest.raises(InputError, match=r"checkpoint\.zip: is damaged"):
            train(values, tmp_path / "run", fake_simulator, resume=True)


def test_a_checkpoint_that_does_not_fit_on_the_disk_leaves_the_one_before(values, tmp_path, fake_simulator):
    checkpoint = train(values | {"steps": 256}, tmp_path / "run", fake_simulator).checkpoint
    before, limit = checkpoint.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, limit[1]))
    try:
        with pytest.raises(InputError, match=r"checkpoint\.zip: cannot be written \(File too large\)"):
            train(values | {"steps": 512}, tmp_path / "run", fake_simulator, resume=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert checkpoint.read_bytes() == before


@pytest.mark.parametrize("out", ["file", "/dev/full", "file/below"])
def test_an_out_that_is_no_folder(values, tmp_path, fake_simulator, out):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="the folder cannot be made"):
        train(values, tmp_path / out, fake_simulator)
