"""V-trace against the sums of the paper, written out term by term."""

import pytest

torch = pytest.importorskip("torch", reason="needs weir-train[learning]")

from weir_papers.mvfst.vtrace import vtrace  # noqa: E402

COUNT, STEPS, GAMMA = 40, 12, 0.95


@pytest.fixture
def trajectories():
    generator = torch.Generator().manual_seed(7)

    def draw(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    values = draw(COUNT, STEPS + 1)
    ended = torch.rand(COUNT, STEPS, generator=generator) < 0.15
    next_values = torch.where(ended, draw(COUNT, STEPS), values[:, 1:])
    return {
        "log_ratios": draw(COUNT, STEPS),
        "rewards": draw(COUNT, STEPS),
        "values": values[:, :-1],
        "next_values": next_values,
        "ended": ended,
    }


def written_out(log_ratios, rewards, values, next_values, ended):
    """Equation 1 and the advantages of section 4.2 (Espeholt et al. 2018), every product and sum by itself."""
    ratio = log_ratios.exp()
    rho = c = ratio.clamp(max=1.0)
    targets, advantages = torch.zeros_like(values), torch.zeros_like(values)
    for n in range(COUNT):
        for s in range(STEPS):
            targets[n, s] = values[n, s]
            for t in range(s, STEPS):
                product = 1.0
                for i in range(s, t):
                    product *= float(c[n, i])
                difference = rewards[n, t] + GAMMA * next_values[n, t] - values[n, t]
                targets[n, s] += GAMMA ** (t - s) * product * rho[n, t] * difference
                if ended[n, t]:
                    break
        for s in range(STEPS):
            last = s == STEPS - 1 or bool(ended[n, s])
            following = next_values[n, s] if last else targets[n, s + 1]
            advantages[n, s] = rewards[n, s] + GAMMA * following - values[n, s]
    return targets, advantages


def test_vtrace_equals_the_written_out_sums(trajectories):
    found = vtrace(**trajectories, gamma=GAMMA)
    expected = written_out(**trajectories)
    for values, sums in zip((found.targets, found.advantages), expected, strict=True):
        torch.testing.assert_close(values, sums, atol=1e-6, rtol=0.0)


def test_with_the_policy_that_acted_targets_are_returns_of_n_steps(trajectories):
    trajectories["log_ratios"] = torch.zeros(COUNT, STEPS, dtype=torch.float64)
    found = vtrace(**trajectories, gamma=GAMMA)
    returns = torch.empty(COUNT, STEPS, dtype=torch.float64)
    for n in range(COUNT):
        for s in range(STEPS):
            ends = [t for t in range(s, STEPS) if trajectories["ended"][n, t]]
            last = ends[0] if ends else STEPS - 1
            rewards = sum(GAMMA ** (t - s) * trajectories["rewards"][n, t] for t in range(s, last + 1))
            returns[n, s] = rewards + GAMMA ** (last + 1 - s) * trajectories["next_values"][n, last]
    torch.testing.assert_close(found.targets, returns, atol=1e-6, rtol=0.0)


def test_nothing_is_differentiated(trajectories):
    trajectories["log_ratios"].requires_grad_()
    trajectories["values"] = trajectories["values"].clone().requires_grad_()
    found = vtrace(**trajectories, gamma=GAMMA)
    assert not found.targets.requires_grad
    assert not found.advantages.requires_grad
