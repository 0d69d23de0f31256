"""The results in a model's card: a replay's means and differences, and goals."""

import json
import shutil

import pytest

from weir.errors import InputError
from weir.qoe_eval.model import MEASURES, goal_results, replay_results
from weir.qoe_eval.model import model as model_command
from weir.qoe_eval.runs.options import shipped_model

GOALS = {
    "schema": "weir.policy/1", "run": {"command": "weir experiment policy"}, "reached": 1, "decided": 2,
    "rows": [
        {"what": "first", "measured": "2.00", "reached": True, "goal": {"text": "at least 1"}},
        {"what": "second", "measured": "0.50", "reached": False, "goal": {"text": "at least 1"}},
        {"what": "third", "measured": "", "reached": None, "goal": {"text": "at least 1"}},
    ],
}  # fmt: skip


def test_means_and_differences():
    summary = {
        "controllers": {"weir": {"challenge": {"mean": 91.25}}, "gcc": {"challenge": {"mean": 80.5}}},
        "scenarios": {"a": {}, "b": {}},
        "paired": [
            {
                "a": "weir",
                "b": "gcc",
                "metric": "challenge",
                "mean": 10.75,
                "ci95": [9.0, 12.0],
                "wins": 6,
                "independent": 7,
                "n": 14,
            },
            {
                "a": "weir",
                "b": "rule",
                "metric": "challenge",
                "mean": 1.5,
                "ci95": [None, None],
                "wins": 2,
                "independent": 3,
                "n": 6,
            },
        ],
    }
    results = replay_results(summary, "summary.json")
    for text in ("| weir | 91.25 |", "2 scenarios"):
        assert text in results
    # The words of the terminal and of the page.
    assert (
        "- weir - gcc: challenge +10.8 [+9.0, +12.0]; more challenge in 6 of 7 independent scenarios, 2 seeds each"
        in results
    )
    assert "- weir - rule: challenge +1.5 (too few scenarios for an interval (3)); more challenge in 2 of 3" in results


def test_goals_that_are_missed_are_listed():
    results = goal_results(GOALS, "policy.json")
    assert "`weir experiment policy`" in results
    assert "1 of 2 goals reached" in results
    assert "- missed: second: 0.50 (goal: at least 1)" in results
    assert "first" not in results
    with pytest.raises(InputError, match=r"policy\.json: is not"):
        goal_results({"rows": 3}, "policy.json")


def test_the_command_writes_the_card(tmp_path):
    model, goals, summary = tmp_path / "weir.onnx", tmp_path / "policy.json", tmp_path / "summary.json"
    shutil.copy(shipped_model(), model)
    goals.write_text(json.dumps(GOALS))
    summary.write_text(json.dumps({"controllers": {"weir": {"challenge": {"mean": 88.125}}}}))
    model_command(model, card=True, summary=summary, goals=[goals])
    card = model.with_suffix(".md").read_text()
    assert "88.12" in card
    assert "missed: second" in card
    for text in ("{", "[]", "{}"):
        summary.write_text(text)
        with pytest.raises(InputError, match=r"summary\.json"):
            model_command(model, card=True, summary=summary)


def test_a_measure_that_a_summary_lacks_is_named():
    summary = {"controllers": {}, "metrics": dict.fromkeys(name for name in MEASURES if name != "utilisation")}
    with pytest.raises(InputError, match="no metric utilisation; it has challenge, "):
        replay_results(summary, "summary.json")
