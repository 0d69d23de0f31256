"""Scales raw observations to bounded inputs: a torch module around `weir_train.gym.scaling`."""

from __future__ import annotations

import gymnasium
import torch
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

from weir_train.gym.scaling import scaled_inputs, scaling_vectors
from weir_train.gym.specification import EnvironmentSpecification


class FeatureScaling(BaseFeaturesExtractor):
    """Maps raw observations (N, width), with or without the privileged fields, to bounded inputs; see `scaled_inputs`.
    It has no parameters.
    """

    def __init__(self, observation_space: gymnasium.spaces.Box, specification: EnvironmentSpecification) -> None:
        super().__init__(observation_space, specification.width + 1)
        self.specification = specification
        for name, values in scaling_vectors(specification).items():
            self.register_buffer(name, torch.from_numpy(values), persistent=False)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """See the class."""
        inputs: torch.Tensor = scaled_inputs(torch, self.specification, dict(self.named_buffers()), observations)
        return inputs
