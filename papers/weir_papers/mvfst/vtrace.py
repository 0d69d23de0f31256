"""V-trace (Espeholt et al. 2018, IMPALA, section 4.1): targets of a critic from actions of an older policy."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Vtrace:
    """Targets of the critic and advantages, (N, T)."""

    targets: torch.Tensor
    advantages: torch.Tensor


def vtrace(
    log_ratios: torch.Tensor,
    rewards: torch.Tensor,
    values: torch.Tensor,
    next_values: torch.Tensor,
    ended: torch.Tensor,
    *,
    gamma: float,
) -> Vtrace:
    """Targets and advantages of N trajectories of T steps; every tensor is (N, T), and none is differentiated.

    With rho_t = c_t = min(1, ratio_t), delta_t = rho_t (r_t + gamma next_value_t - V_t), and c_t = 0 where an episode
    ends:

    1. target_t = V_t + sum over k >= t of gamma^(k - t) (c_t ... c_(k-1)) delta_k
    2. advantage_t = r_t + gamma target_(t+1) - V_t, with next_value_t for target_(t+1) where the episode or the
       trajectory ends.

    The gradient of the policy is the mean of rho_t advantage_t times that of the action's log probability.

    Args:
        log_ratios: ln(probability under the learner's policy / under the policy that acted).
        rewards: r_t.
        values: V of the state before the step.
        next_values: V of the state after it, the episode's own last one where it was truncated, 0 where it terminated.
        ended: true where the episode ended with the step; the next step is then another episode's.
        gamma: discount.
    """
    with torch.no_grad():
        weights = log_ratios.exp().clamp(max=1.0)
        traces = gamma * weights * ~ended
        deltas = weights * (rewards + gamma * next_values - values)
        corrections = torch.empty_like(deltas)
        following = torch.zeros_like(deltas[:, 0])
        for step in reversed(range(deltas.shape[1])):
            following = deltas[:, step] + traces[:, step] * following
            corrections[:, step] = following
        targets = values + corrections
        next_targets = torch.where(ended[:, :-1], next_values[:, :-1], targets[:, 1:])
        next_targets = torch.cat([next_targets, next_values[:, -1:]], dim=1)
        return Vtrace(targets, rewards + gamma * next_targets - values)
