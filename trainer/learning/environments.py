"""The environments that a configuration describes."""

from __future__ import annotations

import os

from weir.trainer.configuration.training import EnvironmentSettings
from weir.trainer.gym.specification import ObjectiveSource, ScenarioSource
from weir.trainer.gym.vector import BottleneckVectorEnv


def make_vector_environment(
    settings: EnvironmentSettings,
    count: int,
    scenarios: ScenarioSource,
    *,
    objective: ObjectiveSource = "balanced",
    simulator: str | os.PathLike[str] | None = None,
) -> BottleneckVectorEnv:
    """`count` environments as the table `environment` of a configuration describes them."""
    return BottleneckVectorEnv(
        count,
        scenarios,
        objective=objective,
        reward=settings.reward,
        interval_ms=settings.interval_ms,
        features=settings.features,
        history=settings.history,
        action=settings.specification().action,
        guard=settings.guard,
        privileged=settings.privileged_critic,
        simulator=simulator,
        timeout_s=settings.timeout_s,
    )
