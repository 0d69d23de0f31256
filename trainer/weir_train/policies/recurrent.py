"""A recurrent policy with LSTM layers, as in Muses' teacher (INFOCOM 2022, section II-C), after the scaling and MOCC's
preference layer, and its deployed part.
"""

from __future__ import annotations

import math
from typing import Final

import torch
from torch import nn

from weir_train.gym.specification import EnvironmentSpecification
from weir_train.policies.feature_scaling import FeatureScaling
from weir_train.policies.networks import DeployablePolicy, DeployedPolicy

# Muses' seven actions, here as factors of the rule's rate.
FACTORS: Final = (1 / 2, 1 / 1.2, 1 / 1.05, 1.0, 1.05, 1.2, 2.0)


class RecurrentActor(nn.Module):
    """Maps scaled inputs, the objective last, to latents in (-1, 1), interval by interval.

    A state has the outputs h of all layers, then the cells c: `state_size` numbers, zeros at the start of a call.
    """

    def __init__(self, input_size: int, preference_size: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.preference = nn.Sequential(nn.Linear(3, preference_size), nn.Tanh())
        self.cells = nn.LSTM(input_size - 3 + preference_size, hidden, layers, batch_first=True)
        self.state_size = 2 * layers * hidden

    def forward(self, inputs: torch.Tensor, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Maps (N, T, input_size) and (N, state_size) to (N, T, hidden) and the state after them."""
        shape = len(state), 2, self.cells.num_layers, self.cells.hidden_size
        outputs, cells = state.reshape(shape).permute(1, 2, 0, 3).contiguous()
        features = torch.cat([inputs[..., :-3], self.preference(inputs[..., -3:])], dim=-1)
        latents, after = self.cells(features, (outputs, cells))
        return latents, torch.stack(after).permute(2, 0, 1, 3).reshape(state.shape)


class LevelHead(nn.Module):
    """Maps latents to the mean of a distribution over levels of the action. It learns like a classifier, but its output
    does not jump between levels, so that all runtimes agree.
    """

    levels: torch.Tensor

    def __init__(self, hidden: int, levels: tuple[float, ...]) -> None:
        super().__init__()
        self.scores = nn.Linear(hidden, len(levels))
        self.register_buffer("levels", torch.tensor(levels)[:, None], persistent=False)

    def forward(self, latents: torch.Tensor) -> torch.Tensor:
        """Maps (..., hidden) to (..., 1)."""
        return torch.softmax(self.scores(latents), dim=-1) @ self.levels

    def nearest(self, actions: torch.Tensor) -> torch.Tensor:
        """Returns the index of the level nearest to each of (N,) actions."""
        return (actions[:, None] - self.levels[:, 0]).abs().argmin(dim=1)


class RecurrentPolicy(DeployablePolicy):
    """Scaling, `RecurrentActor` and `LevelHead`."""

    def __init__(
        self, specification: EnvironmentSpecification, *, preference_size: int = 8, hidden: int = 64, layers: int = 1
    ) -> None:
        super().__init__()
        self.specification = specification
        self.scaling = FeatureScaling(specification.spaces()[0], specification)
        self.actor = RecurrentActor(specification.width + 1, preference_size, hidden, layers)
        levels = tuple(math.log(factor) / math.log(specification.action.span) for factor in FACTORS)
        self.head = LevelHead(hidden, levels)
        # Makes an untrained policy equal to the rule.
        nn.init.zeros_(self.head.scores.weight)
        nn.init.zeros_(self.head.scores.bias)

    def deployed_modules(self) -> tuple[FeatureScaling, nn.Module, nn.Module]:
        """See `DeployablePolicy`."""
        return self.scaling, self.actor, self.head

    def forward(self, inputs: torch.Tensor, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Maps scaled inputs (N, T, width + 1) and a state to actions (N, T, 1) in [-1, 1] and the next state."""
        latents, state = self.actor(inputs, state)
        return self.head(latents).clamp(-1.0, 1.0), state

    def loss(
        self, inputs: torch.Tensor, state: torch.Tensor, labels: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns the mean cross entropy in nats for the levels of a teacher's labels, (N, T), except NaN, and the next
        state. Zero without labels.
        """
        latents, state = self.actor(inputs, state)
        known = torch.isfinite(labels)
        if not known.any():
            return latents.sum() * 0.0, state
        scores, levels = self.head.scores(latents[known]), self.head.nearest(labels[known])
        return nn.functional.cross_entropy(scores, levels), state


class DeployedRecurrentPolicy(DeployedPolicy):
    """Like `DeployedPolicy`, with a `state` (1, S) and a `next_state` (1, S); S is `state_size`."""

    actor: RecurrentActor

    @property
    def state_size(self) -> int:
        """Length of a state."""
        return self.actor.state_size

    def forward(  # type: ignore[override]
        self, observation: torch.Tensor, objective: torch.Tensor, state: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns action and next state."""
        inputs = self.scaling(torch.cat([observation, objective], dim=1))
        latents, state = self.actor(inputs[:, None], state)
        return self.answer(observation, self.head(latents[:, 0])), state
