"""One policy from several: what the student learns, what is written, what an interruption keeps."""

import json

import numpy as np
import pytest
from pydantic import ValidationError

from weir.traces.errors import InputError
from weir.trainer.configuration import checked_configuration

torch = pytest.importorskip("torch", reason="needs the extra `train`")
pytest.importorskip("stable_baselines3", reason="needs the extra `train`")

from weir.trainer.distillation import action_and_value, train_ensemble  # noqa: E402
from weir.trainer.export import golden_inputs, provenance_of  # noqa: E402
from weir.trainer.train import load_policy, load_run_configuration  # noqa: E402


@pytest.fixture
def configuration(values):
    """Three teachers of 512 steps, who have learned next to nothing, each something else."""
    values["environment"] |= {"privileged_critic": True}
    values["ppo"] |= {"learning_rate": 3e-3, "learning_rate_end": 3e-3}
    return checked_configuration(values | {"steps": 512, "distillation": {"seeds": [5, 3, 4], "steps": 6144}})


def answers(run, specification):
    history, objectives = golden_inputs(specification)
    privileged = np.full((len(history), 6), 100.0)
    observations = torch.from_numpy(np.concatenate([history, objectives, privileged], axis=1).astype(np.float32))
    with torch.no_grad():
        return [each.numpy() for each in action_and_value(load_policy(run / "checkpoint.zip"), observations)]


def test_the_student_learns_the_mean_of_its_teachers(configuration, tmp_path, fake_simulator):
    seen = []
    result = train_ensemble(configuration, tmp_path, simulator=fake_simulator, on_progress=seen.append)
    assert result.steps == configuration.total_steps == 3 * 512 + 6144
    assert [state.steps for state in seen] == sorted(state.steps for state in seen)
    assert (seen[-1].steps, seen[-1].total_steps) == (configuration.total_steps,) * 2
    figures = json.loads((tmp_path / "training.json").read_text())
    assert figures["steps"] == configuration.total_steps
    assert load_run_configuration(tmp_path) == configuration
    assert "seeds 5, 3, 4; the mean of these policies distilled into one" in provenance_of(configuration)["algorithm"]

    specification = configuration.environment.specification()
    teachers = [answers(tmp_path / f"teacher-{seed}", specification)[0].clip(-1, 1) for seed in (5, 3, 4)]
    mean = np.mean(teachers, axis=0)
    student = answers(tmp_path, specification)[0]
    apart = np.mean([np.abs(teacher - mean).mean() for teacher in teachers])
    assert np.abs(student - mean).mean() < 0.5 * apart


def test_what_is_complete_is_not_done_again(configuration, tmp_path, fake_simulator):
    def interrupt(state):
        if state.steps >= 512 + 256:
            raise KeyboardInterrupt

    result = train_ensemble(configuration, tmp_path, simulator=fake_simulator, on_progress=interrupt)
    assert result.interrupted
    assert 512 + 256 <= result.steps < 2 * 512
    assert not (tmp_path / "checkpoint.zip").exists()
    first = (tmp_path / "teacher-5/checkpoint.zip").read_bytes()

    def interrupt_the_student(state):
        if state.steps > 3 * 512:
            raise KeyboardInterrupt

    result = train_ensemble(
        configuration, tmp_path, resume=True, simulator=fake_simulator, on_progress=interrupt_the_student
    )
    assert result.interrupted
    assert not (tmp_path / "checkpoint.zip").exists()
    assert (tmp_path / "teacher-5/checkpoint.zip").read_bytes() == first
    assert not train_ensemble(configuration, tmp_path, resume=True, simulator=fake_simulator).interrupted
    with pytest.raises(InputError, match="already holds"):
        train_ensemble(configuration, tmp_path, simulator=fake_simulator)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"distillation": {"seeds": [1]}}, "at least 2"),
        ({"distillation": {"seeds": [1, 1]}}, "each seed once"),
        ({"algorithm": "td3"}, "needs PPO"),
    ],
)
def test_wrong_settings(values, changes, message):
    with pytest.raises((InputError, ValidationError), match=message):
        checked_configuration(values | {"distillation": {"seeds": [1, 2]}} | changes)
