"""`weir paper muses` with the stand-in for weir-sim: its goals, its page, and what it does without files."""

import json
from functools import partial

import numpy as np
import pytest
from fake_weir_sim import make_record

from weir_cli.errors import InputError
from weir_eval.records.run_record import RunRecord
from weir_papers.common import with_tcp
from weir_papers.muses.flow_rows import LEFT_BPS, flow_rows
from weir_papers.muses.muses_runs import GLOBAL_TREE, MUSES, TEACHER, MusesResults
from weir_papers.muses.sets import CHANGE, FLOWS, LTE, muses_sets, sharing_scenario
from weir_sim.installed import shipped_model
from weir_traces.generate.published import CALL_MEDIA_MAX_BPS, muses_cross_traffic

SMALL = ("--networks", "3", "--seeds", "1", "--out", "out")


@pytest.fixture
def weir(fake_simulator, run_weir):
    """Runs `weir paper muses ARGUMENTS`; returns status, standard output, standard error."""
    return partial(run_weir, "paper", "muses", WEIR_SHARED="")


def test_goals_and_page_without_a_mixture(weir, tmp_path):
    status, out, error = weir(*SMALL, "--json")
    assert (status, error) == (0, "")
    document = json.loads(out)
    assert document == json.loads((tmp_path / "out/muses.json").read_text())
    # Two sets of three networks by six controllers and two TCPs; three by three; five by four; cross traffic.
    assert document["run"]["runs"] == 2 * 3 * 8 + 3 * 3 + 5 * 4 + 2
    rows = {row["name"]: row for row in document["rows"]}
    assert rows["utilisation_steady-wifi"]["value"] == pytest.approx(0.86, abs=0.05)
    assert rows["of_oracle_steady-wifi"]["value"] == pytest.approx(0.88 / 0.96, abs=0.05)
    assert rows["cubic_delay"]["value"] > 0
    assert rows["ellipse_fluctuating-wifi"]["figures"]["next_best"] not in ("weir", "oracle")
    assert rows["in_flight_bbr"]["value"] > 0
    assert rows["jain_20"]["value"] > 0.9
    assert rows["cross_rate"]["value"] > 1
    assert rows["utilisation_lte"]["reason"] == "needs an LTE trace in mahimahi/ of --traces"
    assert rows["in_flight_global"]["reason"] == rows["after_change"]["reason"] == "name its file with --global"
    assert rows["nearest"]["reason"] == "the model is no mixture"
    markdown = (tmp_path / "out/muses.md").read_text()
    assert "0.999" in markdown
    assert all(row["measured"] in markdown for row in rows.values() if row["measured"])


def test_a_global_tree_and_a_teacher_run_beside_it_and_a_recorded_trace_is_lte(weir, tmp_path):
    (tmp_path / "traces/mahimahi").mkdir(parents=True)
    (tmp_path / "traces/mahimahi/Some-LTE.up").write_text("".join(f"{ms}\n" for ms in range(10, 120_000, 10)))
    model = shipped_model()
    others = (model, "--model", model, "--global", model, "--traces", "traces")
    status, out, error = weir(*SMALL, *others, "--json")
    assert (status, error) == (0, "")
    document = json.loads(out)
    rows = {row["name"]: row for row in document["rows"]}
    # The same model: the stand-in has the same answers.
    assert rows["in_flight_global"]["value"] == pytest.approx(1.0)
    assert rows["after_change"]["value"] == pytest.approx(0.0)
    assert rows["lte_utilisation"]["value"] > 1
    steady = document["networks"]["steady-wifi"]
    assert steady[TEACHER]["utilisation"] == steady[MUSES]["utilisation"]
    for folder in ("global", "teacher-runs"):
        assert (tmp_path / "out" / folder / "results.jsonl").is_file()


def test_teach_makes_what_else_is_given(weir):
    status, out, error = weir(*SMALL, "--teach", "80", shipped_model())
    assert (status, out) == (2, "")
    assert "--teach: omit TEACHER" in error


def test_what_is_not_there_is_one_message(weir):
    status, out, error = weir(*SMALL, "no.onnx")
    assert (status, out) == (2, "")
    assert "TEACHER 'no.onnx': no such file" in error


def test_the_score_after_a_change_of_network_is_compared_with_the_global_tree():
    sets = {name: scenario_set for name, scenario_set in muses_sets(None, 3).items() if name == CHANGE}
    records: dict[str, list] = {MUSES: [], GLOBAL_TREE: []}
    for scenario in sets[CHANGE].scenarios:
        job = {"scenario": scenario.to_dict(), "controller": "weir", "seed": 0, "job": {}, "objective": [0.4, 0.5, 0.1]}
        for controller in records:
            record = make_record(job)
            series = record["flows"][0]["series"]
            later_ms = 50 if controller == GLOBAL_TREE else 0
            series["one_way_delay_mean_ms"] = [delay_ms + later_ms for delay_ms in series["one_way_delay_mean_ms"]]
            records[controller].append(RunRecord.model_validate(record))
    results = MusesResults(sets, {CHANGE: records}, lambda controller, record: record)
    rows = {row.name: row for row in flow_rows(results)}
    # 50 ms less of the delay's 350 to 365.
    assert rows["after_change"].value == pytest.approx(0.2 * 100 * 50 / 357 / 0.7, abs=0.3)
    assert '"reached": true' in json.dumps(rows["after_change"].to_dict())


def test_flows_join_one_by_one_and_tcp_takes_their_places():
    scenario = sharing_scenario(3)
    tcp = with_tcp(scenario, "cubic")
    assert [(flow.start_s, flow.stop_s) for flow in scenario.flows] == [(0, 80), (20, 100), (40, 120)]
    assert [(flow.kind, flow.start_s, flow.stop_s) for flow in tcp.flows] == [
        ("tcp", flow.start_s, flow.stop_s) for flow in scenario.flows
    ]
    assert tcp.forward == scenario.forward
    assert max(FLOWS) == 20


def test_the_residual_capacity_beside_cross_traffic():
    scenario = muses_cross_traffic()
    times_s = np.arange(0.5, scenario.duration_s)
    cross = [flow for flow in scenario.flows if flow.kind == "cbr"]
    cross_bps = sum(flow.rate_bps * ((flow.start_s <= times_s) & (times_s < flow.stop_s)) for flow in cross)
    assert np.clip(3e6 - cross_bps, 0, CALL_MEDIA_MAX_BPS).mean() == pytest.approx(LEFT_BPS)


def test_a_trace_of_lte_that_is_unlimited_is_refused(tmp_path):
    (tmp_path / "mahimahi").mkdir()
    (tmp_path / "mahimahi/LTE.json").write_text(
        json.dumps(sharing_scenario(3).to_dict() | {"forward": {"capacity": None}})
    )
    with pytest.raises(InputError, match="unlimited"):
        muses_sets(tmp_path, 3)
    assert not muses_sets(None, 3)[LTE].scenarios
