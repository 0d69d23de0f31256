"""`weir paper mocc`: the experiment on few steps, and its arithmetic."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("torch", reason="needs the extra `train`")
pytest.importorskip("stable_baselines3", reason="needs the extra `train`")

from weir.cli.app import build_app


@pytest.fixture
def command(values, tmp_path, monkeypatch, fake_gym_simulator, write_toml):
    """Runs `weir paper mocc` with few steps; returns its result, and the folder."""
    monkeypatch.setenv("WEIR_SIM", str(fake_gym_simulator))
    environment = {"environments": 2, "features": values["environment"]["features"], "reward": "mocc"}
    ppo = {"steps_per_update": 64, "batch_size": 64, "epochs": 2}
    settings = {"environment": environment, "ppo": ppo} | {key: values[key] for key in ("scenarios", "policy")}
    words = f"paper mocc --out {tmp_path / 'out'} --configuration {write_toml(settings)} --seeds 1 --scenarios 2"
    steps = ["--scratch-steps", "384", "--adaptation-steps", "256"]

    def invoke(*more):
        return CliRunner().invoke(
            build_app(), [*words.split(), *steps, *more], catch_exceptions=False
        ), tmp_path / "out"

    return invoke


def test_the_experiment_ends_and_writes_its_figures(command):
    result, out = command("--base-steps", "256")
    assert result.exit_code == 0, result.output
    assert "at least 14.2" in result.output
    document = json.loads((out / "mocc.json").read_text())
    assert {"steps_ratio", "old_objectives_loss_ratio"} <= set(document)
    curves = document["runs"][0]["curves"]
    assert [steps for steps, _ in curves["from_scratch"]] == [0, 128, 256, 384]
    # Both adaptations start at the same policy, on the same scenarios.
    assert curves["with_replay"][0] == curves["without_replay"][0]
    assert len(document["runs"][0]["old_rewards"]["base"]) == len(document["old_objectives"])
    # The same command finds its base policy.
    assert json.loads((out / "base" / "training.json").read_text())["steps"] == 256
    before = (out / "base" / "checkpoint.zip").read_bytes()
    assert command("--base-steps", "256")[0].exit_code == 0
    assert (out / "base" / "checkpoint.zip").read_bytes() == before
    exported = CliRunner().invoke(build_app(), ["export", str(out / "base"), "--out", str(out / "base.onnx")])
    assert exported.exit_code == 0, exported.output


def test_seen_objectives_are_outside_the_neighbourhood():
    from weir_papers.mocc.adaptation import NEIGHBOURHOOD, UNSEEN, seen_objective

    generator = np.random.default_rng(1)
    distances = np.abs(np.array([tuple(seen_objective(generator)) for _ in range(2000)]) - UNSEEN).max(axis=1)
    assert NEIGHBOURHOOD <= distances.min() < NEIGHBOURHOOD + 0.05


def curves(with_replay):
    return {
        "curves": {
            "from_scratch": [(0, 0.5), (100, 0.7), (200, 0.995), (300, 0.6), (400, 0.996), *[(500, 1.0)] * 6],
            "with_replay": with_replay,
            "without_replay": [(0, 0.6), (100, 0.7)],
        },
        "old_rewards": {
            "untrained": [0.4, 0.4],
            "base": [0.8, 0.5],
            "with_replay": [0.76, 0.5],
            "without_replay": [0.4, 0.5],
        },
    }


def test_the_figures_by_hand():
    from weir_papers.mocc.adaptation import figures, summary

    run = curves([(0, 0.9), (100, 0.999), (200, 0.999)])
    run |= figures(run, one_update=50)
    assert run["threshold"] == pytest.approx(0.995)
    assert run["steps"] == {"from_scratch": 400, "with_replay": 100, "without_replay": None}
    assert run["loss_with_replay"] == pytest.approx(0.025)
    assert run["worst_loss_without_replay"] == pytest.approx(0.5)
    assert run["loss_of_gain_with_replay"] == pytest.approx(0.08)
    whole = summary([run])
    assert whole["steps_ratio"] == pytest.approx(4.0)
    assert whole["steps_ratio_without_replay"] is None
    assert not whole["steps_ratio_is_lower_bound"]


def test_a_policy_that_is_there_at_once_counts_with_one_update():
    from weir_papers.mocc.adaptation import figures, summary

    run = curves([(0, 0.999), (100, 0.999)])
    run |= figures(run, one_update=50)
    whole = summary([run])
    assert whole["steps_ratio"] == pytest.approx(8.0)
    assert whole["steps_ratio_is_lower_bound"]
