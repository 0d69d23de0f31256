"""Scales raw features to bounded inputs: one table for the observation wrappers, the network's torch module and the
exported graph.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from typing import Any, Final

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space

from weir import FEATURES
from weir_train.gym.specification import EnvironmentSpecification

# Rates are logarithms relative to the rule's rate, so that learning at 1 Mbps transfers to 30 Mbps.
MINIMUM_RATE_BPS: Final = 1_000.0
REFERENCE_RATE_BPS: Final = 1e6
RATE_LOG_SCALE: Final = 0.5
ABSOLUTE_RATE_SCALE: Final = 0.3
DELAY_SCALE_S: Final = 0.02
TIME_SCALE_S: Final = 0.1
INPUT_LIMIT: Final = 3.0
# The rule's absolute rate is not clipped to INPUT_LIMIT: no rate of an observation space is above 200 Gbps.
_ABSOLUTE_LIMIT: Final = 4.0
# Above ln(1 + PRIVILEGED_LIMIT ms / 20 ms) / 3.
_PRIVILEGED_DELAY_LIMIT: Final = 8.0


@dataclass(frozen=True)
class Scaling:
    """Maps a raw value x to an input. With u = ln(max(x + shift, floor)) it is

        logarithm u + power_gain exp(power u) + tanh(slope x) + offset + reference ln(rule rate in bps),

    clipped to +-INPUT_LIMIT. One formula for all features scales a whole observation as one vector in few operations.
    """

    shift: float = 0.0
    floor: float = 1e-30
    logarithm: float = 0.0
    power: float = 0.0
    power_gain: float = 0.0
    slope: float = 0.0
    offset: float = 0.0
    reference: float = 0.0


# Keys are the names of scales in `weir.FEATURES`.
SCALINGS: Final[dict[str, Scaling]] = {
    "unscaled": Scaling(power=1.0, power_gain=1.0),
    # 0.5 ln(rate / rule rate)
    "rate_over_rule": Scaling(floor=MINIMUM_RATE_BPS, logarithm=RATE_LOG_SCALE, reference=-RATE_LOG_SCALE),
    # ln(1 + delay / 20 ms) / 3
    "delay": Scaling(shift=DELAY_SCALE_S, logarithm=1.0 / 3.0, offset=-math.log(DELAY_SCALE_S) / 3.0),
    # ln(1 + count) / 5
    "count": Scaling(shift=1.0, logarithm=1.0 / 5.0),
    # t / (t + 100 ms)
    "time": Scaling(shift=TIME_SCALE_S, power=-1.0, power_gain=-TIME_SCALE_S, offset=1.0),
    "square_root": Scaling(power=0.5, power_gain=1.0),
    "gradient": Scaling(slope=4.0),
    # 0.5 ln(ratio), for ratios of at least 0.01
    "log_ratio": Scaling(floor=0.01, logarithm=0.5),
}


def scaling_of(feature: str) -> Scaling:
    """Returns the scaling of a feature in `weir.FEATURES`."""
    return SCALINGS[FEATURES[feature].scale]


def scaling_vectors(specification: EnvironmentSpecification) -> dict[str, np.ndarray]:
    """Returns the members of `Scaling` by name, each for a whole observation: float32, (1, observation_size)."""
    rows = np.array([astuple(scaling_of(name)) for name in specification.observed], dtype=np.float32)
    return {member.name: rows[None, :, index].copy() for index, member in enumerate(fields(Scaling))}


def scaled_inputs(
    xp: Any, specification: EnvironmentSpecification, vectors: Mapping[str, Any], observations: Any
) -> Any:
    """Scales raw observations (N, width) to a network's inputs, (N, width + 1): features by `SCALINGS`, 0.3 ln(rule
    rate / 1 Mbps), the objective's 3 weights, then the privileged fields, if any: two rates relative to the rule's, two
    delays in ms, a ratio. Rates are relative to 1 Mbps if features that the rule needs are missing.

    Args:
        xp: `numpy` or `torch`.
        specification: of the environment.
        vectors: the result of `scaling_vectors`, as arrays of `xp`.
        observations: float32.
    """
    size = specification.observation_size
    observed = observations[:, :size]
    rule_bps = xp.full_like(observed[:, :1], REFERENCE_RATE_BPS)
    if specification.knows_rule:
        rule_bps = specification.rule_bps(xp, observations)[:, None].clip(min=MINIMUM_RATE_BPS)
    rule = xp.log(rule_bps)
    logarithm = xp.log(xp.maximum(observed + vectors["shift"], vectors["floor"]))
    scaled = vectors["logarithm"] * logarithm + vectors["reference"] * rule + vectors["offset"]
    # Computes exponentials and tangents only where needed: they take longer than all the rest of a batch.
    for feature, columns in specification.columns.items():
        scaling = scaling_of(feature)
        if scaling.power_gain:
            scaled[:, columns] += scaling.power_gain * xp.exp(scaling.power * logarithm[:, columns])
        if scaling.slope:
            scaled[:, columns] += xp.tanh(scaling.slope * observed[:, columns])
    absolute = ABSOLUTE_RATE_SCALE * (rule - math.log(REFERENCE_RATE_BPS))
    parts = [scaled.clip(-INPUT_LIMIT, INPUT_LIMIT), absolute, observations[:, size : size + 3]]
    if observations.shape[1] > size + 3:
        privileged = observations[:, size + 3 :]
        rates = xp.log(privileged[:, :2].clip(min=MINIMUM_RATE_BPS)) - rule
        parts += [
            (RATE_LOG_SCALE * rates).clip(-INPUT_LIMIT, INPUT_LIMIT),
            xp.log1p(privileged[:, 2:4] / (1000.0 * DELAY_SCALE_S)) / 3.0,
            xp.sqrt(privileged[:, 4:].clip(0.0, 1.0)),
        ]
    return xp.concatenate(parts, 1)


def scaled_space(specification: EnvironmentSpecification) -> gymnasium.spaces.Box:
    """Returns the space of one scaled observation."""
    high = [INPUT_LIMIT] * specification.observation_size + [_ABSOLUTE_LIMIT] + [1.0] * 3
    low = [-value for value in high[:-3]] + [0.0] * 3
    if specification.privileged:
        high += [INPUT_LIMIT] * 2 + [_PRIVILEGED_DELAY_LIMIT] * 2 + [1.0]
        low += [-INPUT_LIMIT] * 2 + [0.0] * 3
    return gymnasium.spaces.Box(np.array(low, np.float32), np.array(high, np.float32), dtype=np.float32)


def _scaled_within(space: Any, specification: EnvironmentSpecification, raw: np.ndarray) -> np.ndarray:
    inputs = scaled_inputs(np, specification, scaling_vectors(specification), raw)
    return np.asarray(inputs.clip(space.low, space.high), dtype=np.float32)


class ScaledObservation(
    gymnasium.ObservationWrapper[np.ndarray, np.ndarray, np.ndarray], gymnasium.utils.RecordConstructorArgs
):
    """`weir/Bottleneck-v0` with observations scaled as for a trained network, see `scaled_inputs`. Raw ones are in SI
    units, from 1e-3 (delays) to 1e11 (rates), from which no network learns.
    """

    def __init__(self, env: gymnasium.Env[np.ndarray, np.ndarray]) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self)
        super().__init__(env)
        self._scaled: EnvironmentSpecification = env.get_wrapper_attr("specification")
        self.observation_space = scaled_space(self._scaled)

    def observation(self, observation: np.ndarray) -> np.ndarray:
        """Returns the scaled observation, float32 of shape (width + 1,)."""
        return _scaled_within(self.observation_space, self._scaled, observation[None])[0]


class ScaledVectorObservation(VectorWrapper):  # not generic in Gymnasium 1.2, which Ray pins
    """`ScaledObservation` for `BottleneckVectorEnv`. Unlike gymnasium's `VectorObservationWrapper` it supports
    environments that start the next episode in the same step, and scales `info["final_obs"]`, too.
    """

    def __init__(self, env: VectorEnv[np.ndarray, np.ndarray, np.ndarray]) -> None:
        super().__init__(env)
        unwrapped: Any = env.unwrapped
        self._scaled: EnvironmentSpecification = unwrapped.specification
        self.single_observation_space = scaled_space(self._scaled)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """As that of the environment."""
        observations, infos = self.env.reset(seed=seed, options=options)
        return self._observations(observations), infos

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """As that of the environment."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        for index in np.flatnonzero(infos.get("_final_obs", False)):
            infos["final_obs"][index] = self._observations(infos["final_obs"][index][None])[0]
        return self._observations(observations), rewards, terminations, truncations, infos

    def _observations(self, raw: np.ndarray) -> np.ndarray:
        return _scaled_within(self.single_observation_space, self._scaled, raw)
