"""What the ways to say a path's kind, and students of all sorts, come to on made-up flows."""

import json
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

pytest.importorskip("sklearn", reason="needs the extra `trees`")
pytest.importorskip("stable_baselines3", reason="needs the extra `train`")

import weir.trainer
from weir.trainer.cli import add_experiments
from weir.trainer.muses import kind_assignments, path_kinds
from weir.trainer.muses.extraction import find_kinds
from weir.trainer.muses.flows import Flows
from weir.trainer.muses.path_kinds import Judged, _Comparison
from weir.trainer.muses.students import Size

SHIPPED = Path(weir.trainer.__file__).parent / "models" / "weir.onnx"
STATES = 4
INTERVALS = 210


def made_up(paths, split, seed):
    """Flows on paths of two kinds that the first state tells; the action is the third state, of one kind with the other
    sign.
    """
    generator = np.random.default_rng(seed)
    kinds = np.repeat(np.arange(paths) % 2, 2)
    inputs = generator.uniform(-1, 1, (2 * paths, INTERVALS, STATES + 3)).astype(np.float32)
    inputs[..., 0] += 4.0 * kinds[:, None]
    actions = np.where(kinds == 1, 1.0, -1.0)[:, None] * inputs[..., 2]
    names = [f"random-{split}-{number // 2}" for number in range(2 * paths)]
    return Flows(inputs, actions.astype(np.float32), tuple(names))


@pytest.fixture(scope="module")
def flows():
    return made_up(40, "train", 1)


@pytest.fixture(scope="module")
def found(flows):
    return find_kinds(flows, STATES, 100, (2,), 1)


def true_kinds(flows, kinds):
    """Whether each flow's kind is its own all along, whatever the number of it."""
    per_flow = np.arange(len(flows.actions)) // 2 % 2
    known = kinds > 0
    return [set(kinds[per_flow == one][known[per_flow == one]]) for one in (0, 1)]


def test_every_way_to_know_the_kind_tells_the_two_sorts_of_path_apart(flows, found):
    decomposition, selector = found
    own = kind_assignments.own_kind(decomposition, selector, flows)
    assert (own[:, 200:] == 0).all()
    chosen = kind_assignments.by_selector(selector, flows)
    logistic = kind_assignments.by_selector(kind_assignments.logistic(decomposition, selector, flows), flows)
    for kinds in (own, chosen, logistic, kind_assignments.first_choice(chosen)):
        one, other = true_kinds(flows, kinds)
        assert len(one) == len(other) == 1
        assert one != other
    assert kind_assignments.among_two_nearest(decomposition, selector, flows) == 1.0


def test_paths_are_dealt_out_evenly_and_both_flows_of_one_together(flows):
    dealt = kind_assignments.at_random(4, flows, np.random.default_rng(1))
    assert (dealt[::2] == dealt[1::2]).all()
    assert np.bincount(dealt[::2, 0]).tolist() == [0, 10, 10, 10, 10]


def test_the_first_choice_holds_from_when_it_is_made():
    kinds = np.array([[0, 0, 2, 2, 1], [0, 0, 0, 0, 0], [3, 1, 1, 1, 1]])
    assert kind_assignments.first_choice(kinds).tolist() == [[0, 0, 2, 2, 2], [0, 0, 0, 0, 0], [3, 3, 3, 3, 3]]


def test_dynamics_are_those_the_random_domain_drew(flows):
    kinds, names = kind_assignments.dynamics(flows)
    assert set(names) <= {"constant", "step", "cellular", "wifi", "ramp", "handover", "sawtooth", "outage"}
    assert kinds.min() == 1
    assert kinds.max() == len(names)


def test_students_of_two_sorts_of_path_are_nearer_than_one_for_both(flows, monkeypatch):
    monkeypatch.setattr(path_kinds, "TREE", Size(1, 8))
    monkeypatch.setattr(path_kinds, "SUM", Size(4, 4))
    monkeypatch.setattr(path_kinds, "LARGE_SUM", Size(8, 8))
    monkeypatch.setattr(path_kinds, "OTHER_LEAVES", (4,))
    monkeypatch.setattr(path_kinds, "KINDS", ((2,),))
    unseen = made_up(12, "held_out", 2)
    judged = {one.name: one for one in _Comparison(flows, unseen, STATES, 100, 1).all()}
    assert judged["one tree of 8 leaves"].gain is None
    assert judged["2 kinds"].explained > judged["one tree of 8 leaves"].explained
    assert judged["... the window's own kind, known"].gain[1] > 0
    assert judged["... the window's own kind, known"].explained > judged["... paths dealt out at random"].explained
    assert judged["2 kinds"].among_two_nearest == 1.0
    for one in judged.values():
        assert one.gain is None or one.gain[1] <= one.gain[0] <= one.gain[2]


def test_an_interrupted_comparison_keeps_what_was_judged(monkeypatch, tmp_path):
    def judge(*arguments, on_progress):
        yield Judged("one tree", 499, 0.8, None)
        yield Judged("two kinds", 999, 0.81, (0.01, -0.01, 0.02), among_two_nearest=1.0)
        raise KeyboardInterrupt

    monkeypatch.setattr(path_kinds, "judge_path_kinds", judge)
    app = typer.Typer()
    add_experiments(app)
    ended = CliRunner().invoke(app, ["path-kinds", str(SHIPPED), "--out", str(tmp_path / "kinds")])
    assert ended.exit_code == 1
    assert "+0.010 [-0.010, +0.020]" in ended.output
    document = json.loads((tmp_path / "kinds" / "path_kinds.json").read_text())
    assert document["interrupted"]
    assert [one["name"] for one in document["variants"]] == ["one tree", "two kinds"]
