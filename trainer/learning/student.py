"""The recurrent student of imitation: made from a configuration, kept as a checkpoint."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from weir.errors import InputError
from weir.files.output import write_bytes
from weir.trainer.configuration.training import TrainingConfiguration
from weir.trainer.gym.specification import EnvironmentSpecification
from weir.trainer.policies.recurrent import RecurrentPolicy

# Arrays of a checkpoint besides the parameters: environment steps, and the loss of each iteration.
_STEPS: Final = "num_timesteps"
_LOSSES: Final = "losses"


def student_specification(configuration: TrainingConfiguration) -> EnvironmentSpecification:
    """The student's observations: without the inputs of a critic, which it does not have."""
    settings = configuration.environment.model_copy(update={"privileged_critic": False})
    return settings.specification()


def make_student(configuration: TrainingConfiguration) -> RecurrentPolicy:
    """An untrained student."""
    imitation = configuration.imitation
    torch.manual_seed(configuration.seed)
    return RecurrentPolicy(
        student_specification(configuration),
        preference_size=configuration.policy.preference_size,
        hidden=imitation.hidden,
        layers=imitation.layers,
        classifies=imitation.classifies,
    )


def save_student(student: RecurrentPolicy, steps: int, losses: list[float], path: Path) -> None:
    """Writes a checkpoint so that an interruption leaves the old one or the new one."""
    content = io.BytesIO()
    arrays: dict[str, Any] = {name: value.detach().numpy() for name, value in student.named_parameters()}
    np.savez(content, **arrays | {_STEPS: steps, _LOSSES: losses})
    write_bytes(path, content.getbuffer())


def is_student(path: Path) -> bool:
    """Whether a checkpoint is of imitation."""
    try:
        with zipfile.ZipFile(path) as file:
            return f"{_LOSSES}.npy" in file.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def student_steps(path: Path) -> int:
    """The environment steps of a checkpoint of imitation."""
    with np.load(path, allow_pickle=False) as file:
        return int(file[_STEPS])


def load_student(configuration: TrainingConfiguration, path: Path) -> tuple[RecurrentPolicy, int, list[float]]:
    """The student of a checkpoint, its environment steps and the losses of its iterations.

    Raises:
        InputError: it is damaged, or of another network.
    """
    student = make_student(configuration)
    try:
        with np.load(path, allow_pickle=False) as file:
            with torch.no_grad():
                for name, parameter in student.named_parameters():
                    parameter.copy_(torch.from_numpy(file[name]))
            return student, int(file[_STEPS]), file[_LOSSES].tolist()
    except (OSError, ValueError, KeyError, RuntimeError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: is damaged, or of another network than its configuration ({error})") from None
