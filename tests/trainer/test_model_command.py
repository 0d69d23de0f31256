"""The results in a model's card: a replay's means and differences. Models of the MMSys 2024 challenge."""

import json
import os
import re
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from weir_cli.errors import InputError
from weir_eval.records.summary import Summary
from weir_sim.installed import shipped_model
from weir_train.model.card import replay_results
from weir_train.model_command import model as model_command


def summary(**changes):
    spread = {"p5": 0.0, "p95": 0.0, "worst": 0.0, "ci95": [None, None], "n": 1, "independent": 1}
    scores = {"weir": 91.25, "gcc": 80.5}
    controllers = {name: {"challenge": {"mean": score} | spread} for name, score in scores.items()}
    document = {"run": {}, "metrics": {}, "controllers": controllers, "scenarios": {"a": {}, "b": {}}, "paired": []}
    return document | changes


def test_means_and_differences():
    weir = {"a": "weir", "metric": "challenge", "losses": 1}
    paired = [
        weir | {"b": "gcc", "mean": 10.75, "ci95": [9.0, 12.0], "wins": 6, "independent": 7, "n": 14},
        weir | {"b": "scream", "mean": 1.5, "ci95": [None, None], "wins": 2, "independent": 3, "n": 6},
    ]
    results = replay_results(Summary.model_validate(summary(paired=paired)))
    assert "2 scenarios" in results
    assert re.search(r"\| weir \|(  \|)+ 91\.25 \|", results)
    # The words of the terminal and of the page.
    assert "weir against gcc, 7 independent scenarios, 2 seeds each; differences paired by scenario" in results
    assert "- Challenge score +10.8 [+9.0, +12.0]: better in 6, worse in 1, level in 0\n" in results
    assert "- Challenge score +1.5: better in 2, worse in 1" in results


def test_the_command_writes_the_card(tmp_path):
    model, results = tmp_path / "weir.onnx", tmp_path / "summary.json"
    shutil.copy(shipped_model(), model)
    results.write_text(json.dumps(summary()))
    model_command(model, card=True, summary=results)
    card = model.with_suffix(".md").read_text()
    assert "91.25" in card
    for text in ("{", "[]", "{}", json.dumps(summary(controllers=5)), json.dumps(summary(paired=[{"a": 5}]))):
        results.write_text(text)
        with pytest.raises(InputError, match=r"summary\.json"):
            model_command(model, card=True, summary=results)


@pytest.fixture
def challenge_model(tmp_path):
    """A model with the tensors of the MMSys 2024 challenge: the newest receive rate, and a deviation of 0."""

    def tensor(name, *shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    weights = np.zeros((150, 2), np.float32)
    weights[0, 0] = 1
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["obs", "weights"], ["output"]),
            helper.make_node("Identity", ["hidden_states"], ["state_out"]),
            helper.make_node("Identity", ["cell_states"], ["cell_out"]),
        ],
        "challenge",
        [tensor("obs", 1, 1, 150), tensor("hidden_states", 1, 1), tensor("cell_states", 1, 1)],
        [tensor("output", 1, 1, 2), tensor("state_out", 1, 1), tensor("cell_out", 1, 1)],
        [onnx.numpy_helper.from_array(weights, "weights")],
    )
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "toy.onnx"
    )
    return tmp_path / "toy.onnx"


def check_shown(model, run_weir):
    status, out, error = run_weir("model", model, "--json")
    assert (status, error) == (0, "")
    shown = json.loads(out)
    assert (shown["format"], shown["bytes"], shown["interval_ms"]) == ("mmsys2024", model.stat().st_size, 60)
    assert shown["inputs"] == {"obs": [1, 1, 150], "hidden_states": [1, 1], "cell_states": [1, 1]}
    assert shown["outputs"] == {"output": [1, 1, 2], "state_out": [1, 1], "cell_out": [1, 1]}
    assert shown["computed_by"] in ("the library", "ONNX Runtime")
    assert "weir replay --controller FILE" in shown["use"]
    status, out, _ = run_weir("model", model)
    assert status == 0
    assert out.splitlines()[1].split() == ["format:", "mmsys2024"]


def test_a_challenge_model_is_shown(challenge_model, run_weir):
    check_shown(challenge_model, run_weir)


def test_the_baseline_of_the_challenge_is_shown(run_weir):
    shared = os.environ.get("WEIR_SHARED")
    if shared is None:
        pytest.skip("WEIR_SHARED is not set: no models/mmsys24_baseline.onnx")
    check_shown(Path(shared) / "models" / "mmsys24_baseline.onnx", run_weir)


def test_a_challenge_model_has_no_card(challenge_model, run_weir):
    status, _, error = run_weir("model", challenge_model, "--card")
    assert status == 2
    assert error == (
        f"weir: {challenge_model}: is a model of the MMSys 2024 challenge, without Weir's metadata; give a file "
        "written by `weir export`\n"
    )
    assert not challenge_model.with_suffix(".md").exists()
