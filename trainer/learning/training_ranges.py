"""The ranges of a policy's features in training, which the model file has."""

from __future__ import annotations

import os
from contextlib import closing
from typing import Final

import numpy as np

from weir.errors import InputError
from weir.trainer.configuration.scenarios import ScenarioSampler
from weir.trainer.configuration.training import TrainingConfiguration
from weir.trainer.gym.vector import BottleneckVectorEnv
from weir.trainer.learning.evaluation import Predictor

PERCENTILES: Final = (0.5, 99.5)
ENVIRONMENTS: Final = 16
MOST_STEPS: Final = 50_000
SEED: Final = 1


def training_ranges(
    policy: Predictor,
    configuration: TrainingConfiguration,
    most_steps: int = MOST_STEPS,
    simulator: str | os.PathLike[str] | None = None,
) -> np.ndarray:
    """PERCENTILES of each feature while the policy decides, without noise, on scenarios and objectives of its training.

    Args:
        policy: a trained one.
        configuration: of its training.
        most_steps: how many decisions are looked at, unless training had fewer.
        simulator: path of `weir-sim`; see `find_simulator`.

    Returns:
        float64 of shape (features, 2), in the order of the configuration's features; low and high.

    Raises:
        MissingComponent: there is no simulator.
        SimulatorError: it failed.
    """
    settings = configuration.environment
    arguments = settings.arguments()
    sampler = ScenarioSampler(configuration.scenarios)
    seen = []
    with closing(
        BottleneckVectorEnv(ENVIRONMENTS, sampler, objective=settings.objective, simulator=simulator, **arguments)
    ) as environment:
        specification = environment.specification
        intervals = len(specification.interval_features)
        paths = slice(specification.observation_size - len(specification.path_features), specification.observation_size)
        observations, _ = environment.reset(seed=SEED)
        for _ in range(max(1, min(most_steps, configuration.steps) // ENVIRONMENTS)):
            actions, _ = policy.predict(observations, deterministic=True)
            observations = environment.step(actions)[0]
            seen.append(np.concatenate([observations[:, :intervals], observations[:, paths]], axis=1))
    found = np.percentile(np.concatenate(seen).astype(np.float64), PERCENTILES, axis=0).T
    by_name = dict(zip((*specification.interval_features, *specification.path_features), found, strict=True))
    return np.stack([by_name[name] for name in specification.features])


def read_ranges(text: str) -> np.ndarray:
    """The ranges of a model file, as `training_ranges` gives them.

    Raises:
        InputError: they are no pairs of numbers.
    """
    try:
        return np.array(text.split(","), dtype=np.float64).reshape(-1, 2)
    except ValueError:
        raise InputError(f"weir.ranges is {text[:64]!r}; it must be pairs of numbers, with commas between") from None
