"""Actor and critic with MOCC's preference sub-network, and their deployed part."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import gymnasium
import torch
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from torch import nn

from weir_train.gym.specification import EnvironmentSpecification
from weir_train.policies.feature_scaling import FeatureScaling


class PreferenceNetwork(nn.Module):
    """One tower of MOCC Figure 3: the objective passes its own layer, then joins the features in the hidden layers;
    tanh throughout.
    """

    def __init__(self, input_size: int, preference_size: int, hidden: tuple[int, ...]) -> None:
        super().__init__()
        self.preference = nn.Sequential(nn.Linear(3, preference_size), nn.Tanh())
        layers: list[nn.Module] = []
        size = input_size - 3 + preference_size
        for width in hidden:
            layers += [nn.Linear(size, width), nn.Tanh()]
            size = width
        self.hidden = nn.Sequential(*layers)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Maps (N, input_size), the objective last, to (N, last hidden width)."""
        return self.hidden(torch.cat([inputs[:, :-3], self.preference(inputs[:, -3:])], dim=1))


class CriticNetwork(PreferenceNetwork):
    """The tower of a critic, whose `privileged` last inputs follow the objective."""

    def __init__(self, input_size: int, privileged: int, preference_size: int, hidden: tuple[int, ...]) -> None:
        super().__init__(input_size, preference_size, hidden)
        self.visible = input_size - privileged

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Maps (N, input_size) to (N, last hidden width)."""
        history, objective = inputs[:, : self.visible - 3], inputs[:, self.visible - 3 : self.visible]
        return super().forward(torch.cat([history, inputs[:, self.visible :], objective], dim=1))


class ActorAndCritic(nn.Module):
    """The two towers with the interface of a stable-baselines3 `mlp_extractor`. They share nothing, and only the critic
    receives the `privileged` last inputs.
    """

    def __init__(self, input_size: int, privileged: int, preference_size: int, hidden: tuple[int, ...]) -> None:
        super().__init__()
        self.visible = input_size - privileged
        self.policy = PreferenceNetwork(self.visible, preference_size, hidden)
        self.value = CriticNetwork(input_size, privileged, preference_size, hidden)
        self.latent_dim_pi = hidden[-1]
        self.latent_dim_vf = hidden[-1]

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns the latents of actor and critic."""
        return self.forward_actor(features), self.forward_critic(features)

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        """Returns the latent of the actor."""
        return self.policy(features[:, : self.visible])

    def forward_critic(self, features: torch.Tensor) -> torch.Tensor:
        """Returns the latent of the critic."""
        return self.value(features)


class DeployablePolicy(nn.Module, ABC):
    """A policy of any algorithm."""

    @abstractmethod
    def deployed_modules(self) -> tuple[FeatureScaling, nn.Module, nn.Module]:
        """Returns scaling, actor (scaled inputs without privileged ones) and head (one action without noise)."""


class PreferencePolicy(ActorCriticPolicy, DeployablePolicy):
    """stable-baselines3's actor-critic policy with `FeatureScaling` and MOCC's towers."""

    def __init__(
        self,
        observation_space: gymnasium.spaces.Space[Any],
        action_space: gymnasium.spaces.Space[Any],
        lr_schedule: Schedule,
        *,
        specification: EnvironmentSpecification,
        preference_size: int = 8,
        hidden: tuple[int, ...] = (64, 32),
        **kwargs: Any,
    ) -> None:
        self.specification = specification
        self.preference_size = preference_size
        self.hidden = tuple(hidden)
        super().__init__(
            observation_space,
            action_space,
            lr_schedule,
            features_extractor_class=FeatureScaling,
            features_extractor_kwargs={"specification": specification},
            **kwargs,
        )

    def _build_mlp_extractor(self) -> None:
        # stable-baselines3 accepts any module with these methods and widths.
        self.mlp_extractor = ActorAndCritic(  # type: ignore[assignment]
            self.features_dim,
            self.specification.width - self.specification.observation_size - 3,
            self.preference_size,
            self.hidden,
        )

    def deployed_modules(self) -> tuple[FeatureScaling, nn.Module, nn.Module]:
        """See `DeployablePolicy`."""
        assert isinstance(self.features_extractor, FeatureScaling)
        assert isinstance(self.mlp_extractor, ActorAndCritic)
        return self.features_extractor, self.mlp_extractor.policy, self.action_net


class DeployedPolicy(nn.Module):
    """The exported module: maps `observation` (1, D) and `objective` (1, 3) to `action` (1, 1), the mean action without
    noise.

    With an action around the rule, the module multiplies by the rule's rate and `action` is a rate in bps; else it is
    the action in [-1, 1].
    """

    def __init__(self, policy: DeployablePolicy, specification: EnvironmentSpecification) -> None:
        super().__init__()
        self.scaling, self.actor, self.head = policy.deployed_modules()
        self.specification = specification

    def forward(self, observation: torch.Tensor, objective: torch.Tensor) -> torch.Tensor:
        """See the class."""
        inputs = self.scaling(torch.cat([observation, objective], dim=1))
        return self.answer(observation, self.head(self.actor(inputs)))

    def answer(self, observation: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        """Returns the deployed output for an action (N, 1), which is clipped to [-1, 1]; see the class."""
        action = action.clamp(-1.0, 1.0)
        specification = self.specification.action
        if specification.kind != "around_rule":
            return action
        base = self.specification.rule_bps(torch, observation).unsqueeze(1)
        return (base * specification.span**action).clamp(specification.min_bps, specification.max_bps)
