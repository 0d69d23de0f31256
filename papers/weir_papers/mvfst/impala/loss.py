"""The loss of IMPALA: policy gradient with V-trace, regression of the critic, entropy.

As with PPO, an action no longer counts when its probability has changed by `clip_range` in the direction of its
advantage: without that, policies drift away before the critic is of use.
"""

from __future__ import annotations

import torch

from weir_papers.mvfst.impala.configuration import ImpalaSettings
from weir_papers.mvfst.impala.vtrace import Vtrace, vtrace


def scaled_vtrace(
    settings: ImpalaSettings,
    *,
    log_ratios: torch.Tensor,
    rewards: torch.Tensor,
    values: torch.Tensor,
    final_values: torch.Tensor,
    ended: torch.Tensor,
) -> Vtrace:
    """V-trace of N trajectories of T steps with normalized advantages. Values are in units of a reward, (1 - gamma) of
    the return, which a fresh critic reaches in few updates.

    Args:
        settings: of the algorithm.
        log_ratios: see `vtrace`.
        rewards: (N, T).
        values: the critic's, (N, T + 1).
        final_values: the value after the last step of an episode: 0 where it terminated; (N, T), read where `ended`.
        ended: true where an episode ended, (N, T) of bool.
    """
    found = vtrace(
        log_ratios,
        (1.0 - settings.gamma) * rewards,
        values[:, :-1],
        torch.where(ended, final_values, values[:, 1:]),
        ended,
        gamma=settings.gamma,
        trace_decay=settings.trace_decay,
        ratio_limit=settings.ratio_limit,
    )
    advantages = (found.advantages - found.advantages.mean()) / (found.advantages.std() + 1e-8)
    return Vtrace(found.targets, advantages)


def impala_loss(
    settings: ImpalaSettings,
    *,
    log_probabilities: torch.Tensor,
    acted_log_probabilities: torch.Tensor,
    entropy: torch.Tensor,
    values: torch.Tensor,
    targets: torch.Tensor,
    advantages: torch.Tensor,
    entropy_coefficient: float,
) -> torch.Tensor:
    """The loss of a batch of steps; every tensor is (B,).

    Args:
        settings: of the algorithm.
        log_probabilities: of the actions under the learner's policy.
        acted_log_probabilities: of the actions under the policy that acted.
        entropy: of the learner's policy.
        values: the critic's.
        targets: see `scaled_vtrace`.
        advantages: see `scaled_vtrace`.
        entropy_coefficient: at present.
    """
    ratios = (log_probabilities.detach() - acted_log_probabilities).exp()
    far = torch.where(advantages > 0, ratios > 1.0 + settings.clip_range, ratios < 1.0 - settings.clip_range)
    weights = ratios.clamp(max=settings.ratio_limit) * ~far
    policy_loss = -(weights * advantages * log_probabilities).mean()
    value_loss = torch.nn.functional.mse_loss(values, targets)
    return policy_loss + settings.value_coefficient * value_loss - entropy_coefficient * entropy.mean()
