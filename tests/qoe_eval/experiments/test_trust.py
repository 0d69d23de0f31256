"""`weir experiment trust` with the stand-in for weir-sim, its goals against results made by hand, and its models."""

import json
import math
from pathlib import Path

import onnx
import pytest

import weir.trainer
from weir.errors import InputError
from weir.qoe_eval.experiments.policy.sets import policy_sets
from weir.qoe_eval.experiments.trust.ablations import ablations_document
from weir.qoe_eval.experiments.trust.broken_models import MAX_BPS, MIN_BPS, write_broken_models
from weir.qoe_eval.experiments.trust.experiment import (
    BY_OBJECTIVE,
    HEALTHY,
    MEDIAN,
    TRACES,
    TrustResults,
    fitted_scenarios,
    peers_of,
    pool_lines,
    trust_sets,
)
from weir.qoe_eval.experiments.trust.rows import TRAINED_60S, trust_rows
from weir.qoe_eval.experiments.trust.seats import leaving_rows, objective_rows
from weir.qoe_eval.experiments.trust.variants import VARIANTS
from weir.qoe_eval.experiments.trust.worth import conclusion, worst_tenth, worth_rows
from weir.qoe_eval.runs.inputs import shared_model

NAMES = ["maximum", "minimum", "random", "nan", "alternating", "shuffled"]


def record(controller, challenge, seat=1.0, scenario="any", held_s=None, **metrics):
    flow = {"pool": {"members": [{"pilot_share": seat}], "first_pilot_held_s": held_s}}
    return {
        "controller": controller,
        "scenario": scenario,
        "seed": 1,
        "metrics": {"run": {"challenge": challenge, **metrics}},
        "flows": [flow],
    }


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


def test_the_worst_set_is_also_told_without_the_scenarios_that_trust_was_fitted_on():
    seen = min(fitted_scenarios())
    records = {"route": [record("nada", 80, scenario=name) for name in (seen, "unseen")]}
    records["route"] += [record("m", 80, scenario=seen), record("m", 60, scenario="unseen")]
    (row, *_) = trust_rows(TrustResults({"maximum": "m", HEALTHY: "h"}, records))
    assert row.measured == "-12.5 %"
    assert row.detail.endswith("of scenarios that trust was not fitted on, worst route -25.0 %")


def test_how_soon_a_broken_model_leaves():
    held_s = [1.0, 2.0, 3.0, 3.1, None]
    records = {"random": [record("m", 70, scenario=str(i), held_s=one) for i, one in enumerate(held_s)]}
    records["random"] += [record("rule", score, scenario=str(i)) for i, score in enumerate([0, 0, 0, 80, 80])]
    rows = list(leaving_rows(TrustResults({"maximum": "m", "shuffled": "s"}, records)))
    assert [row.value for row in rows] == [0.6, None]
    assert rows[0].detail.startswith("median 3.0 s; never on 1 of 5; where it stays longer the score is -12.5%")


@pytest.mark.parametrize(("gain", "median_gain", "ships"), [(1.5, 0, True), (0.1, 0, False), (0, 1.5, True)])
def test_whether_a_pool_ships(gain, median_gain, ships):
    assert worst_tenth({str(i): float(i) for i in range(20)}) == 0.5
    runs = [record("weir", 50), record("h", 50 + gain), record(MEDIAN, 50 + median_gain)]
    records = dict.fromkeys(("random", "route", TRACES), runs)
    rows = list(worth_rows(TrustResults({HEALTHY: "h"}, records)))
    assert [row.value for row in rows[:-1]] == pytest.approx([gain] * 6 + [median_gain] * 6)
    assert rows[-1].reached is None
    assert conclusion(rows).startswith("A pool ships" if ships else "No pool ships")
    assert f"random {max(gain, median_gain):+.2f}" in conclusion(rows)


def test_traces_that_are_not_there_decide_nothing():
    rows = list(worth_rows(TrustResults({HEALTHY: "h"}, {"random": [record("weir", 50), record("h", 50)]})))
    assert [row.name for row in rows if row.reached] == ["by_trust_mean_random"]
    assert len([row for row in rows if row.reached is None]) == 11


def test_the_pool_by_objective():
    delays_ms = {"throughput": 90.0, "balanced": 60.0, "latency": 20.0}
    used = {"throughput": 0.9, "balanced": 0.8, "latency": 0.7}
    records = {
        preset: [
            record(BY_OBJECTIVE, 70, p95_queueing_delay_ms=delays_ms[preset], utilisation=used[preset]),
            record("weir", 70, p95_queueing_delay_ms=40.0, utilisation=0.8),
        ]
        for preset in delays_ms
    }
    steers, delay, utilisation = objective_rows(records)
    assert (steers.value, delay.value, utilisation.value) == (1.0, 0.5, pytest.approx(0.875))
    assert (steers.reached, delay.reached, utilisation.reached) == (True, True, False)


def test_what_a_part_is_worth():
    records = {"random": [record("nada", 80), record("h", 90, 0.9), record("m", 60)]}
    results = TrustResults({HEALTHY: "h", "maximum": "m"}, records)
    found = ablations_document({"by trust": results})["by trust"]
    assert found["maximum"]["worst"] == pytest.approx(-0.25)
    assert found[HEALTHY]["score"] == 90
    assert found[HEALTHY]["seat_lost"] == pytest.approx(0.1)


def test_every_variant_is_a_pool():
    lines = [pool_lines({}, others)[HEALTHY] for others in VARIANTS.values()]
    assert len(set(lines)) == len(VARIANTS)
    assert lines[0] == "pilot=weir copilots=nada,rule policy=by_trust"


def test_sets():
    small, full = (trust_sets(policy_sets(None, 3), full=full) for full in (False, True))
    assert [one.name for one in small["random"]] == [f"random-held_out-{1_000_000 + index}" for index in range(3)]
    assert small.keys() == full.keys()
    assert len(small["route"]) == 2 < len(full["route"])


def test_a_file_that_no_line_can_name():
    with pytest.raises(InputError, match="controller"):
        pool_lines({"maximum": Path("/my models/maximum.onnx")})


@pytest.fixture
def one_variant(monkeypatch):
    """Leaves one pool of those that lack something out of many: each is flown with every model."""
    for name in list(VARIANTS)[1:]:
        monkeypatch.delitem(VARIANTS, name)


def test_the_command(fake_simulator, run_weir, one_variant, tmp_path, monkeypatch):
    monkeypatch.delenv("WEIR_SHARED", raising=False)
    late = tmp_path / "late.onnx"
    late.write_bytes(b"model")
    status, out, error = run_weir(
        "experiment", "trust", "--scenarios", 1, "--trained-60s", late, "--peer", late, "--out", "out", "--json"
    )
    assert (status, error) == (0, "")
    document = json.loads(out)
    assert document == json.loads((tmp_path / "out/trust.json").read_text())
    names = [row["name"] for row in document["rows"]]
    assert names[: len(NAMES) + 3] == [*NAMES, TRAINED_60S, "healthy_seat", "healthy_score"]
    rows = {row["name"]: row for row in document["rows"]}
    assert rows["maximum_leaves"]["value"] == 1
    assert rows["by_trust_worst_tenth_opennetlab"]["reached"] is None
    assert all(rows[name]["value"] is not None for name in ("jain_5.4", "tcp_own_share", "by_objective_steering"))
    assert list(document["parts"]) == list(VARIANTS)
    assert document["peers"]["random"].keys() == {"late", "late-bare", "gcc", "weir", "nada", "rule"}
    assert document["sets"]["random"]["maximum"]["seat_lost"] == 0.75
    page = (tmp_path / "out/trust.md").read_text()
    assert all(row["measured"] in page for row in document["rows"])
    assert document["conclusion"] in page


def test_without_traces_and_without_a_peer(fake_simulator, run_weir, one_variant, tmp_path, monkeypatch):
    monkeypatch.delenv("WEIR_SHARED", raising=False)
    status, _, error = run_weir("experiment", "trust", "--scenarios", 1, "--out", "out")
    assert (status, error) == (0, "")
    assert "name a model from elsewhere with --peer" in (tmp_path / "out/trust.md").read_text()


def test_a_model_from_elsewhere_is_found_where_weir_shared_names_it(tmp_path, monkeypatch):
    monkeypatch.setenv("WEIR_SHARED", str(tmp_path))
    assert shared_model("other.onnx") is None
    (tmp_path / "models").mkdir()
    (tmp_path / "models/other.onnx").write_bytes(b"model")
    assert shared_model("other.onnx") == tmp_path / "models/other.onnx"
    assert [one.guard for one in peers_of(shared_model("other.onnx")).values()] == [True, False]
    assert peers_of(None) == {}


def test_a_healthy_model_that_is_none_is_one_message(tmp_path):
    none = tmp_path / "none.onnx"
    none.write_bytes(b"not a model")
    with pytest.raises(InputError, match="is not an ONNX model"):
        write_broken_models(tmp_path / "models", none)
    assert not (tmp_path / "models").exists()
