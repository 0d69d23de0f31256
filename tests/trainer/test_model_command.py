"""The results in a model's card: a replay's means and differences."""

import json
import shutil

import pytest

from weir.errors import InputError
from weir.installation import shipped_model
from weir.qoe_eval.records import Summary
from weir.trainer.model.card import replay_results
from weir.trainer.model_command import model as model_command


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
    for text in ("| weir |  |  |  |  | 91.25 |", "2 scenarios"):
        assert text in results
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
