"""`weir experiment trust` with the stand-in for weir-sim, its goals against results made by hand, and its models."""

import json
import math
from pathlib import Path

import onnx
import pytest

import weir.trainer
from weir.errors import InputError
from weir.qoe_eval.experiments.trust.broken_models import MAX_BPS, MIN_BPS, write_broken_models
from weir.qoe_eval.experiments.trust.experiment import HEALTHY, TrustResults, pool_lines, trust_sets
from weir.qoe_eval.experiments.trust.rows import TRAINED_60S, trust_rows

NAMES = ["maximum", "minimum", "random", "nan", "alternating", "shuffled"]


def record(controller, challenge, seat=1.0):
    flow = {"pool": {"members": [{"pilot_share": seat}]}}
    return {"controller": controller, "metrics": {"run": {"challenge": challenge}}, "flows": [flow]}


@pytest.fixture
def models(tmp_path):
    """Where each broken model is."""
    return write_broken_models(tmp_path / "models", weir.trainer.SHIPPED_MODEL)


def test_the_library_loads_what_is_broken(models):
    core = pytest.importorskip("weir._core", reason="the library's Python module is not built")
    assert list(models) == NAMES

    def answers(name):
        policy = core.Policy(models[name].read_bytes())
        return [policy.run([1e6], (0.4, 0.5, 0.1))[0] for _ in range(200)]

    assert answers("maximum") == pytest.approx([MAX_BPS] * 200)
    assert answers("minimum") == pytest.approx([MIN_BPS] * 200)
    assert answers("alternating") == pytest.approx([MAX_BPS, MIN_BPS] * 100)
    logarithms = [math.log(rate / MIN_BPS) / math.log(MAX_BPS / MIN_BPS) for rate in answers("random")]
    assert 0 <= min(logarithms) < 0.1
    assert 0.9 < max(logarithms) <= 1
    assert len(set(logarithms)) == 200
    with pytest.raises(ValueError, match="finite"):
        answers("nan")
    assert core.Policy(models["shuffled"].read_bytes()).description


def test_the_shuffled_one_names_its_features_in_another_order(models):
    shuffled, healthy = (
        {entry.key: entry.value for entry in onnx.load(file).metadata_props}
        for file in (models["shuffled"], weir.trainer.SHIPPED_MODEL)
    )
    assert shuffled["weir.features"] != healthy["weir.features"]
    assert sorted(shuffled["weir.features"].split(",")) == sorted(healthy["weir.features"].split(","))
    # These belong to the network's inputs.
    assert shuffled["weir.ranges"] == healthy["weir.ranges"]


def test_goals():
    lines = {HEALTHY: "h", "maximum": "m"}
    records = {
        "random": [
            record("weir", 80),
            record("nada", 70),
            record("rule", 75),
            record("h", 79.9, 0.98),
            record("m", 72),
        ],
        "tcp": [record("weir", 60), record("nada", 62), record("rule", 50), record("h", 60.1), record("m", 58.28)],
    }
    rows = {row.name: row for row in trust_rows(TrustResults(lines, records))}
    assert rows["maximum"].value == pytest.approx(58.28 / 62 - 1)
    assert rows["maximum"].measured == "-6.0 %"
    assert not rows["maximum"].reached
    assert rows[TRAINED_60S].reached is None
    assert rows["healthy_seat"].value == pytest.approx(0.01)
    assert not rows["healthy_seat"].reached
    assert rows["healthy_score"].value == pytest.approx(-0.1)
    assert rows["healthy_score"].reached


def test_what_did_not_run_is_not_measured():
    results = TrustResults({HEALTHY: "h", "maximum": "m"}, {"random": [record("weir", 80)]})
    assert [row.reached for row in trust_rows(results)] == [None] * 4


def test_sets():
    small, full = (trust_sets(3, full=full) for full in (False, True))
    assert [one.name for one in small["random"]] == [f"random-held_out-{1_000_000 + index}" for index in range(3)]
    assert small.keys() == full.keys()
    assert len(small["route"]) == 2 < len(full["route"])


def test_a_file_that_no_line_can_name():
    with pytest.raises(InputError, match="controller"):
        pool_lines({"maximum": Path("/my models/maximum.onnx")})


def test_the_command(fake_simulator, run_weir, tmp_path):
    late = tmp_path / "late.onnx"
    late.write_bytes(b"model")
    status, out, error = run_weir(
        "experiment", "trust", "--scenarios", 1, "--trained-60s", late, "--out", "out", "--json"
    )
    assert (status, error) == (0, "")
    document = json.loads(out)
    assert document == json.loads((tmp_path / "out/trust.json").read_text())
    assert [row["name"] for row in document["rows"]] == [*NAMES, TRAINED_60S, "healthy_seat", "healthy_score"]
    assert document["run"]["runs"] == (1 + 26) * (3 + 8)
    assert document["sets"]["random"]["maximum"]["seat_lost"] == 0.75
    page = (tmp_path / "out/trust.md").read_text()
    assert all(row["measured"] in page for row in document["rows"])
