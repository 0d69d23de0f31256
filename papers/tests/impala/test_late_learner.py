"""V-trace makes up for actions that are many updates old, from which an uncorrected learner does not learn."""

from collections import deque

import pytest

torch = pytest.importorskip("torch", reason="needs weir-train[learning]")

from torch import nn  # noqa: E402

from weir_papers.mvfst.impala.configuration import ImpalaSettings  # noqa: E402
from weir_papers.mvfst.impala.loss import impala_loss, scaled_vtrace  # noqa: E402

SEEDS = (1, 2, 3)
ENVIRONMENTS, STEPS, UPDATES = 32, 16, 400
LEARNING_RATE = 2e-3
SETTINGS = ImpalaSettings(gamma=0.9, trace_decay=1.0, entropy_coefficient=0.0)


class Actor(nn.Module):
    """A Gaussian policy and a critic on a position and its target."""

    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
        self.value = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_deviation = nn.Parameter(torch.tensor(-0.5))

    def distribution(self, observations):
        return torch.distributions.Normal(self.mean(observations)[..., 0], self.log_deviation.exp())


class Positions:
    """The action is a step; the reward is 1 / (1 + d^2) at the distance d from the target, which moves at times."""

    def __init__(self):
        self.observations = torch.randn(ENVIRONMENTS, 2)

    def step(self, actions):
        position = (self.observations[:, 0] + actions.clamp(-1.0, 1.0)).clamp(-3.0, 3.0)
        rewards = 1.0 / (1.0 + (position - self.observations[:, 1]).square())
        moves = torch.rand(ENVIRONMENTS) < 0.1
        target = torch.where(moves, torch.randn(ENVIRONMENTS), self.observations[:, 1])
        self.observations = torch.stack([position, target], dim=1)
        return rewards


def fragment(policy, environments):
    """Observations (N, T + 1, 2), actions, their log probabilities and rewards (N, T)."""
    rows = []
    with torch.no_grad():
        for _ in range(STEPS):
            observations = environments.observations
            distribution = policy.distribution(observations)
            actions = distribution.sample()
            rows.append((observations, actions, distribution.log_prob(actions), environments.step(actions)))
    observations, *others = (torch.stack(column, dim=1) for column in zip(*rows, strict=True))
    return torch.cat([observations, environments.observations[:, None]], dim=1), *others


def mean_reward(policy):
    """The mean reward of the mean actions, over many steps."""
    torch.manual_seed(99)
    environments, total = Positions(), 0.0
    with torch.no_grad():
        for _ in range(200):
            total += float(environments.step(policy.mean(environments.observations)[:, 0]).mean())
    return total / 200


def learn(lag, *, corrected=True, seed=1):
    """The points, 100 times the mean reward, after learning from a policy that is `lag` updates old."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # more only wait for each other
    policy, environments = Actor(), Positions()
    optimizer = torch.optim.Adam(policy.parameters(), LEARNING_RATE)
    acting, past = Actor(), deque(maxlen=lag + 1)
    nothing = torch.zeros(ENVIRONMENTS, STEPS)
    for _ in range(UPDATES):
        past.append({name: values.clone() for name, values in policy.state_dict().items()})
        acting.load_state_dict(past[0])
        observations, actions, acted, rewards = fragment(acting, environments)
        distribution = policy.distribution(observations[:, :-1])
        log_probabilities, values = distribution.log_prob(actions), policy.value(observations)[..., 0]
        if not corrected:
            acted = log_probabilities.detach()
        found = scaled_vtrace(
            SETTINGS,
            log_ratios=log_probabilities.detach() - acted,
            rewards=rewards,
            values=values.detach(),
            final_values=nothing,
            ended=nothing > 0,
        )
        loss = impala_loss(
            SETTINGS,
            log_probabilities=log_probabilities,
            acted_log_probabilities=acted,
            entropy=nothing,
            values=values[:, :-1],
            targets=found.targets,
            advantages=found.advantages,
            entropy_coefficient=0.0,
        )
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
        optimizer.step()
    return 100.0 * mean_reward(policy)


def test_with_vtrace_actions_of_16_updates_ago_cost_half_a_point_and_without_more_than_one():
    in_time = sum(learn(0, seed=seed) for seed in SEEDS) / len(SEEDS)
    late = sum(learn(16, seed=seed) for seed in SEEDS) / len(SEEDS)
    assert in_time > 95.0
    assert late > in_time - 0.5
    assert learn(16, corrected=False) < in_time - 1.0
