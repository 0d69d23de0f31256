"""Raw observations to bounded inputs, as a torch module after the table of `weir.trainer.gym.scaling`."""

from __future__ import annotations

import gymnasium
import torch
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

from weir.trainer.gym.rule import REQUIRED_FEATURES, rate_window, rule_rate_bps
from weir.trainer.gym.scaling import (
    ABSOLUTE_RATE_SCALE,
    DELAY_SCALE_S,
    INPUT_LIMIT,
    MINIMUM_RATE_BPS,
    RATE_LOG_SCALE,
    REFERENCE_RATE_BPS,
    scaling_of,
    scaling_vectors,
)
from weir.trainer.gym.specification import EnvironmentSpecification


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
