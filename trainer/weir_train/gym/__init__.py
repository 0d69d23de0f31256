"""The network as a Gymnasium environment. Importing this package registers `weir/Bottleneck-v0`, and `weir/Call-v0`,
the same on libwebrtc's stack. `gymnasium.make("weir_train.gym:weir/Call-v0")` imports it; it needs neither torch nor
stable-baselines3.
"""

import gymnasium

from weir_sim.executables import find_simulator
from weir_train.gym.environment import BottleneckEnv
from weir_train.gym.process import SimulatorRefusal
from weir_train.gym.scaling import ScaledObservation, ScaledVectorObservation
from weir_train.gym.specification import ActionSpecification, EnvironmentSpecification
from weir_train.gym.vector import BottleneckVectorEnv

__all__ = [
    "ActionSpecification",
    "BottleneckEnv",
    "BottleneckVectorEnv",
    "EnvironmentSpecification",
    "ScaledObservation",
    "ScaledVectorObservation",
    "SimulatorRefusal",
    "find_simulator",
]

ENVIRONMENT_ID = "weir/Bottleneck-v0"
CALL_ENVIRONMENT_ID = "weir/Call-v0"

for _id, _specification in (
    (ENVIRONMENT_ID, EnvironmentSpecification()),
    (CALL_ENVIRONMENT_ID, EnvironmentSpecification(stack="libwebrtc")),
):
    if _id not in gymnasium.registry:
        gymnasium.register(
            _id,
            entry_point="weir_train.gym.environment:BottleneckEnv",
            vector_entry_point="weir_train.gym.vector:BottleneckVectorEnv",
            kwargs={"specification": _specification},
        )
