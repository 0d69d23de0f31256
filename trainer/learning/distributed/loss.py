"""The loss of IMPALA: policy gradient with V-trace, regression of the critic, entropy."""

from __future__ import annotations

import torch

from weir.trainer.configuration.algorithms import ImpalaSettings
from weir.trainer.learning.distributed.vtrace import vtrace


def impala_loss(
    settings: ImpalaSettings,
    *,
    log_probabilities: torch.Tensor,
    entropy: torch.Tensor,
    values: torch.Tensor,
    acted_log_probabilities: torch.Tensor,
    rewards: torch.Tensor,
    final_values: torch.Tensor,
    ended: torch.Tensor,
    entropy_coefficient: float,
) -> torch.Tensor:
    """The loss of N trajectories of T steps. Advantages are normalized, as stable-baselines3 does for PPO, before they
    are weighted: an action that the learner's policy no longer takes must not count, whatever the mean is.

    Args:
        settings: of the algorithm.
        log_probabilities: of the actions under the learner's policy, (N, T).
        entropy: of the learner's policy, (N, T).
        values: the critic's, (N, T + 1).
        acted_log_probabilities: of the actions under the policy that acted, (N, T).
        rewards: (N, T).
        final_values: the value after the last step of an episode: 0 where it terminated; (N, T), read where `ended`.
        ended: true where an episode ended, (N, T) of bool.
        entropy_coefficient: at present.
    """
    found = vtrace(
        log_probabilities.detach() - acted_log_probabilities,
        rewards,
        values.detach()[:, :-1],
        torch.where(ended, final_values, values.detach()[:, 1:]),
        ended,
        gamma=settings.gamma,
        trace_decay=settings.trace_decay,
        ratio_limit=settings.ratio_limit,
    )
    advantages = (found.advantages - found.advantages.mean()) / (found.advantages.std() + 1e-8)
    policy_loss = -(found.weights * advantages * log_probabilities).mean()
    value_loss = torch.nn.functional.mse_loss(values[:, :-1], found.targets)
    return policy_loss + settings.value_coefficient * value_loss - entropy_coefficient * entropy.mean()
