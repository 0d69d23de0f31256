"""The network as a Gymnasium environment. Importing this package registers `weir/Bottleneck-v0`, and
`gymnasium.make("weir.trainer.gym:weir/Bottleneck-v0")` imports it; it needs neither torch nor stable-baselines3.
"""

import gymnasium

from weir.executables import find_simulator
from weir.trainer.gym.environment import BottleneckEnv
from weir.trainer.gym.episode import checked_objective
from weir.trainer.gym.process import SimulatorError, SimulatorRefusal
from weir.trainer.gym.scaling import ScaledObservation, ScaledVectorObservation
from weir.trainer.gym.specification import (
    MINIMUM_RANDOM_WEIGHT,
    ActionSpecification,
    EnvironmentSpecification,
)
from weir.trainer.gym.vector import BottleneckVectorEnv

__all__ = [
    "MINIMUM_RANDOM_WEIGHT",
    "ActionSpecification",
    "BottleneckEnv",
    "BottleneckVectorEnv",
    "EnvironmentSpecification",
    "ScaledObservation",
    "ScaledVectorObservation",
    "SimulatorError",
    "SimulatorRefusal",
    "checked_objective",
    "find_simulator",
]

ENVIRONMENT_ID = "weir/Bottleneck-v0"

if ENVIRONMENT_ID not in gymnasium.registry:
    gymnasium.register(
        ENVIRONMENT_ID,
        entry_point="weir.trainer.gym.environment:BottleneckEnv",
        vector_entry_point="weir.trainer.gym.vector:BottleneckVectorEnv",
    )
