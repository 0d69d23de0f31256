"""`weir experiment send-side` with the stand-in for weir-sim, and its rows against scores made by hand."""

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from weir.errors import InputError
from weir.qoe_eval.experiments.send_side.experiment import SETS, other_model_rows, send_side_row, send_side_sets
from weir.trainer import SHIPPED_MODEL


@pytest.fixture
def weir(tmp_path, fake_simulator, monkeypatch, run_weir):
    """Runs `weir experiment send-side ARGUMENTS`; returns status, standard output, standard error."""
    monkeypatch.delenv("WEIR_SHARED", raising=False)
    (tmp_path / "m.onnx").write_bytes(b"model")
    return partial(run_weir, "experiment", "send-side", "--model", "m.onnx", "--out", "out")


def record(scenario, controller, score, seed=1):
    metrics = {"run": {"challenge": score}, "flows": []}
    return {"scenario": scenario, "controller": controller, "seed": seed, "metrics": metrics}


def scores(**by_controller):
    return [
        record(f"s{i}", name.replace("_", "-"), score + i) for name, score in by_controller.items() for i in range(8)
    ]


def test_rows_of_the_chosen_sets(weir, tmp_path):
    status, out, error = weir("--set", "random", "--set", "start", "--scenarios", "7", "--json")
    assert (status, error) == (0, "")
    document = json.loads(out)
    assert document == json.loads((tmp_path / "out/send_side.json").read_text())
    assert [row["name"] for row in document["rows"]] == ["random", "start"]
    assert document["run"]["runs"] == 3 * (7 + 16)
    # The stand-in's weir is better than a controller that it does not know.
    assert all(row["value"] < -1 and not row["reached"] for row in document["rows"])
    assert "7 scenarios" in document["rows"][0]["detail"]
    status, out, _ = weir("--set", "random", "--set", "start", "--scenarios", "7")
    assert status == 0
    assert "random: challenge score at the sender less that at the receiver" in out
    assert "69 runs" in out


def test_sets_without_traces_are_not_measured(weir):
    status, out, _ = weir("--set", "opennetlab", "--set", "start", "--json")
    rows = json.loads(out)["rows"]
    assert status == 0
    assert (rows[0]["reached"], rows[0]["reason"]) == (None, "no such run")
    assert rows[1]["reached"] is not None


def test_refuses_a_set_that_is_not(weir):
    status, _, error = weir("--set", "nowhere")
    assert status == 2
    assert "--set nowhere: there is none; one of catalogue, random" in error


@pytest.mark.parametrize(("at_sender", "reached"), [(89.0, True), (88.9, False), (95.0, True)])
def test_the_goal_is_within_a_point(at_sender, reached):
    row = send_side_row("random", scores(weir=90.0, gcc=80.0, weir_send=at_sender))
    assert row.reached is reached
    assert row.value == pytest.approx(at_sender - 90)
    assert row.figures == pytest.approx({"weir-send": at_sender + 3.5, "weir": 93.5, "gcc": 83.5})


def test_other_models_at_the_sender(weir, tmp_path):
    shutil.copy(SHIPPED_MODEL, tmp_path / "other.onnx")
    status, out, _ = weir("--set", "random", "--set", "start", "--scenarios", "7", "--other-model", "other.onnx")
    document = json.loads((tmp_path / "out/send_side.json").read_text())
    assert status == 0
    assert document["run"]["runs"] == 4 * (7 + 16)
    assert [row["name"] for row in document["rows"]][2:] == ["random, other", "start, other", "together, other"]
    assert "random: challenge score of other at the sender less the model's" in out
    status, _, error = weir("--set", "start", "--other-model", "missing.onnx")
    assert status == 2
    assert "missing.onnx" in error
    (tmp_path / "text.onnx").write_text("no model")
    status, _, error = weir("--set", "start", "--other-model", "text.onnx")
    assert status == 2
    assert "text.onnx: is not an ONNX model" in error


def test_what_another_model_gains():
    start, random = scores(weir_send=80.0, weir=90.0), [record("r", "weir-send", 70.0)]
    of_start = [record(one["scenario"], "weir-send", one["metrics"]["run"]["challenge"] + 1) for one in start[:8]]
    rows = other_model_rows("other", ["start", "random"], [start, random], [of_start, [record("r", "weir-send", 52.0)]])
    assert [row.value for row in rows] == pytest.approx([1.0, -18.0, (8 - 18) / 9])
    assert [row.reached for row in rows] == [True, False, False]
    assert rows[0].figures["ci95"] == pytest.approx((1.0, 1.0))
    assert rows[0].detail == "+1.00 [+1.00, +1.00]; better in 8 of 8 scenarios"
    assert other_model_rows("other", ["start"], [start], [[]])[0].reached is None


def test_without_a_rival_there_is_no_measurement():
    assert send_side_row("random", scores(weir_send=90.0, weir=90.0)).reached is None


def test_all_sets_are_there():
    sets = send_side_sets(None, 3, [])
    assert tuple(sets) == SETS
    assert [len(sets[name]) for name in ("random", "opennetlab", "mahimahi")] == [3, 0, 0]
    assert all(some for name, some in sets.items() if name not in ("opennetlab", "mahimahi"))
    with pytest.raises(InputError):
        send_side_sets(Path("/nowhere"), 3, [])
