"""Actor and critic with MOCC's preference sub-network, and the scaling of raw features, all inside the graph that is
exported.
"""

from __future__ import annotations

from typing import Any, Protocol

import gymnasium
import torch
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from weir.trainer.gym.rule import REQUIRED_FEATURES, rate_window, rule_rate_bps
from weir.trainer.gym.specification import EnvironmentSpecification

RATE_FEATURES = frozenset({"receive_rate_bps", "last_estimate_bps"})
DELAY_FEATURES = frozenset(
    {
        "queueing_delay_mean_s",
        "queueing_delay_min_s",
        "queueing_delay_max_s",
        "queueing_delay_p95_s",
        "base_round_trip_time_s",
    }
)
COUNT_FEATURES = frozenset({"packets_received", "bytes_received", "packets_lost"})
TIME_FEATURES = frozenset({"interval_s", "interarrival_time_mean_s", "jitter_s", "time_since_last_packet_s"})
ROOT_FEATURES = frozenset({"loss_ratio"})

# Rates enter as logarithms relative to the rule's rate: what is learned on 1 Mbps then holds at 30 Mbps.
MINIMUM_RATE_BPS = 1_000.0
REFERENCE_RATE_BPS = 1e6
RATE_LOG_SCALE = 0.5
DELAY_SCALE_S = 0.02
TIME_SCALE_S = 0.1


class FeatureScaling(BaseFeaturesExtractor):
    """Raw observations (N, width) to bounded inputs: features * history, 1 for the rule's rate, the objective's 3, then
    as many as there are privileged fields. No parameters.

    Rates: 0.5 ln(rate / rule rate), cut to [-3, 3]. Delays: ln(1 + delay / 20 ms) / 3. Counts: ln(1 + count) / 5.
    Times: t / (t + 100 ms). Loss: its square root. Gradient: its hyperbolic tangent, four-fold. One input beside the
    history: 0.3 ln(rule rate / 1 Mbps).
    """

    def __init__(self, observation_space: gymnasium.spaces.Box, specification: EnvironmentSpecification) -> None:
        super().__init__(observation_space, specification.width + 1)
        self.features = specification.features
        self.history = specification.history
        self.window = rate_window(specification.interval_ms, specification.history)

    def records(self, observations: torch.Tensor) -> torch.Tensor:
        """The history alone, (N, history, features)."""
        size = self.history * len(self.features)
        return observations[:, :size].reshape(-1, self.history, len(self.features))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """See the class."""
        records = self.records(observations)
        rule = self._reference(records)
        columns = [self._column(name, records[:, :, index], rule) for index, name in enumerate(self.features)]
        scaled = torch.stack(columns, dim=2).flatten(1)
        absolute = 0.3 * torch.log(rule / REFERENCE_RATE_BPS).unsqueeze(1)
        size = scaled.shape[1]
        parts = [scaled, absolute, observations[:, size : size + 3]]
        if observations.shape[1] > size + 3:
            parts.append(self._privileged(observations[:, size + 3 :], rule))
        return torch.cat(parts, dim=1)

    def _reference(self, records: torch.Tensor) -> torch.Tensor:
        """The rate that rates are relative to, (N,): the rule's, or 1 Mbps when features that the rule needs lack."""
        if not set(REQUIRED_FEATURES) <= set(self.features):
            return torch.full_like(records[:, 0, 0], REFERENCE_RATE_BPS)
        return rule_rate_bps(torch, records, self.features, self.window).clamp(min=MINIMUM_RATE_BPS)

    @staticmethod
    def _privileged(values: torch.Tensor, rule: torch.Tensor) -> torch.Tensor:
        """Scaled `PRIVILEGED_FIELDS`: two rates relative to the rule's, two delays in ms, a ratio."""
        rates = torch.log(values[:, :2].clamp(min=MINIMUM_RATE_BPS) / rule.unsqueeze(1))
        delays = torch.log1p(values[:, 2:4] / (1000.0 * DELAY_SCALE_S)) / 3.0
        return torch.cat(
            [(RATE_LOG_SCALE * rates).clamp(-3.0, 3.0), delays, torch.sqrt(values[:, 4:].clamp(0.0, 1.0))], dim=1
        )

    @staticmethod
    def _column(name: str, values: torch.Tensor, rule: torch.Tensor) -> torch.Tensor:
        if name in RATE_FEATURES:
            ratio = torch.log(values.clamp(min=MINIMUM_RATE_BPS) / rule.unsqueeze(1))
            return (RATE_LOG_SCALE * ratio).clamp(-3.0, 3.0)
        if name in DELAY_FEATURES:
            return torch.log1p(values / DELAY_SCALE_S) / 3.0
        if name in COUNT_FEATURES:
            return torch.log1p(values) / 5.0
        if name in TIME_FEATURES:
            return values / (values + TIME_SCALE_S)
        if name in ROOT_FEATURES:
            return torch.sqrt(values)
        if name == "delay_gradient":
            return torch.tanh(4.0 * values)
        if name in ("delay_ratio", "sending_ratio"):
            return torch.log(values.clamp(0.01, 100.0)) / 2.0
        return values


class PreferenceNetwork(nn.Module):
    """One tower of MOCC Figure 3: the objective through its own layer, then both through the hidden layers, tanh
    throughout.
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
        """(N, input_size), the objective last, to (N, last hidden width)."""
        return self.hidden(torch.cat([inputs[:, :-3], self.preference(inputs[:, -3:])], dim=1))


class ActorAndCritic(nn.Module):
    """The two towers in the form stable-baselines3 asks of an `mlp_extractor`; nothing is shared between them, and only
    the critic sees the `privileged` last inputs.
    """

    def __init__(self, input_size: int, privileged: int, preference_size: int, hidden: tuple[int, ...]) -> None:
        super().__init__()
        self.visible = input_size - privileged
        self.policy = PreferenceNetwork(self.visible, preference_size, hidden)
        self.value = PreferenceNetwork(input_size, preference_size, hidden)
        self.latent_dim_pi = hidden[-1]
        self.latent_dim_vf = hidden[-1]

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Latents of actor and critic."""
        return self.forward_actor(features), self.forward_critic(features)

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        """Latent of the actor."""
        return self.policy(features[:, : self.visible])

    def forward_critic(self, features: torch.Tensor) -> torch.Tensor:
        """Latent of the critic."""
        history, objective = features[:, : self.visible - 3], features[:, self.visible - 3 : self.visible]
        return self.value(torch.cat([history, features[:, self.visible :], objective], dim=1))


class PreferencePolicy(ActorCriticPolicy):
    """stable-baselines3's actor-critic policy with `FeatureScaling` and MOCC's towers."""

    def __init__(
        self,
        *args: Any,
        specification: EnvironmentSpecification,
        preference_size: int = 8,
        hidden: tuple[int, ...] = (64, 32),
        **kwargs: Any,
    ) -> None:
        self.specification = specification
        self.preference_size = preference_size
        self.hidden = tuple(hidden)
        super().__init__(
            *args,
            features_extractor_class=FeatureScaling,
            features_extractor_kwargs={"specification": specification},
            **kwargs,
        )

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = ActorAndCritic(
            self.features_dim,
            self.specification.width - self.specification.observation_size - 3,
            self.preference_size,
            self.hidden,
        )

    def deployed_modules(self) -> tuple[FeatureScaling, nn.Module, nn.Module]:
        """See `DeployedPolicy`."""
        assert isinstance(self.features_extractor, FeatureScaling)
        assert isinstance(self.mlp_extractor, ActorAndCritic)
        return self.features_extractor, self.mlp_extractor.policy, self.action_net


class DeployablePolicy(Protocol):
    """A policy of any algorithm."""

    def deployed_modules(self) -> tuple[FeatureScaling, nn.Module, nn.Module]:
        """Scaling, the actor on scaled inputs without privileged ones, and its head: one action, without noise."""


class DeployedPolicy(nn.Module):
    """What is exported: `observation` (1, D) and `objective` (1, 3) to `action` (1, 1), the mean action without noise.

    With an action around the rule the multiplication by the rule's rate is inside and `action` is a rate in bps; else
    it is the action in [-1, 1].
    """

    def __init__(self, policy: DeployablePolicy, specification: EnvironmentSpecification) -> None:
        super().__init__()
        self.scaling, self.actor, self.head = policy.deployed_modules()
        self.specification = specification

    def forward(self, observation: torch.Tensor, objective: torch.Tensor) -> torch.Tensor:
        """See the class."""
        inputs = self.scaling(torch.cat([observation, objective], dim=1))
        action = self.head(self.actor(inputs)).clamp(-1.0, 1.0)
        specification = self.specification.action
        if specification.kind != "around_rule":
            return action
        records = self.scaling.records(observation)
        base = rule_rate_bps(torch, records, self.scaling.features, self.scaling.window).unsqueeze(1)
        return (base * specification.span**action).clamp(specification.min_bps, specification.max_bps)
