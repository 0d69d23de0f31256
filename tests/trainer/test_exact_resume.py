"""A training that is interrupted anywhere and resumed has the parameters of one that was not, bit for bit."""

import functools
import os
import shutil
import signal

import numpy as np
import pytest

from weir_cli.errors import ComponentFailed, InputError, MissingComponent
from weir_eval.measures.families import GCC, ORACLE
from weir_sim.executables import find_virtual_call
from weir_traces.schema.scenario import Scenario
from weir_train.configuration.training import checked_configuration
from weir_train.gym.step import StepRecord

pytest.importorskip("torch", reason="needs weir-train[learning]")
pytest.importorskip("stable_baselines3", reason="needs weir-train[learning]")

from stable_baselines3.common.callbacks import BaseCallback

from weir_train.learning import curriculum
from weir_train.learning.evaluation import Evaluation
from weir_train.learning.stages import train_in_stages
from weir_train.learning.train import train

UPDATE = 256
STEPS = 6 * UPDATE


class Crash(Exception):
    """As if the process were killed."""


class AtStep(BaseCallback):
    """Calls a function once, in the middle of an update."""

    def __init__(self, step, act):
        super().__init__()
        self._step, self._act = step, act

    def _on_step(self):
        if self._act is not None and self.num_timesteps >= self._step:
            act, self._act = self._act, None
            act()
        return True


def crash():
    raise Crash


def ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


def interrupt_at(step):
    def on_progress(state):
        if state.steps >= step:
            raise KeyboardInterrupt

    return on_progress


def copy_at(step, folder, copy):
    def on_progress(state):
        if state.steps == step:
            shutil.copytree(folder, copy)

    return on_progress


def files_of(folder):
    """Arrays of the files of a training, by file and name."""
    found = {}
    for name in ("checkpoint.zip", "averaged.zip", "best_model.zip", "evaluations.npz", "replay_buffer.npz"):
        if (folder / name).is_file():
            with np.load(folder / name) as file:
                found |= {f"{name}: {key}": file[key] for key in file.files}
    return found


def assert_equal(found, expected):
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


@pytest.fixture
def values(values):
    """Six updates, with everything that has a state."""
    values |= {"steps": STEPS, "checkpoint_every_steps": UPDATE}
    values["ppo"] |= {"weight_average_decay": 0.9}
    return values


@pytest.fixture
def traces(values, tmp_path, steady, monkeypatch):
    """Three traces on which the references fill a link, so that the adaptive curriculum has gaps."""
    names = ("slow", "middle", "fast")
    for name, rate in zip(names, (1_000_000, 2_000_000, 4_000_000), strict=True):
        Scenario.from_dict(steady(name, rate, 3.0)).save(tmp_path / f"{name}.json")
    run = StepRecord.of(
        achievable_bps=np.full(4, 1e6),
        fair_share_bps=1e6,
        receive_rate_bps=np.full(4, 1e6),
        one_way_delay_mean_ms=25.0,
        base_one_way_delay_ms=25.0,
    )
    monkeypatch.setattr(curriculum, "reference_runs", lambda *_, **__: {GCC: [run] * 3, ORACLE: [run] * 3})
    return {
        "curriculum": "adaptive_gap",
        "scenarios": {"source": "files", "files": [str(tmp_path / f"{name}.json") for name in names]},
    }


def stopped_at_three_places(learn, folder):
    """Trains five updates, and is stopped: between two updates, by Ctrl-C within one, and by a crash within one."""
    first = learn(folder, on_progress=interrupt_at(2 * UPDATE))
    second = learn(folder, resume=True, callbacks=[AtStep(2 * UPDATE + 100, ctrl_c)])
    assert (first.steps, first.interrupted, second.steps, second.interrupted) == (2 * UPDATE, True, 3 * UPDATE, True)
    with pytest.raises(Crash):
        learn(folder, resume=True, callbacks=[AtStep(4 * UPDATE + 100, crash)])
    learn(folder, resume=True, on_progress=interrupt_at(5 * UPDATE))


@pytest.mark.parametrize("case", ["one trace", "random paths", "adaptive curriculum"])
def test_a_training_stopped_at_three_places_has_the_same_parameters(values, tmp_path, fake_simulator, request, case):
    if case == "adaptive curriculum":
        values |= request.getfixturevalue("traces")
    if case == "random paths":
        values["environment"] |= {"objective": "random", "privileged_critic": True}
        values["scenarios"] = {"minimum_duration_s": 5.0, "maximum_duration_s": 15.0}
    whole, stopped, middle = tmp_path / "whole", tmp_path / "stopped", tmp_path / "middle"
    learn = functools.partial(train, checked_configuration(values), simulator=fake_simulator)
    learn(whole, on_progress=copy_at(5 * UPDATE, whole, middle))
    stopped_at_three_places(learn, stopped)
    # The state in the middle has more than the parameters at the end.
    assert_equal(files_of(stopped), files_of(middle))
    result = learn(stopped, resume=True)
    assert (result.steps, result.interrupted) == (STEPS, False)
    assert_equal(files_of(stopped), files_of(whole))


def test_a_crash_after_an_evaluation_that_is_later_than_the_checkpoint_changes_none(
    values, tmp_path, fake_simulator, monkeypatch
):
    quick = functools.partial(Evaluation, scenarios=2, duration_s=2.0)
    monkeypatch.setattr("weir_train.learning.reinforcement.Evaluation", quick)
    configuration = checked_configuration(values | {"checkpoint_every_steps": 3 * UPDATE})
    learn = functools.partial(train, configuration, simulator=fake_simulator, evaluate_every_steps=2 * UPDATE)
    learn(tmp_path / "whole")
    with pytest.raises(Crash):
        learn(tmp_path / "stopped", callbacks=[AtStep(4 * UPDATE + 100, crash)])
    assert files_of(tmp_path / "stopped")["evaluations.npz: timesteps"].tolist() == [0, 2 * UPDATE, 4 * UPDATE]
    assert files_of(tmp_path / "stopped")["checkpoint.zip: num_timesteps"] == 3 * UPDATE
    learn(tmp_path / "stopped", resume=True)
    assert_equal(files_of(tmp_path / "stopped"), files_of(tmp_path / "whole"))


def test_a_training_on_the_real_simulator_stopped_at_three_places_has_the_same_parameters(
    values, tmp_path, real_simulator
):
    values["environment"] |= {
        "action": {"kind": "around_rule"},
        "objective": "random",
        "guard": True,
        "privileged_critic": True,
    }
    values["scenarios"] = {"minimum_duration_s": 20.0, "maximum_duration_s": 60.0, "maximum_mean_bps": 5e6}
    learn = functools.partial(train, checked_configuration(values), simulator=real_simulator)
    learn(tmp_path / "whole")
    stopped_at_three_places(learn, tmp_path / "stopped")
    learn(tmp_path / "stopped", resume=True)
    assert_equal(files_of(tmp_path / "stopped"), files_of(tmp_path / "whole"))


def test_a_training_on_libwebrtcs_stack_that_crashes_has_the_same_parameters(values, tmp_path):
    try:
        program = find_virtual_call()
    except MissingComponent as error:
        pytest.skip(str(error))
    values["environment"] |= {"stack": "libwebrtc", "action": {"kind": "around_rule"}}
    values |= {"steps": 3 * UPDATE, "scenarios": {"maximum_mean_bps": 5e6}}
    configuration = checked_configuration(values)
    train(configuration, tmp_path / "whole", simulator=program)
    with pytest.raises(Crash):
        train(configuration, tmp_path / "stopped", simulator=program, callbacks=[AtStep(2 * UPDATE + 100, crash)])
    train(configuration, tmp_path / "stopped", simulator=program, resume=True)
    assert_equal(files_of(tmp_path / "stopped"), files_of(tmp_path / "whole"))


def test_a_training_stopped_in_each_stage_and_between_them_has_the_same_parameters(values, tmp_path, fake_simulator):
    del values["steps"]
    stages = [
        {"steps": 2 * UPDATE},
        {"steps": 5 * UPDATE, "environment": {"environments": 4}, "ppo": {"steps_per_update": 64}},
    ]
    configuration = checked_configuration(values | {"stages": stages})
    learn = functools.partial(train_in_stages, configuration, simulator=fake_simulator)
    learn(tmp_path / "whole")
    folder = tmp_path / "stopped"
    for number, step in enumerate((UPDATE, 2 * UPDATE, 4 * UPDATE)):
        with pytest.raises(Crash):
            learn(folder, resume=number > 0, callbacks=[AtStep(step + 100, crash)])
    assert learn(folder, resume=True).steps == 5 * UPDATE
    assert_equal(files_of(folder), files_of(tmp_path / "whole"))
    assert learn(folder, resume=True).was_complete
    assert (folder / "stage-1.zip").read_bytes() == (tmp_path / "whole/stage-1.zip").read_bytes()


def test_a_second_ctrl_c_ends_an_update_and_keeps_the_last_checkpoint(values, tmp_path, fake_simulator, capfd):
    callbacks = [AtStep(UPDATE + 50, ctrl_c), AtStep(UPDATE + 100, ctrl_c)]
    with pytest.raises(KeyboardInterrupt):
        train(checked_configuration(values), tmp_path, simulator=fake_simulator, callbacks=callbacks)
    assert "Ctrl-C again ends at once" in capfd.readouterr().err
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with np.load(tmp_path / "checkpoint.zip") as file:
        assert file["num_timesteps"] == UPDATE


@pytest.fixture
def interrupted(values, tmp_path, fake_simulator):
    """The folder of an interrupted training, and its configuration."""
    configuration = checked_configuration(values)
    train(configuration, tmp_path, simulator=fake_simulator, on_progress=interrupt_at(UPDATE))
    return tmp_path, configuration


def test_evaluations_that_would_change_what_a_run_draws_are_refused(interrupted, fake_simulator):
    folder, configuration = interrupted
    before = (folder / "training.json").read_bytes()
    with pytest.raises(InputError, match=r"--eval: .* was begun without it, and trains on all of its files"):
        train(configuration, folder, simulator=fake_simulator, resume=True, evaluate_every_steps=UPDATE)
    assert (folder / "training.json").read_bytes() == before


def rewritten(path, **changes):
    with np.load(path) as file:
        arrays = dict(file) | changes
    with path.open("wb") as file:
        np.savez(file, **{name: values for name, values in arrays.items() if values is not None})


def text(characters):
    return np.frombuffer(characters.encode(), dtype=np.uint8)


@pytest.mark.parametrize(
    "change",
    [
        {"run/torch": np.zeros(8, np.uint8)},
        {"run/torch": np.zeros(3)},
        {"run/numpy": np.zeros(3, np.uint32)},
        {"run/numpy_rest": np.array([-5.0, 0.0, 0.0])},
        {"run/numpy_rest": np.zeros(0)},
        {"run/observations": np.zeros((9, 9), np.float32)},
        {"run/episode_starts": None},
        {"run/environment/episodes": text("[")},
        {"run/environment/episodes": text("null")},
        {"run/environment/episodes": text('{"scenarios": [], "episodes": [[0, 1, "x"]], "generators": []}')},
        {"run/environment/episodes": np.full(4, 255, np.uint8)},
        {"run/environment/lengths": np.array([-1, 4])},
        {"run/environment/lengths": np.array([10**6, 4])},
        {"run/environment/requests": np.zeros((4, 2, 3), np.float32)},
        {"run/environment/requests": None},
        {"run/environment/observations": np.zeros((2, 3), np.float32)},
        {"run/environment/returns": np.zeros(5)},
        {"averaged/log_std": None},
        {"averaged/log_std": np.zeros(7, np.float32)},
    ],
    ids=lambda change: "-".join(change),
)
def test_a_damaged_state_of_a_run_is_one_message(interrupted, fake_simulator, change):
    folder, configuration = interrupted
    rewritten(folder / "checkpoint.zip", **change)
    with pytest.raises(InputError, match=r"checkpoint\.zip: is damaged, or of another network") as raised:
        train(configuration, folder, simulator=fake_simulator, resume=True)
    assert "\n" not in str(raised.value)


def test_a_simulator_that_does_not_repeat_the_episodes_is_refused(interrupted, fake_simulator):
    folder, configuration = interrupted
    with np.load(folder / "checkpoint.zip") as file:
        requests = file["run/environment/requests"]
    # As if the simulator had been another one: it got other requests for the same observations.
    requests[-1] = -requests[-1]
    rewritten(folder / "checkpoint.zip", **{"run/environment/requests": requests})
    with pytest.raises(ComponentFailed, match="does not repeat the episodes of the checkpoint"):
        train(configuration, folder, simulator=fake_simulator, resume=True)
