"""`weir paper mvfst`: its scenarios, its rows on cases made by hand, the command with the stand-in for weir-sim."""

import json
from functools import partial

import pytest

from weir_eval.runs.jobs import ReplayPlan
from weir_eval.runs.run_plans import complete_plans
from weir_papers.common import Case
from weir_papers.mvfst.mvfst_runs import BLOCKED_MS, EMULATORS, OWN, POLICER, SENDER, blocked_scenarios
from weir_papers.mvfst.rows import ahead, mvfst_rows, shares_of_oracle
from weir_sim.controllers import PRESETS
from weir_sim.executables import find_simulator
from weir_traces.catalogue import load_bundled


@pytest.fixture
def weir(fake_simulator, run_weir):
    """Runs `weir paper mvfst ARGUMENTS`; returns status, standard output, standard error."""
    return partial(run_weir, "paper", "mvfst")


def rows_of(cases):
    return {row.name: row for row in mvfst_rows(cases)}


def on_all(**cases):
    return {name: dict(cases) for name in EMULATORS}


def test_the_command_measures_every_emulator_and_figure_1(weir, tmp_path):
    status, out, error = weir("--seeds", "1", "--steps", "0", "--out", "out", "--json")
    assert (status, error) == (0, "")
    document = json.loads(out)
    assert document == json.loads((tmp_path / "out/mvfst.json").read_text())
    # 18 emulators by eight controllers and three of TCP; three scenarios of Figure 1 by three.
    assert document["run"]["runs"] == 18 * (8 + 3) + 3 * 3
    rows = {row["name"]: row for row in document["rows"]}
    assert all(row["measured"] for row in rows.values())
    cases = document["cases"]
    assert cases.keys() == {*EMULATORS, "blocked-0", "blocked-25", "blocked-50"}
    used = {
        name: {controller: case["utilisation"] for controller, case in by_controller.items()}
        for name, by_controller in cases.items()
    }
    assert rows["collapse"]["value"] == min(used[name]["weir"] / used[name]["oracle"] for name in EMULATORS)
    rivals = [share for controller, share in used[POLICER].items() if controller not in ("weir", "weir-send", "oracle")]
    assert rows["policer_rate"]["value"] == used[POLICER]["weir"] / max(rivals)
    assert {"scream", "cubic", "bbr", "vegas"} <= used[POLICER].keys()
    markdown = (tmp_path / "out/mvfst.md").read_text()
    assert all(row["measured"] in markdown for row in rows.values())
    assert "pantheon-18" in markdown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("no.onnx",), "MODEL 'no.onnx': no such file"),
        (("text.onnx",), "text.onnx: the model cannot be used: it is not an ONNX model"),
        (("--seeds", "0"), "--seeds"),
    ],
)
def test_bad_input_is_one_message(weir, tmp_path, arguments, message):
    (tmp_path / "text.onnx").write_text("no model")
    status, out, error = weir(*arguments, "--out", "out")
    assert (status, out) == (2, "")
    assert message in error
    if arguments[0] != "--seeds":  # typer draws a box
        assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_blocked_sender_sends_nothing_for_its_share_of_every_100_ms():
    free, *blocked = blocked_scenarios()
    assert free.flows[0].pauses_s == []
    for scenario, blocked_ms in zip(blocked, BLOCKED_MS[1:], strict=True):
        pauses = scenario.flows[0].pauses_s
        assert len(pauses) == 600
        assert sum(stop - start for start, stop in pauses) == pytest.approx(60 * blocked_ms / 100)
        assert (scenario.duration_s, scenario.forward) == (60, free.forward)


def test_an_emulator_of_each_kind_runs_in_the_simulator(tmp_path):
    scenarios = [load_bundled(f"pantheon-{number}") for number in (1, 7, 13, 15)]
    plan = ReplayPlan(scenarios, ["rule"], PRESETS["balanced"], [1], None, find_simulator(), "measured")
    lossy, policer, aggregated, short = complete_plans([plan], tmp_path, 1).records
    assert lossy.flows[0].packets_lost / lossy.flows[0].packets_sent == pytest.approx(0.05, abs=0.02)
    # A packet waits for the end of its own transmission at most: 1 ms.
    assert policer.flows[0].delay_ms["max"] - policer.flows[0].base_one_way_delay_ms < 1.1
    assert policer.flows[0].packets_lost > 0
    assert aggregated.flows[0].packets_lost == 0
    # 9000 bytes at 12 Mbps are 6 ms.
    assert short.flows[0].delay_ms["max"] - short.flows[0].base_one_way_delay_ms == pytest.approx(6.0, abs=0.3)


def test_ahead_is_more_throughput_at_no_more_delay():
    rivals = {
        "equal-delay": Case(0.9, 10.5, 0.0),
        "more-delay": Case(0.9, 12.0, 0.0),
        "slower": Case(0.7, 1.0, 0.0),
        "better": Case(0.9, 2.0, 0.0),
        "oracle": Case(1.0, 0.0, 0.0),
        "weir-send": Case(1.0, 0.0, 0.0),
    }
    by_controller = {OWN: Case(0.8, 10.0, 0.0), **rivals}
    assert ahead(by_controller) == ["equal-delay", "better"]
    assert ahead(by_controller, more_delay_ms=0.0) == ["better"]


def test_the_front_counts_emulators_where_no_other_is_ahead():
    cases = on_all(weir=Case(0.8, 10.0, 0.0), gcc=Case(0.7, 5.0, 0.0), oracle=Case(0.96, 1.0, 0.0))
    assert (rows_of(cases)["front"].value, rows_of(cases)["front"].reached) == (6, True)
    cases[EMULATORS[1]]["gcc"] = cases[EMULATORS[4]]["gcc"] = Case(0.9, 5.0, 0.0)
    front = rows_of(cases)["front"]
    assert (front.value, front.reached) == (4, False)
    assert "pantheon-2: gcc ahead; pantheon-5: gcc ahead" in front.detail


def test_policer_collapse_and_what_is_missing():
    cases = on_all(weir=Case(0.6, 1.0, 0.04), gcc=Case(0.5, 1.0, 0.0), rule=Case(0.8, 1.0, 0.3), oracle=Case(1, 1, 0.0))
    rows = rows_of(cases)
    assert (rows["policer_loss"].value, rows["policer_loss"].reached) == (0.04, True)
    assert (rows["policer_rate"].value, rows["policer_rate"].reached) == (pytest.approx(0.75), False)
    assert "best: rule" in rows["policer_rate"].detail
    assert (rows["collapse"].value, rows["collapse"].reached) == (pytest.approx(0.6), True)
    cases[EMULATORS[12]][OWN] = Case(0.2, 1.0, 0.0)
    assert (rows_of(cases)["collapse"].reached, rows_of(cases)["collapse"].detail) == (False, "pantheon-13")
    del cases[POLICER][OWN]
    missing = rows_of(cases)
    assert [missing[name].reached for name in ("policer_loss", "policer_rate", "collapse")] == [None] * 3
    assert len(shares_of_oracle(cases, OWN)) == 17


def test_bytes_lost_are_a_share_of_those_of_a_sender_that_is_not_blocked():
    cases = {
        "blocked-0": {SENDER: Case(0.8, 1.0, 0.0), OWN: Case(0.8, 1.0, 0.0)},
        "blocked-25": {SENDER: Case(0.6, 1.0, 0.0), OWN: Case(0.2, 1.0, 0.0)},
    }
    rows = rows_of(cases)
    assert rows["blocked_25"].value == pytest.approx(0.25)
    assert rows["blocked_25"].detail.startswith("paper 1.1")
    assert rows["blocked_50"].value is None
    assert rows_of({"blocked-25": cases["blocked-25"]})["blocked_25"].value is None
