"""V-trace makes up for actions that are many updates old, from which an uncorrected learner does not learn."""

import pytest

pytest.importorskip("torch", reason="needs the extra `train`")

from late_learner import learn

SEEDS = (1, 2, 3)


def test_with_vtrace_actions_of_16_updates_ago_cost_half_a_point_and_without_more_than_one():
    in_time = sum(learn(0, seed=seed) for seed in SEEDS) / len(SEEDS)
    late = sum(learn(16, seed=seed) for seed in SEEDS) / len(SEEDS)
    assert in_time > 95.0
    assert late > in_time - 0.5
    assert learn(16, corrected=False) < in_time - 1.0
