"""Decision trees in ONNX Runtime: a decision is the answer of the leaf, on either side of every threshold."""

import numpy as np
import pytest
from make_test_models import OBSERVATION, finish
from onnx import helper
from tree_models import LEVELS, random_tree

from weir import _core


def answer_of(tree, observation) -> float:
    """Follows the splits from the root to a leaf."""
    node = 0
    while tree["nodes_modes"][node] == b"BRANCH_LEQ":
        is_lower = observation[tree["nodes_featureids"][node]] <= np.float32(tree["nodes_values"][node])
        node = tree["nodes_truenodeids" if is_lower else "nodes_falsenodeids"][node]
    return tree["target_weights"][tree["target_nodeids"].index(node)]


@pytest.mark.parametrize(("seed", "leaves"), [(3, 2), (4, 3), (5, 20), (6, 100), (7, 500), (8, 4000)])
def test_a_decision_is_the_answer_of_the_leaf(seed, leaves):
    model, thresholds = random_tree(seed, leaves, OBSERVATION)
    policy = _core.Policy(finish(model, "log_rate"))
    assert policy.needs_onnxruntime
    chance = np.random.default_rng(seed)
    at = np.stack([chance.choice(row, 200) for row in thresholds], axis=1)
    above = np.nextafter(at, np.float32(np.inf))
    anywhere = (10.0 ** chance.uniform(-5, 8, (200, OBSERVATION))).astype(np.float32)
    observations = np.concatenate((at, above, np.where(chance.random(at.shape) < 0.5, at, above), anywhere, -anywhere))
    tree = {attribute.name: helper.get_attribute_value(attribute) for attribute in model.graph.node[-1].attribute}
    answers = [policy.run(observation.tolist())[0] for observation in observations]
    assert answers == [answer_of(tree, observation) for observation in observations]
    assert set(answers) <= set(LEVELS.tolist())
    assert len(set(answers)) > 1
