"""Off-policy evaluation against a decision process whose values are known."""

import numpy as np
import pytest

from weir.trainer.offline.critic import Equations, Steps, advantages, evaluate

GAMMA = 0.8
DEVIATIONS = (-1.0, -0.5, 0.0, 0.5, 1.0)


def toy_call():
    """Two states. A deviation d leads to state 1 with the probability (1 + d) / 2; the reward is the state plus d / 10.
    Every state and deviation has four transitions, that share of them to state 1.
    """
    rows = [
        (state, deviation, float(copy < 2 + 2 * deviation))
        for state in (0.0, 1.0)
        for deviation in DEVIATIONS
        for copy in range(4)
    ]
    state, deviation, after = np.array(rows).T
    one_hot = np.column_stack([1 - state, state]), np.column_stack([1 - after, after])
    return Steps(one_hot[0], deviation, state + 0.1 * deviation, one_hot[1])


def values(deviation):
    """The values of both states for a policy with that deviation, by the equations of the process."""
    probability = (1 + deviation) / 2
    transition = np.array([[1 - probability, probability]] * 2)
    return np.linalg.solve(np.eye(2) - GAMMA * transition, np.array([0.0, 1.0]) + 0.1 * deviation)


@pytest.mark.parametrize("deviation", [-1.0, 0.3, 1.0])
def test_the_estimate_is_the_known_difference(deviation):
    calls = [toy_call() for _ in range(3)]
    taken = [np.full(len(calls[0].rewards), deviation)] * 3
    found = evaluate(calls, taken, taken, resamples=20, gamma=GAMMA)
    expected = (values(deviation) - values(0.0)).mean() * (1 - GAMMA)
    assert found.difference == pytest.approx(expected, abs=2e-3)
    # All calls are the same.
    assert found.low == pytest.approx(found.high)


def test_advantages_are_those_of_the_process():
    calls = [toy_call()]
    weights = Equations(calls, [np.zeros(len(calls[0].rewards))], GAMMA).solved(np.ones(1))
    old = values(0.0)
    expected = 0.1 * 0.5 + GAMMA * 0.25 * (old[1] - old[0])
    np.testing.assert_allclose(advantages(weights, np.eye(2), np.array([0.5, 0.5])), expected, atol=2e-3)


def test_a_path_that_carries_more_is_no_effect_of_the_actions():
    """The rate is the path's, between 0 and 10, plus a fifth of the deviation before; the reward is the rate."""
    generator = np.random.default_rng(1)
    calls = []
    for level in range(11):
        deviations = generator.normal(0.0, 1.0, 51)
        rates = level + 0.2 * deviations
        features = np.column_stack([np.ones(50), rates[:-1]])
        calls.append(Steps(features, deviations[1:], rates[1:], np.column_stack([np.ones(50), rates[1:]])))
    taken = [np.full(50, 0.5)] * len(calls)
    found = evaluate(calls, taken, taken)
    assert found.difference == pytest.approx(0.1, abs=0.02)


def test_calls_that_differ_make_the_interval_wide():
    noise = np.random.default_rng(1)
    calls = []
    for _ in range(8):
        call = toy_call()
        gain = noise.normal(0.0, 1.0)
        calls.append(Steps(call.features, call.deviations, call.rewards + gain * call.deviations, call.next_features))
    taken = [np.full(len(calls[0].rewards), 0.5)] * 8
    found = evaluate(calls, taken, taken, gamma=GAMMA)
    assert found.low < found.difference < found.high
    assert found.high - found.low > 0.1
