"""A replay of a path whose delay and loss change in the run, from the file to the page."""

import json

import pytest

from weir.errors import MissingComponent
from weir.executables import find_simulator
from weir.traces.schema.scenario import Scenario


@pytest.fixture
def simulator():
    try:
        return find_simulator()
    except MissingComponent as error:
        pytest.skip(str(error))


def test_a_route_change_and_changing_loss_reach_the_page(simulator, run_weir, tmp_path):
    delay = {"times_s": [0, 4], "values_ms": [20, 60]}
    loss = {"kind": "bernoulli", "ratio": {"times_s": [0, 2], "ratios": [0, 0.1], "period_s": 4}}
    capacity = {"times_s": [0], "rates_bps": [1e6]}
    Scenario.make(
        name="route",
        duration_s=8.0,
        forward={"capacity": capacity, "one_way_delay_ms": delay, "loss": loss},
        flows=[{"kind": "rtp"}],
    ).save(tmp_path / "route.json")
    command = ("replay", "route.json", "--controller", "rule", "--seeds", "2", "--out", "out", "--csv")
    status, _, said = run_weir(*command)
    assert status == 0, said
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert summary["run"]["scenarios"]["route"]["one_way_delay_ms"] == 40
    records = [json.loads(line) for line in (tmp_path / "out/results.jsonl").read_text().splitlines()]
    # The mean, and a tenth of it or 5 ms either way.
    assert all(36 <= record["path"]["one_way_delay_ms"] <= 44 for record in records)
    assert all(0.02 < record["metrics"]["run"]["loss_ratio"] < 0.09 for record in records)
    # A longer path is no queue.
    assert all(record["metrics"]["run"]["p95_queueing_delay_ms"] < 250 for record in records)


def test_one_path_under_two_names_counts_once(run_weir, tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.csv").write_text("time_s,rate_bps\n0,1000000\n5,2000000\n10,\n")
    status, _, said = run_weir("replay", "one.csv", "two.csv", "--out", "out")
    assert status == 2
    assert "two.csv: is the same path as one.csv, under another name; a path counts once" in said
