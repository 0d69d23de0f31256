"""`weir report` of logs of connections on which Weir ran beside another estimator."""

import json

import numpy as np
import pytest
from html_page import check, table_of
from made_observations import observation, write_log

from weir_eval.measures.statistics import independent_interval
from weir_logs.observations.agreement import compare_targets
from weir_logs.observations.observation_log import is_observation_log, read_observation_log


def report(run_weir, path, *options):
    status, printed, error = run_weir("report", path, "--json", *options)
    assert status == 0, error
    return json.loads(printed)


def text_of(found):
    with open(found["report"], encoding="utf-8") as file:
        page = file.read()
    return page, " ".join(" ".join(check(page).text).split())


def test_the_page_has_the_time_in_which_weir_would_have_sent_more_less_and_as_much(run_weir, tmp_path):
    events = [
        *(observation(i, weir_bps=2_000_000) for i in range(20)),
        *(observation(i, weir_bps=300_000, weir_reason="guard_overload", loss_ratio=0.1) for i in range(20, 30)),
        *(observation(i, weir_bps=1_050_000) for i in range(30, 100)),
    ]
    write_log(tmp_path, "one", events)
    found = report(run_weir, tmp_path)
    every = found["conditions"]["all"]
    assert (every["seconds"], every["more_percent"], every["less_percent"], every["agree_percent"]) == (100, 20, 10, 70)
    assert every["below_received_percent"] == 10
    assert found["conditions"]["lost more than 2 %"]["less_percent"] == 100
    assert found["conditions"]["queue above 100 ms"]["seconds"] == 0
    assert found["reasons"]["guard_overload"]["less_percent"] == 100
    page, text = text_of(found)
    assert (
        "With gcc in charge, Weir would have sent more in 20 % of the time and less in 10 %; in 70 % both agree" in text
    )
    assert "Open loop" in text
    assert [row[0] for row in table_of(page, "reasons")[1:]] == ["controller", "guard_overload"]
    assert found["report"] == str(tmp_path / "report.html")


def test_an_estimator_without_a_target_limits_only_what_weir_would_limit():
    weir, received = np.array([5e5, 1e6, 9e6]), np.full(3, 1e6)
    more, less = compare_targets(weir, np.full(3, np.nan), received)
    assert not more.any()
    assert less.tolist() == [True, False, False]


def test_groups_are_compared_with_intervals(run_weir, tmp_path):
    random = np.random.default_rng(1)
    for number in range(40):
        weir = number % 4 == 0
        rate = (700_000 if weir else 500_000) + 20_000 * random.standard_normal()
        events = [observation(i, in_charge="weir" if weir else "gcc", received_bps=int(rate)) for i in range(60)]
        freezes = 1 if weir else 1 + int(random.integers(3))
        events.append({"type": "viewer", "time_us": 60_000_000, "freezes": freezes, "frozen_ms": 600.0 * freezes})
        write_log(tmp_path, f"call-{number}", events)
    mixed = [observation(0), observation(1, in_charge="weir")]
    write_log(tmp_path, "mixed", mixed)
    found = report(run_weir, tmp_path)
    assert found["in_charge"] == {"weir": 10, "other": 30, "changed": 1}
    rows = {row["measure"]: row for row in found["comparison"]}
    low, high = rows["received_kbps"]["ci95"]
    assert 180 < low < 200 < high < 225
    assert rows["frozen_percent"]["weir"] == 1.0
    assert rows["freezes_per_minute"]["difference"] < 0
    _, text = text_of(found)
    assert "10 connections with Weir in charge, 30 with gcc. 1 in which this changed are left out." in text


def test_without_connections_of_weir_there_is_no_comparison(run_weir, tmp_path):
    write_log(tmp_path, "one", [observation(0)])
    found = report(run_weir, tmp_path)
    assert found["comparison"] == []
    assert "No comparison" in text_of(found)[1]


def test_one_log_has_a_page_of_its_own(run_weir, tmp_path):
    path = write_log(tmp_path, "one", [observation(i, weir_bps=2_000_000) for i in range(5)])
    assert is_observation_log(path)
    found = report(run_weir, path, "--out", tmp_path / "page")
    assert found["connections"] == 1
    page, text = text_of(found)
    assert table_of(page, "apart")[1][0].startswith("one")
    assert str(tmp_path) not in text


def test_hostile_lines_are_skipped(tmp_path):
    path = write_log(tmp_path, "<b>" + "x" * 200, [])
    bad = [
        {"weir_bps": None}, {"weir_bps": 1e300}, {"loss_ratio": 2}, {"queueing_delay_ms": -1}, {"time_us": "now"},
        {"received_bps": True},
    ]  # fmt: skip
    with path.open("a") as file:
        for changes in bad:
            file.write(json.dumps(observation(1, **changes)) + "\n")
        file.write("[[[\n" + json.dumps(observation(2, other_bps=None, weir_reason=5)) + "\n")
        file.write('{"type": "viewer", "freezes": -1, "frozen_ms": 1}\n{"type": "observation", "ti')
    one = read_observation_log(path)
    assert len(one) == 1
    assert len(one.name) == 100
    assert np.isnan(one.numbers["other_bps"]).all()
    assert one.freezes is None


def test_a_log_that_cannot_be_read_does_not_stop_the_report_of_a_folder(run_weir, tmp_path):
    write_log(tmp_path, "one", [observation(0)])
    write_log(tmp_path, "begun", [])
    (tmp_path / "empty.observed.jsonl").touch()
    found = report(run_weir, tmp_path)
    assert (found["connections"], found["skipped"]) == (1, 2)
    assert "2 logs without an observation are left out" in text_of(found)[1]
    status, _, error = run_weir("report", tmp_path / "empty.observed.jsonl")
    assert status == 2, error


def test_logs_without_an_observation_are_refused(run_weir, tmp_path):
    write_log(tmp_path, "one", [])
    status, _, error = run_weir("report", tmp_path)
    assert status == 2
    assert "no log has an observation" in error


@pytest.mark.parametrize("few", [0, 5])
def test_a_small_group_has_no_interval(few):
    assert independent_interval(np.arange(few, dtype=float), np.arange(50.0)) == (None, None)


def test_the_interval_of_two_groups_covers():
    random = np.random.default_rng(2)
    covered = 0
    for _ in range(200):
        low, high = independent_interval(random.normal(1, 3, 8), random.normal(0, 1, 40))
        covered += low <= 1 <= high
    assert covered > 184


def test_a_small_group_of_skewed_values_is_rarely_different_by_chance():
    random = np.random.default_rng(3)
    false = 0
    for _ in range(200):
        low, high = independent_interval(random.lognormal(0, 1.5, 8), random.lognormal(0, 1.5, 100))
        false += low > 0 or high < 0
    assert false < 18
