"""The state of a training between two updates besides its learner: with it, a resumed training has the parameters of
one that was not interrupted.

It has the random numbers of torch and NumPy, the running episodes, and those of the callbacks. A checkpoint at the end
of a training or a stage lacks it: what follows begins with new episodes.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm

from weir_cli.errors import ComponentFailed, InputError
from weir_train.gym.process import SimulatorRefusal
from weir_train.gym.sb3 import BottleneckVecEnv
from weir_train.learning.checkpoint import RUN, Checkpoint

_EPISODES: Final = f"{RUN}/environment"


def continuation_arrays(model: BaseAlgorithm) -> dict[str, np.ndarray]:
    """Returns the arrays of a checkpoint that `continue_from` reads; none for a learner without environments in this
    process, whose episodes cannot be repeated.
    """
    environment = model.env
    if not isinstance(environment, BottleneckVecEnv):
        return {}
    # stable-baselines3 draws from NumPy's global generator.
    numpy_state: Any = np.random.get_state(legacy=True)  # noqa: NPY002
    arrays: dict[str, Any] = {
        "torch": torch.get_rng_state().numpy(),
        "numpy": numpy_state[1],
        "numpy_rest": np.array(numpy_state[2:], dtype=np.float64),
        "observations": model._last_obs,
        "episode_starts": model._last_episode_starts,
    }
    return {f"{RUN}/{name}": np.array(values) for name, values in arrays.items()} | {
        f"{_EPISODES}/{name}": values for name, values in environment.state().items()
    }


def continue_from(model: BaseAlgorithm, found: Checkpoint) -> bool:
    """Sets a learner to the state of a checkpoint in the middle of a training, and returns true; returns false for a
    checkpoint without that state.

    Raises:
        InputError: the state is damaged, or of another configuration.
        ComponentFailed: a simulator failed, or is not the one of the checkpoint.
    """
    environment, state = model.env, found.arrays_of(RUN)
    if not state or not isinstance(environment, BottleneckVecEnv):
        return False
    try:
        environment.restore(found.arrays_of(_EPISODES))
        observations, starts = state["observations"], state["episode_starts"]
        if observations.shape != environment.environment.observation_space.shape or len(starts) != len(observations):
            raise ValueError(f"observations of shape {observations.shape}")
        model._last_obs, model._last_episode_starts = observations, starts.astype(bool)
        position, has_gauss, gauss = state["numpy_rest"].tolist()
        if not 0 <= position <= len(state["numpy"]):
            raise ValueError(f"position {position:g} of the random numbers")  # NumPy would read beyond them
        np.random.set_state(("MT19937", state["numpy"], int(position), int(has_gauss), gauss))  # noqa: NPY002
        torch.set_rng_state(torch.from_numpy(state["torch"]))
    except (ComponentFailed, SimulatorRefusal):
        raise
    # Any of these: NumPy, torch and the readers of JSON differ in how they refuse values.
    except (ValueError, TypeError, KeyError, IndexError, OverflowError, RuntimeError, InputError) as error:
        raise found.mismatch_error(error) from None
    return True
