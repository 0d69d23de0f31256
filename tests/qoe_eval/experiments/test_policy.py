"""`weir experiment policy` with the stand-in for weir-sim, and its rows against scores made by hand."""

import hashlib
import json
from functools import partial

import pytest

from weir.errors import InputError
from weir.qoe_eval.experiments.policy.experiment import policy_rows
from weir.qoe_eval.experiments.policy.figures import figure_rows
from weir.qoe_eval.experiments.policy.results import PolicyResults, distance_closed
from weir.qoe_eval.experiments.policy.sets import COMPARED_SETS, ScenarioSet, policy_sets
from weir.qoe_eval.measures.metric_table import METRICS
from weir.qoe_eval.report.goal_table import Goal, measured, missed, not_measured
from weir.traces.formats.plain_trace import scenario_from_capacity

TRACE = "".join(f"{12 * i}\n" for i in range(1, 1000))  # 1 Mbps for 12 s
SCENARIO_COUNT = 2
DELAY_COUNT = 5


@pytest.fixture
def traces(tmp_path):
    for name in ("opennetlab", "mahimahi"):
        (tmp_path / "traces" / name).mkdir(parents=True)
    pattern = [{"duration": 4000, "capacity": 1000}] * 2 + [{"duration": 2000, "capacity": 9e6}]
    (tmp_path / "traces/opennetlab/a.json").write_text(json.dumps({"uplink": {"trace_pattern": pattern}}))
    (tmp_path / "traces/opennetlab/b.json").write_text(json.dumps({"uplink": {"trace_pattern": pattern[:2]}}))
    (tmp_path / "traces/mahimahi/c.up").write_text(TRACE)
    (tmp_path / "traces/mahimahi/README.md").write_text("not a trace")
    return tmp_path / "traces"


@pytest.fixture
def weir(tmp_path, fake_simulator, monkeypatch, run_weir):
    """Runs `weir experiment policy ARGUMENTS`; returns status, standard output, standard error."""
    monkeypatch.delenv("WEIR_SHARED", raising=False)
    (tmp_path / "m.onnx").write_bytes(b"model")
    return partial(run_weir, "experiment", "policy")


SMALL = (
    "--model", "m.onnx", "--seeds", "1", "--scenarios", SCENARIO_COUNT, "--delay-scenarios", DELAY_COUNT, "--out", "out"
)  # fmt: skip


def test_every_goal_has_a_row(weir, traces, tmp_path):
    figures = {
        "adaptation": {"steps_ratio": 15, "old_objectives_loss_ratio": 0.06},
        "training": {"wall_s": 7200, "steps_per_s": 2500.5, "model_sha256": hashlib.sha256(b"model").hexdigest()},
        "bench": {"estimator.decision_us_p50": 4.2, "estimator.decision_us_p99": 41},
    }
    options = []
    for name, document in figures.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
        options += [f"--{name}", f"{name}.json"]
    status, out, error = weir(*SMALL, "--seeds", 2, "--traces", traces, *options, "--json")
    assert (status, error) == (0, "")
    document = json.loads(out)
    assert document == json.loads((tmp_path / "out/policy.json").read_text())
    rows = {row["name"]: row for row in document["rows"]}
    assert len(rows) == len(document["rows"]) == 29
    # Sets of fewer than six scenarios have no interval.
    few = {name: row for name, row in rows.items() if name.startswith("rule_low_")}
    assert len(few) == 4
    assert all("too few scenarios for an interval" in row["reason"] for row in few.values())
    decided = [row for name, row in rows.items() if name not in few]
    assert all(row["measured"] and row["reached"] in (True, False) for row in decided)
    assert document["decided"] == len(decided)
    assert document["reached"] == sum(row["reached"] for row in decided)
    # The stand-in's characters: weir between gcc and oracle, ahead of the rule in delay, steered by its weights.
    assert rows["opennetlab_gain"]["value"] > 0
    assert rows["random_wins"]["value"] == 1
    scores = [
        {name: by[name]["challenge"] for name in ("weir", "gcc", "oracle")}
        for by in document["sets"]["random"]["scenarios"].values()
    ]
    gained, whole = (sum(one[name] - one["gcc"] for one in scores) for name in ("weir", "oracle"))
    assert rows["random_closed"]["value"] == pytest.approx(gained / whole)
    assert 0 < rows["random_worst_delay"]["value"] <= 1
    assert rows["random_worst_delay"]["what"].startswith(f"{DELAY_COUNT} random scenarios")
    assert rows["steering"]["value"] == 1
    assert rows["p95_queueing_delay_ms_against_gcc"]["reached"]
    assert rows["jain_5.4"]["value"] == pytest.approx(1, abs=0.01)
    assert rows["tcp_own_share"]["value"] + max(rows["tcp_left_share"]["figures"].values()) == pytest.approx(1)
    assert [rows[name]["measured"] for name in ("training_time", "training_rate")] == ["2.00 h", "2,500 steps/s"]
    from_files = ("adaptation_steps", "adaptation_loss", "decision_p50", "decision_p99")
    assert [rows[name]["reached"] for name in from_files] == [True, False, True, False]
    assert list(document["sets"]["opennetlab"]["scenarios"]) == ["opennetlab-a", "opennetlab-b"]
    assert len(document["sets"]["random"]["scenarios"]) == SCENARIO_COUNT
    records = [json.loads(line) for line in (tmp_path / "out/results.jsonl").read_text().splitlines()]
    scenarios = 2 + 1 + SCENARIO_COUNT + 5
    more = 2 * (DELAY_COUNT - SCENARIO_COUNT)
    assert len(records) == document["run"]["runs"] == 2 * (4 * (scenarios + 2 + 4) + 2 * scenarios) + more
    page = (tmp_path / "out/policy.md").read_text()
    assert all(row["what"] in page for row in rows.values())


def test_without_traces_and_files_goals_are_not_measured(weir, tmp_path):
    status, out, error = weir(*SMALL)
    assert (status, error) == (0, "")
    assert "needs the mahimahi traces: name their folder with --traces" in out
    rows = {row["name"]: row for row in json.loads((tmp_path / "out/policy.json").read_text())["rows"]}
    absent = {name for name, row in rows.items() if row["reached"] is None}
    assert absent == {
        "opennetlab_gain", "opennetlab_worst", "opennetlab_recoco", "mahimahi_closed", "rule_gain",
        "rule_low_opennetlab", "rule_low_mahimahi", "rule_low_random", "rule_low_steady",
        "p95_queueing_delay_ms_against_gcc", "utilisation_against_gcc",
        "adaptation_steps", "adaptation_loss", "training_time", "training_rate", "decision_p50", "decision_p99",
    }  # fmt: skip
    # What speaks of all sets is measured on those that are there, and not decided.
    assert rows["rule_gain"]["value"] is not None
    assert "opennetlab" in rows["rule_gain"]["reason"]


def test_the_shared_folder_is_the_default(weir, traces, tmp_path, monkeypatch):
    monkeypatch.setenv("WEIR_SHARED", str(tmp_path))
    assert weir(*SMALL)[0] == 0
    assert json.loads((tmp_path / "out/policy.json").read_text())["sets"]["mahimahi"]["missing"] == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--traces", "nowhere"], "--traces nowhere: no folder opennetlab/ or mahimahi/ in it"),
        (["--bench", "missing.json"], "missing.json: no such file"),
        (["--training", "m.onnx"], "--training m.onnx: line 1, column 1: not valid JSON"),
        (["--adaptation", "list.json"], '--adaptation list.json: must be a JSON object such as {"steps_ratio": 1.0'),
        (["--model", "no.onnx"], "--model no.onnx: no such file"),
        (["--scenarios", "0"], "--scenarios"),
    ],
)
def test_wrong_use_is_one_message_and_status_2(weir, tmp_path, options, message):
    (tmp_path / "list.json").write_text("[]")
    status, out, error = weir(*SMALL, *options)
    assert (status, out) == (2, "")
    assert message in error


def test_a_death_is_status_1_and_the_rest_is_measured(weir, misbehave, tmp_path):
    misbehave({"gcc:2": "die"})
    status, _, error = weir(*SMALL, "--seeds", 2)
    assert status == 1
    assert "did not complete" in error
    document = json.loads((tmp_path / "out/policy.json").read_text())
    assert document["run"]["failures"]
    assert {row["name"]: row for row in document["rows"]}["random_wins"]["value"] == 1


def test_runs_without_gcc_measure_nothing_against_it(weir, misbehave, traces, tmp_path):
    misbehave({"gcc:1": "die"})
    assert weir(*SMALL, "--traces", traces)[0] == 1
    rows = {row["name"]: row for row in json.loads((tmp_path / "out/policy.json").read_text())["rows"]}
    assert rows["opennetlab_gain"]["reason"] == "no pair of weir and gcc on opennetlab completed"
    assert rows["start"]["value"] is not None


def test_a_refused_model_is_status_2(weir, misbehave):
    misbehave({"weir:1": "refuse"})
    status, _, error = weir(*SMALL, "--jobs", "1")
    assert status == 2
    assert "weir.schema is 9" in error


def test_sets(traces):
    sets = policy_sets(traces, 3)
    assert [scenario.name for scenario in sets["opennetlab"].scenarios] == ["opennetlab-a", "opennetlab-b"]
    spiky = sets["opennetlab"].scenarios[0]
    assert max(spiky.forward.capacity.rates_bps) == 60e6
    assert (spiky.forward.one_way_delay_ms, spiky.forward.queue.milliseconds, spiky.duration_s) == (25, 300, 10)
    assert sets["mahimahi"].scenarios[0].duration_s == pytest.approx(11.988)
    random = [scenario.provenance["source"] for scenario in sets["random"].scenarios]
    assert random == [f"weir.traces.random_domain, held_out, seed {1_000_000 + index}" for index in range(3)]
    names = [scenario.name for one in sets.values() for scenario in one.scenarios]
    assert len(set(names)) == len(names)
    (traces / "mahimahi/c.up").unlink()
    assert policy_sets(traces, 1)["mahimahi"].missing == "no traces in traces/mahimahi"


def hand_made(scores):
    """A compared set "steady" from controller -> scenario -> challenge scores by seed."""
    records = [
        {
            "scenario": scenario,
            "controller": controller,
            "seed": seed,
            "metrics": {"run": dict.fromkeys(METRICS) | {"challenge": value}},
        }
        for controller, by_scenario in scores.items()
        for scenario, values in by_scenario.items()
        for seed, value in enumerate(values, start=1)
    ]
    sets = {name: ScenarioSet(name, missing="left out") for name in (*COMPARED_SETS, "start", "halved", "rfc8867")}
    return PolicyResults(sets, {"steady": records}, {}, lambda record: record)


def rows_of(results):
    return {row.name: row for row in policy_rows(results, {}, "hash")}


def test_one_link_below_gcc_is_enough():
    rows = rows_of(hand_made({"weir": {"a": (92, 90), "b": (90, 90)}, "gcc": {"a": (90, 91), "b": (88, 93)}}))
    assert rows["steady_worst"].value == pytest.approx(-0.5)
    assert rows["steady_worst"].reached is False
    even = rows_of(hand_made({"weir": {"a": (90, 90)}, "gcc": {"a": (90, 90)}}))
    assert even["steady_worst"].reached


def test_the_interval_decides_against_the_rule():
    rule = dict.fromkeys("abcdef", (80.0,))
    ahead = {name: (80.0 + gain,) for name, gain in zip("abcdef", (3, 1, 2, 4, 2.5, 3.5), strict=True)}
    row = rows_of(hand_made({"weir": ahead, "rule": rule, "gcc": rule}))["rule_low_steady"]
    assert 0 < row.value < 2.67
    assert row.reached
    mixed = ahead | {"a": (70.0,)}
    assert rows_of(hand_made({"weir": mixed, "rule": rule, "gcc": rule}))["rule_low_steady"].reached is False
    few = {name: scores for name, scores in ahead.items() if name < "d"}
    row = rows_of(hand_made({"weir": few, "rule": rule, "gcc": rule}))["rule_low_steady"]
    assert row.verdict == "not measured: mean +2.00; too few scenarios for an interval (3)"


def test_distance_closed():
    means = {
        "a": {"weir": {"challenge": 80}, "gcc": {"challenge": 70}, "oracle": {"challenge": 90}},
        "b": {"weir": {"challenge": 94}, "gcc": {"challenge": 95}, "oracle": {"challenge": 100}},
        "incomplete": {"weir": {"challenge": 0}, "gcc": {"challenge": 95}},
    }
    assert distance_closed(means) == pytest.approx((10 - 1) / (20 + 5))
    assert distance_closed({"a": {name: {"challenge": 70} for name in ("weir", "gcc", "oracle")}}) is None


def test_figures_of_another_model_and_missing_ones():
    figures = {"training": {"wall_s": 1.0, "model_sha256": "other"}, "bench": {"estimator.decision_us_p50": True}}
    rows = {row.name: row for row in figure_rows(figures, "this")}
    assert rows["training_time"].reason == "the --training file is about another model"
    never = {row.name: row for row in figure_rows({"adaptation": {"steps_ratio": None}}, "this")}
    assert never["adaptation_steps"].verdict == "no"
    assert never["adaptation_steps"].measured == "never"
    assert rows["decision_p50"].reason == "no number estimator.decision_us_p50 in the --bench file"
    assert rows["adaptation_loss"].reason == "give its file with --adaptation"


def test_goals_and_verdicts():
    goal = Goal("at least", 0.6, "%", scale=100, decimals=0)
    assert (str(goal), goal.met(0.6), goal.met(0.59)) == ("at least 60 %", True, False)
    strict = Goal("at most", 0.0, strict=True, signed=True)
    assert (str(strict), strict.met(0.0), strict.met(-0.1)) == ("below 0.00", False, True)
    assert strict.show(1.5) == "+1.50"
    assert measured("n", "w", goal, 0.7).verdict == "yes"
    assert missed("n", "w", goal, "never").verdict == "no"
    assert not_measured("n", "w", goal, "no traces").verdict == "not measured: no traces"


def test_a_trace_that_cannot_be_used_is_named(traces):
    (traces / "opennetlab/z.json").write_text("{}")
    with pytest.raises(InputError, match=r"z\.json"):
        policy_sets(traces, 1)


def test_the_steady_links_have_the_defaults_of_a_plain_trace():
    for scenario in policy_sets(None, 1)["steady"].scenarios:
        plain = scenario_from_capacity(scenario.forward.capacity.trace(), scenario.name)
        assert scenario == plain
