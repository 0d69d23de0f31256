"""TD3 and SAC with the feature scaling and the preference sub-network of `PreferencePolicy`.

stable-baselines3's own actors and critics need nothing but a features extractor for it: `PreferenceFeatures` ends where
MOCC's preference layer does, and the hidden layers behind it are theirs (ReLU).
"""

from __future__ import annotations

from typing import Any

import gymnasium
import torch
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.sac.policies import SACPolicy
from stable_baselines3.td3.policies import TD3Policy
from torch import nn

from weir_train.gym.specification import EnvironmentSpecification
from weir_train.policies.feature_scaling import FeatureScaling
from weir_train.policies.networks import DeployablePolicy

# An untrained actor should answer the middle of its range, which around the rule is the rule itself.
HEAD_GAIN = 0.01
# Beyond it the slope of tanh is below 0.03.
SATURATION = 2.5


class PreferenceInputs(nn.Module):
    """Scaled inputs with the objective replaced by its preference layer: (N, n + 3 + truth) to (N, n + truth +
    preference_size), where `truth` counts the privileged inputs at the end.
    """

    def __init__(self, preference_size: int, truth: int) -> None:
        super().__init__()
        self.truth = truth
        self.preference = nn.Sequential(nn.Linear(3, preference_size), nn.Tanh())

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """See the class."""
        end = inputs.shape[1] - self.truth
        objective = self.preference(inputs[:, end - 3 : end])
        return torch.cat([inputs[:, : end - 3], inputs[:, end:], objective], dim=1)


class PreferenceFeatures(BaseFeaturesExtractor):
    """Raw observations to `FeatureScaling`, then `PreferenceInputs`.

    Args:
        observation_space: of the environment.
        specification: of the environment.
        preference_size: width of the preference layer.
        privileged: whether what a policy must not see (the last fields of an observation, if any) is let through.
    """

    def __init__(
        self,
        observation_space: gymnasium.spaces.Box,
        specification: EnvironmentSpecification,
        preference_size: int,
        privileged: bool = True,
    ) -> None:
        scaling = FeatureScaling(observation_space, specification)
        visible = specification.observation_size + 3
        truth = specification.width - visible
        super().__init__(observation_space, scaling.features_dim - 3 + preference_size - (0 if privileged else truth))
        self.visible = specification.width if privileged else visible
        self.scaling = scaling
        self.inputs = PreferenceInputs(preference_size, truth if privileged else 0)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """See the class."""
        return self.inputs(self.scaling(observations[:, : self.visible]))


class SaturationLimit(nn.Module):
    """Passes on what goes into an actor's tanh, and adds to its gradient that of half the mean squared excess over
    `SATURATION`.

    Without it an actor that early critics send to one end of the range ends where tanh has no slope, and no later
    critic can bring it back.
    """

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Unchanged."""
        if inputs.requires_grad:
            values = inputs.detach()
            pull = (values - values.clamp(-SATURATION, SATURATION)) / len(values)
            # torch leaves this one method without types.
            inputs.register_hook(lambda gradient: gradient + pull)  # type: ignore[no-untyped-call]
        return inputs


class Td3PreferencePolicy(TD3Policy, DeployablePolicy):
    """stable-baselines3's TD3 policy on `PreferenceFeatures`; its actor does not see the privileged fields."""

    def make_actor(self, features_extractor: BaseFeaturesExtractor | None = None) -> Any:
        """An actor on features of its own."""
        actor = super().make_actor(features_extractor or _visible_features(self))
        *hidden, head, tanh = actor.mu
        assert isinstance(head, nn.Linear)
        _start_in_the_middle(head)
        actor.mu = nn.Sequential(*hidden, head, SaturationLimit(), tanh)
        return actor

    def deployed_modules(self) -> tuple[FeatureScaling, nn.Module, nn.Module]:
        """See `DeployablePolicy`; the limit, which is for gradients, is not among them."""
        features = self.actor.features_extractor
        assert isinstance(features, PreferenceFeatures)
        layers = [layer for layer in self.actor.mu if not isinstance(layer, SaturationLimit)]
        return features.scaling, features.inputs, nn.Sequential(*layers)


class SacPreferencePolicy(SACPolicy, DeployablePolicy):
    """stable-baselines3's SAC policy on `PreferenceFeatures`; its actor does not see the privileged fields."""

    def make_actor(self, features_extractor: BaseFeaturesExtractor | None = None) -> Any:
        """An actor on features of its own."""
        actor = super().make_actor(features_extractor or _visible_features(self))
        assert isinstance(actor.mu, nn.Linear)
        _start_in_the_middle(actor.mu)
        return actor

    def deployed_modules(self) -> tuple[FeatureScaling, nn.Module, nn.Module]:
        """See `DeployablePolicy`: the mean, squashed as the samples are."""
        features = self.actor.features_extractor
        assert isinstance(features, PreferenceFeatures)
        return (
            features.scaling,
            nn.Sequential(features.inputs, self.actor.latent_pi),
            nn.Sequential(self.actor.mu, nn.Tanh()),
        )


def _visible_features(policy: TD3Policy | SACPolicy) -> BaseFeaturesExtractor:
    arguments = policy.features_extractor_kwargs | {"privileged": False}
    return policy.features_extractor_class(policy.observation_space, **arguments)


def _start_in_the_middle(head: nn.Linear) -> None:
    with torch.no_grad():
        head.weight.mul_(HEAD_GAIN)
        head.bias.zero_()
