"""Muses' parts on made-up numbers: kinds, their choice, trees, and the exported graph against all of them."""

import json

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs scikit-learn")
pytest.importorskip("stable_baselines3", reason="needs weir-train[learning]")

import onnxruntime

import weir
from weir_eval.model_file import read_model
from weir_papers.muses.kinds import AXES, SEGMENTS, Selector, StateAxes, decompose
from weir_papers.muses.mixture import Mixture, no_state
from weir_papers.muses.onnx_model import export
from weir_papers.muses.tree_inputs import fit_lines, tree_inputs, whole_observation
from weir_papers.muses.trees import Size, fit, grow
from weir_train.gym.specification import ActionSpecification, EnvironmentSpecification
from weir_train.model.golden_inputs import golden_inputs

SPECIFICATION = EnvironmentSpecification(100, history=4, action=ActionSpecification("around_rule"), guard=True)
SAMPLES = 5


def three_kinds(windows=60, samples=50):
    """States (N, samples, 6) around three centres, actions that are the kind's own, and the kinds 0, 1, 2."""
    generator = np.random.default_rng(1)
    kinds = np.arange(windows) % 3
    centres = np.array([[3.0, 0, 0, 1, 0, 0], [0, 3.0, 0, 0, 1, 0], [0, 0, 3.0, 0, 0, 1]])
    states = centres[kinds][:, None] + generator.normal(0, 0.3, (windows, samples, 6))
    actions = np.array([-0.8, 0.0, 0.8])[kinds][:, None] + generator.normal(0, 0.05, (windows, samples))
    return states.astype(np.float32), actions.astype(np.float32), kinds


def observations(count, seed=3):
    """Ordinary ones, (count, D), and objectives."""
    generator = np.random.default_rng(seed)
    ordinary, objectives = golden_inputs(SPECIFICATION)
    rows = generator.integers(len(ordinary), size=count)
    values = ordinary[rows] * generator.uniform(0.3, 2.0, (count, ordinary.shape[1]))
    return values.astype(np.float32), objectives[rows]


@pytest.fixture(scope="module")
def mixture():
    """Trees of three kinds that were learned from random actions, and a choice every SAMPLES intervals."""
    generator = np.random.default_rng(2)
    seen, objectives = observations(3000)
    whole = np.concatenate([seen, objectives], axis=1)
    actions = np.tanh(generator.normal(0, 0.5, len(whole))).astype(np.float32)
    lines = fit_lines(whole_observation(SPECIFICATION).of(whole), actions, 2)
    inputs = tree_inputs(SPECIFICATION, lines)
    values = inputs.of(whole).reshape(60, -1, len(inputs.names))
    answers = actions.reshape(60, -1)
    states = values[..., : inputs.state_size]
    decomposition = decompose(states, answers, [3], seed=1)
    selector = Selector.fitted(decomposition, states, decomposition.joint(states, answers), SAMPLES)
    students, _ = fit(values, answers, selector.kinds_of(states), 3, 3, 40)
    return Mixture(inputs, selector, students)


@pytest.fixture(scope="module")
def file(mixture, tmp_path_factory):
    path = tmp_path_factory.mktemp("muses") / "trees.onnx"
    export(mixture, path, provenance={"action": {"kind": "around_rule"}})
    return path


def test_kinds_are_found_and_the_best_silhouette_is_of_their_number():
    states, actions, kinds = three_kinds()
    decomposition = decompose(states, actions, range(2, 7), seed=1)
    assert max(decomposition.silhouettes, key=decomposition.silhouettes.get) == 3
    nearest = decomposition.nearest(decomposition.joint(states, actions))[:, 0]
    assert all(len(set(nearest[kinds == kind])) == 1 for kind in range(3))
    assert len(set(nearest)) == 3


def test_histograms_are_shares_and_joint_histograms_sum_to_those_of_states():
    states, actions, _ = three_kinds()
    axes = StateAxes.fitted(states.reshape(-1, 6))
    levels = np.digitize(actions, np.linspace(-0.8, 0.8, 6))
    of_states, joint = axes.histograms(states), axes.histograms(states, levels)
    np.testing.assert_allclose(of_states.reshape(-1, AXES, SEGMENTS).sum(axis=2), 1.0)
    np.testing.assert_allclose(joint.reshape(len(joint), AXES * SEGMENTS, -1).sum(axis=2), of_states)


def test_an_input_that_never_changes_leaves_the_axes_finite():
    states = np.random.default_rng(1).normal(size=(500, 6)).astype(np.float32)
    states[:, 2] = 7.0
    axes = StateAxes.fitted(states)
    assert np.isfinite(axes.weight).all()
    assert (axes.weight[2] == 0).all()


def test_states_alone_choose_the_kind_that_the_joint_histogram_is_nearest_to():
    states, actions, _ = three_kinds()
    decomposition = decompose(states[::2], actions[::2], [3], seed=1)
    selector = Selector.fitted(decomposition, states[::2], decomposition.joint(states[::2], actions[::2]), 50)
    unseen = states[1::2]
    true = decomposition.nearest(decomposition.joint(unseen, actions[1::2]))[:, 0] + 1
    assert (selector.choose(selector.axes.histograms(unseen)) == true).mean() >= 0.97


def test_a_kind_is_in_force_from_the_last_sample_it_was_chosen_by():
    states, actions, _ = three_kinds(samples=50)
    decomposition = decompose(states, actions, [3], seed=1)
    selector = Selector.fitted(decomposition, states, decomposition.joint(states, actions), 20)
    kinds = selector.kinds_of(states)
    assert (kinds[:, :19] == 0).all()
    assert (kinds[:, 19:] > 0).all()


def test_trees_answer_as_cart_does_on_float32():
    generator = np.random.default_rng(4)
    inputs = generator.normal(size=(4000, 5)).astype(np.float32)
    actions = np.where(inputs[:, 1] > 0.2, 0.5, -0.25) + 0.1 * (inputs[:, 3] > 0)
    student = grow(inputs, actions, Size(1, 8, 20))
    assert student.splits <= 7
    assert np.abs(student.decide(inputs) - actions).mean() < 0.02


def test_a_sum_of_trees_is_nearer_to_what_no_axis_cuts_than_one_of_as_many_leaves():
    generator = np.random.default_rng(6)
    inputs = generator.uniform(-1, 1, (20_000, 6)).astype(np.float32)
    actions = (inputs.sum(axis=1) / 6).astype(np.float32)
    single_tree, sum_of_ten = grow(inputs, actions, Size(1, 160, 20)), grow(inputs, actions, Size(10, 16, 20))
    assert sum_of_ten.splits <= 150
    errors = [np.abs(student.decide(inputs) - actions).mean() for student in (single_tree, sum_of_ten)]
    assert errors[1] < 0.7 * errors[0]


def test_a_tree_without_splits_outputs_zero_and_stays_a_tree_in_onnx():
    inputs = np.zeros((100, 2), np.float32)
    student = grow(inputs, np.full(100, 0.25), Size(3, 8, 20))
    assert [tree.splits for tree in student.trees] == [1, 1, 1]
    np.testing.assert_allclose(student.decide(inputs), 0.25, atol=0.005)


def test_more_leaves_and_the_right_kind_bring_students_nearer():
    generator = np.random.default_rng(5)
    inputs = generator.uniform(-1, 1, (40, 100, 3)).astype(np.float32)
    kinds = np.tile(1 + np.arange(40)[:, None] % 2, (1, 100))
    actions = (np.where(kinds == 1, 1.0, -1.0) * inputs[..., 0]).astype(np.float32)
    students, _ = fit(inputs, actions, kinds, 2, 1, 16)
    inputs_of_first = inputs[kinds == 1]
    error_of_all = np.abs(students[0].decide(inputs_of_first) - actions[kinds == 1]).mean()
    assert np.abs(students[1].decide(inputs_of_first) - actions[kinds == 1]).mean() < 0.2 < error_of_all


def test_the_graph_and_the_mixture_agree_over_many_choices(mixture, file):
    session = onnxruntime.InferenceSession(file.read_bytes(), providers=["CPUExecutionProvider"])
    policy = weir.Policy(file.read_bytes())
    state, own, seen = no_state(1), no_state(1), set()
    for observation, objective in zip(*observations(300, seed=9), strict=True):
        whole = np.concatenate([observation, objective])[None]
        action, own = mixture.decide(mixture.inputs.of(whole), own)
        expected = SPECIFICATION.wire_actions(action, whole)
        rate, state = session.run(
            ["action", "next_state"],
            {"observation": observation[None], "objective": objective[None], "state": state},
        )
        np.testing.assert_allclose(rate[0], expected, rtol=1e-4)
        np.testing.assert_allclose(policy.run(observation, objective), rate[0], rtol=1e-5)
        seen.add(int(state[0, -1]))
    assert seen == {0, 1, 2, 3}
    assert policy.needs_onnxruntime


def test_one_student_alone_has_no_state(mixture, tmp_path):
    path = tmp_path / "one.onnx"
    export(Mixture(mixture.inputs, None, mixture.students[:1]), path, provenance={})
    assert set(read_model(path).inputs) == {"observation", "objective"}
    assert weir.Policy(path.read_bytes()).needs_onnxruntime


def test_the_file_is_reproducible_and_holds_its_golden_vectors(mixture, file, tmp_path):
    again = tmp_path / "again.onnx"
    model = export(mixture, again, provenance={"action": {"kind": "around_rule"}})
    assert again.read_bytes() == file.read_bytes()
    golden = json.loads({entry.key: entry.value for entry in model.metadata_props}["weir.golden"])
    assert {vector["state"][-1] for vector in golden} >= {0.0, 1.0, 2.0, 3.0}
