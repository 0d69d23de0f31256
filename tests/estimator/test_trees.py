"""Trees in the library's own evaluator and in ONNX Runtime: the same bits, on either side of every threshold."""

import numpy as np
import onnxruntime
import pytest
from make_test_models import OBSERVATION, finish
from tree_models import LEVELS, random_tree

from weir import _core


def answers_of_both(content: bytes, observations) -> tuple[list[float], list[float]]:
    policy = _core.Policy(content)
    assert not policy.needs_onnxruntime
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    ours = [policy.run(observation.tolist())[0] for observation in observations]
    theirs = [float(session.run(["action"], {"observation": [observation]})[0][0, 0]) for observation in observations]
    return ours, theirs


@pytest.mark.parametrize(("seed", "leaves"), [(3, 2), (4, 3), (5, 20), (6, 100), (7, 500), (8, 4000)])
def test_both_evaluators_answer_alike(seed, leaves):
    model, thresholds = random_tree(seed, leaves, OBSERVATION)
    chance = np.random.default_rng(seed)
    at = np.stack([chance.choice(row, 500) for row in thresholds], axis=1)
    above = np.nextafter(at, np.float32(np.inf))
    anywhere = (10.0 ** chance.uniform(-5, 8, (500, OBSERVATION))).astype(np.float32)
    observations = np.concatenate((at, above, np.where(chance.random(at.shape) < 0.5, at, above), anywhere, -anywhere))
    ours, theirs = answers_of_both(finish(model, "log_rate"), observations)
    assert ours == theirs
    assert set(ours) <= set(LEVELS.tolist())
    assert len(set(ours)) > 1
