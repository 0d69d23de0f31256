"""Checkpoints hold numbers: none runs code, and what is damaged or does not fit is one message."""

import io
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from weir_cli.errors import InputError
from weir_cli.files.output import alone_in
from weir_train.configuration.training import checked_configuration

pytest.importorskip("torch", reason="needs weir-train[learning]")
pytest.importorskip("stable_baselines3", reason="needs weir-train[learning]")

from stable_baselines3.common.callbacks import BaseCallback

from weir_train.learning import checkpoint as checkpoints
from weir_train.learning.algorithms import events_folder, load_policy
from weir_train.learning.checkpoint import read_checkpoint
from weir_train.learning.train import train


class Payload:
    """Makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def array_of_objects(path):
    content = io.BytesIO()
    objects = np.array([Payload(path)], dtype=object)
    np.savez(content, algorithm="ppo", num_timesteps=5, **{"policy/log_std": objects})
    return content.getvalue()


@pytest.fixture
def run(values, tmp_path, fake_simulator):
    """A trained folder."""
    train(checked_configuration(values | {"steps": 256}), tmp_path / "run", simulator=fake_simulator)
    return tmp_path / "run"


@pytest.mark.parametrize(
    "words", ["export RUN", "export RUN --best", "adapt RUN --objective latency", "train --resume"]
)
def test_a_hostile_checkpoint_runs_nothing(run, values, write_toml, weir, tmp_path, words):
    for name in ("checkpoint.zip", "best_model.zip"):
        (run / name).write_bytes(array_of_objects(tmp_path / "owned"))
    command, *rest = words.replace("RUN", str(run)).split()
    more = ["--out", tmp_path / "out.onnx"]
    if command == "train":
        more = [write_toml(values | {"steps": 512}), "--out", run]
    result = weir(command, *rest, *more, catch=True)
    assert isinstance(result.exception, InputError)
    assert "is damaged" in str(result.exception)
    assert "\n" not in str(result.exception)
    assert not (tmp_path / "owned").exists()


def rewritten(path: Path, **changes):
    with np.load(path) as file:
        arrays = dict(file) | changes
    with path.open("wb") as file:
        np.savez(file, **{name: values for name, values in arrays.items() if values is not None})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"policy/log_std": None}, "of another network than its configuration .*log_std"),
        ({"policy/log_std": np.zeros(3, np.float32)}, "of another network .*size mismatch"),
        ({"policy/log_std": np.array(["text"])}, "is damaged"),
        ({"policy/log_std": np.array([np.nan], np.float32)}, "is damaged"),
        ({"policy.optimizer/0/exp_avg": np.zeros((9, 9), np.float32)}, "of another network .*0/exp_avg"),
        ({"policy.optimizer/77/step": np.float32(1)}, "of another network"),
        ({"policy.optimizer/0/step": None}, "of another network"),
        ({"updates": None}, "of another network .*updates"),
        ({"algorithm": np.array("sac")}, "was trained with sac, not with ppo"),
        ({"num_timesteps": np.array("many")}, "is damaged"),
    ],
)
def test_what_does_not_fit_is_one_message(run, values, fake_simulator, changes, message):
    rewritten(run / "checkpoint.zip", **changes)
    with pytest.raises(InputError, match=message) as raised:
        train(checked_configuration(values), run, simulator=fake_simulator, resume=True)
    assert "\n" not in str(raised.value)


def test_a_checkpoint_that_unpacks_to_too_much(run, monkeypatch):
    monkeypatch.setattr(checkpoints, "LARGEST_BYTES", 1 << 20)
    with zipfile.ZipFile(run / "checkpoint.zip", "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr("policy/more.npy", bytes(2 << 20))
    with pytest.raises(InputError, match="is damaged"):
        read_checkpoint(run / "checkpoint.zip")


def test_a_policy_is_read_without_pickle(run, monkeypatch):
    def refuse(*arguments, **keywords):
        raise AssertionError("unpickled")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    assert load_policy(run / "checkpoint.zip").hidden == (16, 8)


def test_two_trainings_in_one_folder(values, tmp_path, fake_simulator):
    (tmp_path / "run").mkdir()
    with alone_in(tmp_path / "run"), pytest.raises(InputError, match="another weir writes its results there"):
        train(checked_configuration(values), tmp_path / "run", simulator=fake_simulator)
    assert list((tmp_path / "run").iterdir()) == []
    assert (
        train(checked_configuration(values | {"steps": 256}), tmp_path / "run", simulator=fake_simulator).steps == 256
    )


class Poison(BaseCallback):
    """Parameters as after a learning rate that is too high."""

    def _on_rollout_start(self):
        if self.num_timesteps:
            self.model.policy.action_net.weight.data.fill_(float("nan"))

    def _on_step(self):
        return True


def test_a_training_that_diverges_keeps_the_checkpoint_before(values, tmp_path, fake_simulator):
    configuration = checked_configuration(values | {"checkpoint_every_steps": 256})
    with pytest.raises(InputError, match=r"not written after .* steps: the training has diverged") as raised:
        train(configuration, tmp_path / "run", simulator=fake_simulator, callbacks=[Poison()])
    assert "lower learning_rate" in str(raised.value)


@pytest.mark.parametrize("text", ["[]", "{}", '{"environment": {"features": ["colour"]}, "curriculum": 1}'])
def test_a_configuration_beside_it_that_is_none_is_one_message(run, text):
    (run / "configuration.json").write_text(text)
    with pytest.raises(InputError, match=r"configuration\.json: ") as raised:
        load_policy(run / "checkpoint.zip")
    assert "\n" not in str(raised.value)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_events_go_through_no_link_of_another_user(tmp_path, monkeypatch):
    monkeypatch.delenv("SUDO_UID", raising=False)
    pytest.importorskip("tensorboard")
    (tmp_path / "tensorboard").symlink_to("/tmp")
    os.lchown(tmp_path / "tensorboard", 1234, 1234)
    with pytest.raises(InputError, match="of user 1234"):
        events_folder(tmp_path)
