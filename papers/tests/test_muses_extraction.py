"""Muses from the shipped teacher to a model file, with the simulator and few flows."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("sklearn", reason="needs scikit-learn")
pytest.importorskip("stable_baselines3", reason="needs weir-train[learning]")

import weir
from weir_cli.app import build_app
from weir_papers.muses.extraction import find_kinds
from weir_papers.muses.flows import Flows, twins, windows

TEACHER = weir.shipped_model_path()
INTERVALS, SAMPLES, STATES = 20, 10, 4
app = build_app()


@pytest.fixture(scope="module")
def model(tmp_path_factory, real_simulator):
    """The smallest mixture: 8 flows of 2 s, 2 kinds, trees of 6 leaves, one round under the trees; from the mean of a
    model and itself.
    """
    out = tmp_path_factory.mktemp("muses")
    words = (
        f"paper muses {TEACHER} {TEACHER} --out {out} --extract-only --flows 8 --duration 2 --environments 8 --rounds 1"
    )
    kinds = ["--environments", "8", "--kinds", "2", "--leaves", "6", "--interval", "0.5", "--lines", "2"]
    result = CliRunner().invoke(app, [*words.split(), *kinds])
    assert result.exit_code == 0, result.output
    return out / "muses.onnx"


def test_a_teacher_becomes_a_model_that_runs_in_onnx_runtime(model):
    policy = weir.Policy(model.read_bytes())
    assert policy.needs_onnxruntime
    assert policy.description["state_size"] == 32


def test_the_provenance_has_the_kinds_and_how_often_they_are_chosen_rightly(model):
    shown = CliRunner().invoke(app, ["model", str(model), "--json"])
    assert shown.exit_code == 0, shown.output
    reported = json.loads(shown.stdout)["provenance"]["muses"]
    assert [kind["kind"] for kind in reported["kinds"]] == [0, 1, 2]
    assert sum(kind["share"] for kind in reported["kinds"][1:]) == pytest.approx(1.0)
    assert reported["tree_bytes"] == 8 * (sum(kind["splits"] for kind in reported["kinds"]) + 2)
    # With two kinds, every choice is among the two nearest.
    assert reported["held_out"]["chosen_among_two_nearest"] == 1.0
    assert 0.0 <= reported["held_out"]["chosen_nearest"] <= 1.0


def test_wrong_use_is_one_message(tmp_path, run_weir):
    (tmp_path / "teacher.onnx").write_bytes(b"no model")
    small = ("--out", "out", "--extract-only")
    status, _, error = run_weir("paper", "muses", "teacher.onnx", *small)
    assert (status, "is not an ONNX model" in error) == (2, True)
    for option, value in (("--kinds", "many"), ("--environments", "3")):
        status, _, error = run_weir("paper", "muses", TEACHER, *small, option, value)
        assert (status, f"{option} {value}" in error) == (2, True)


def test_windows_and_their_twins_keep_their_order():
    values = np.arange(4 * 25).reshape(4, 25)
    cut = windows(values, 10)
    assert cut.shape == (8, 10)
    np.testing.assert_array_equal(cut[:, 0], [0, 10, 25, 35, 50, 60, 75, 85])
    np.testing.assert_array_equal(twins(cut, 4)[:, 0], [0, 10, 0, 10, 50, 60, 50, 60])


def test_what_the_objective_does_to_states_does_not_change_the_kind():
    generator = np.random.default_rng(1)
    paths = np.repeat(np.arange(40) % 2, 2)
    states = generator.normal(0, 0.2, (80, INTERVALS, STATES)).astype(np.float32)
    states[paths == 1, :, 0] += 3.0
    states[1::2, :, 1] += 1.5
    actions = np.where(paths == 1, 0.6, -0.6)[:, None] + generator.normal(0, 0.05, (80, INTERVALS))
    actions[1::2] = 0.0
    inputs = np.concatenate([states, np.zeros((80, INTERVALS, 3), np.float32)], axis=2)
    flows = Flows(inputs, actions.astype(np.float32), tuple(map(str, paths)))
    _, selector = find_kinds(flows, STATES, SAMPLES, [2], seed=1)
    kinds = selector.kinds_of(states)[:, -1]
    np.testing.assert_array_equal(kinds[::2], kinds[1::2])
    assert len(set(kinds[paths == 0])) == len(set(kinds[paths == 1])) == 1
    assert len(set(kinds)) == 2
