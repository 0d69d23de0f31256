"""sb3-contrib's recurrent policy with `FeatureScaling`, a `RecurrentActor`, and the critic of `PreferencePolicy`."""

from __future__ import annotations

from typing import Any

import gymnasium
import torch
from sb3_contrib.common.recurrent.policies import RecurrentActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from torch import nn

from weir.trainer.gym.specification import EnvironmentSpecification
from weir.trainer.policies.feature_scaling import FeatureScaling
from weir.trainer.policies.networks import CriticNetwork
from weir.trainer.policies.recurrent import RecurrentActor


class RecurrentPreferencePolicy(RecurrentActorCriticPolicy):
    """The actor has LSTM layers behind MOCC's preference layer, and a linear head. The critic has no memory: it sees
    the privileged inputs instead.
    """

    # sb3-contrib accepts any module with the names of nn.LSTM that `RecurrentActor` has, and any critic.
    lstm_actor: RecurrentActor  # type: ignore[assignment]
    critic: CriticNetwork  # type: ignore[assignment]

    def __init__(
        self,
        observation_space: gymnasium.spaces.Space[Any],
        action_space: gymnasium.spaces.Space[Any],
        lr_schedule: Schedule,
        *,
        specification: EnvironmentSpecification,
        preference_size: int,
        hidden: tuple[int, ...],
        lstm_hidden_size: int,
        n_lstm_layers: int,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            observation_space,
            action_space,
            lr_schedule,
            net_arch=[],
            features_extractor_class=FeatureScaling,
            features_extractor_kwargs={"specification": specification},
            lstm_hidden_size=lstm_hidden_size,
            n_lstm_layers=n_lstm_layers,
            enable_critic_lstm=False,
            **kwargs,
        )
        # The features, the rule's rate and the objective.
        self.visible = specification.observation_size + 4
        self.lstm_actor = RecurrentActor(self.visible, preference_size, lstm_hidden_size, n_lstm_layers)
        self.critic = CriticNetwork(self.features_dim, self.features_dim - self.visible, preference_size, hidden)
        self.value_net = nn.Linear(hidden[-1], 1)
        self.optimizer = self.optimizer_class(
            self.parameters(),
            lr=lr_schedule(1),  # type: ignore[call-arg]
            **self.optimizer_kwargs,
        )

    def _process_sequence(  # type: ignore[override]
        self,
        features: torch.Tensor,
        lstm_states: tuple[torch.Tensor, torch.Tensor],
        episode_starts: torch.Tensor,
        lstm: RecurrentActor,
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        """N sequences of T steps, (N * T, features), to latents (N * T, width) and the states after them.

        An episode begins only with the first step of a sequence: the rollout buffer cuts them there.
        """
        sequences = lstm_states[0].shape[1]
        keep = 1.0 - episode_starts.reshape(sequences, -1)[:, :1]
        state = lstm_states[0] * keep, lstm_states[1] * keep
        latents, after = lstm.steps(features[:, : self.visible].reshape(sequences, -1, self.visible), state)
        return latents.flatten(0, 1), after

    def deployed_modules(self) -> tuple[FeatureScaling, nn.Module, nn.Module]:
        """See `DeployablePolicy`."""
        assert isinstance(self.features_extractor, FeatureScaling)
        return self.features_extractor, self.lstm_actor, self.action_net
