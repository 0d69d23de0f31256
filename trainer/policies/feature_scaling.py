"""Raw features to bounded inputs: one table, which the network's torch module and the exported graph both follow."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass, fields
from typing import Final

import gymnasium
import numpy as np
import torch
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

from weir._core import FEATURES
from weir.trainer.gym.rule import REQUIRED_FEATURES, rate_window, rule_rate_bps
from weir.trainer.gym.specification import EnvironmentSpecification

# Rates enter as logarithms relative to the rule's rate: what is learned on 1 Mbps then holds at 30 Mbps.
MINIMUM_RATE_BPS: Final = 1_000.0
REFERENCE_RATE_BPS: Final = 1e6
RATE_LOG_SCALE: Final = 0.5
ABSOLUTE_RATE_SCALE: Final = 0.3
DELAY_SCALE_S: Final = 0.02
TIME_SCALE_S: Final = 0.1
INPUT_LIMIT: Final = 3.0


@dataclass(frozen=True)
class Scaling:
    """How a raw value x becomes an input. With u = ln(max(x + shift, floor)) it is

        logarithm u + power_gain exp(power u) + tanh(slope x) + offset + reference ln(rule rate in bps),

    cut to +-INPUT_LIMIT. One formula for all features makes a whole observation one vector in few operations.
    """

    shift: float = 0.0
    floor: float = 1e-30
    logarithm: float = 0.0
    power: float = 0.0
    power_gain: float = 0.0
    slope: float = 0.0
    offset: float = 0.0
    reference: float = 0.0


# By the names of scales in `weir.FEATURES`.
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
    # 0.5 ln(ratio), from 0.01 on
    "log_ratio": Scaling(floor=0.01, logarithm=0.5),
}


def scaling_of(feature: str) -> Scaling:
    """How a feature of `weir.FEATURES` is scaled."""
    return SCALINGS[FEATURES[feature].scale]


def scaling_vectors(specification: EnvironmentSpecification) -> dict[str, np.ndarray]:
    """The members of `Scaling` by name, each for a whole observation: float32 of shape (1, observation_size)."""
    rows = np.array([astuple(scaling_of(name)) for name in specification.observed], dtype=np.float32)
    return {member.name: rows[None, :, index].copy() for index, member in enumerate(fields(Scaling))}


class FeatureScaling(BaseFeaturesExtractor):
    """Raw observations (N, width) to bounded inputs: features by `SCALINGS`, 0.3 ln(rule rate / 1 Mbps), the
    objective's 3, then as many as there are privileged fields. No parameters.
    """

    _shift: torch.Tensor
    _floor: torch.Tensor
    _logarithm: torch.Tensor
    _offset: torch.Tensor
    _reference: torch.Tensor

    def __init__(self, observation_space: gymnasium.spaces.Box, specification: EnvironmentSpecification) -> None:
        super().__init__(observation_space, specification.width + 1)
        self.specification = specification
        self.features = specification.interval_features
        self.window = rate_window(specification.interval_ms, specification.history)
        step = len(self.features)
        of_history = step * specification.history
        self._columns = {name: slice(index, of_history, step) for index, name in enumerate(self.features)}
        self._columns |= {
            name: slice(of_history + index, of_history + index + 1)
            for index, name in enumerate(specification.path_features)
        }
        vectors = scaling_vectors(specification)
        for name in ("shift", "floor", "logarithm", "offset", "reference"):
            self.register_buffer(f"_{name}", torch.from_numpy(vectors[name]), persistent=False)

    @property
    def knows_rule(self) -> bool:
        """True when the features determine the rule's rate; otherwise rates are relative to 1 Mbps."""
        return set(REQUIRED_FEATURES) <= set(self.features)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """See the class."""
        size = self.specification.observation_size
        observed = observations[:, :size]
        rule = self._rule(observations)
        logarithm = torch.log(torch.maximum(observed + self._shift, self._floor))
        scaled = torch.addcmul(self._offset, self._logarithm, logarithm).addcmul_(self._reference, torch.log(rule))
        # Exponentials and tangents only where they count: of a batch they take longer than all the rest.
        for feature in dict.fromkeys(self.specification.observed):
            scaling, columns = scaling_of(feature), self._columns[feature]
            if scaling.power_gain:
                scaled[:, columns] += scaling.power_gain * torch.exp(scaling.power * logarithm[:, columns])
            if scaling.slope:
                scaled[:, columns] += torch.tanh(scaling.slope * observed[:, columns])
        scaled.clamp_(-INPUT_LIMIT, INPUT_LIMIT)
        absolute = ABSOLUTE_RATE_SCALE * torch.log(rule / REFERENCE_RATE_BPS)
        parts = [scaled, absolute, observations[:, size : size + 3]]
        if observations.shape[1] > size + 3:
            parts.append(self._privileged(observations[:, size + 3 :], rule))
        return torch.cat(parts, dim=1)

    def _rule(self, observations: torch.Tensor) -> torch.Tensor:
        """The rate that rates are relative to, (N, 1): the rule's, or 1 Mbps when features that the rule needs lack."""
        records = self.specification.records(observations)
        if not self.knows_rule:
            return torch.full_like(records[:, 0, :1], REFERENCE_RATE_BPS)
        rate = rule_rate_bps(torch, records, self.features, self.window)
        return rate.clamp(min=MINIMUM_RATE_BPS).unsqueeze(1)

    @staticmethod
    def _privileged(values: torch.Tensor, rule: torch.Tensor) -> torch.Tensor:
        """Scaled `PRIVILEGED_FIELDS`: two rates relative to the rule's, two delays in ms, a ratio."""
        rates = torch.log(values[:, :2].clamp(min=MINIMUM_RATE_BPS) / rule)
        delays = torch.log1p(values[:, 2:4] / (1000.0 * DELAY_SCALE_S)) / 3.0
        return torch.cat(
            [(RATE_LOG_SCALE * rates).clamp(-3.0, 3.0), delays, torch.sqrt(values[:, 4:].clamp(0.0, 1.0))], dim=1
        )
