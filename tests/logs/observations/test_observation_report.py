"""`weir report` of logs of connections on which Weir ran beside another estimator."""

import json

import numpy as np
import pytest
from html_page import check, table_of
from made_observations import observation, write_log

from weir_cli.errors import InputError
from weir_cli.reports import ReportRequest
from weir_eval.measures.statistics import independent_interval
from weir_logs.observations import observation_report
from weir_logs.observations.agreement import compare_targets
from weir_logs.observations.observation_log import MOST_OBSERVATIONS, is_observation_log, read_observation_log
from weir_logs.report_again import rewrite


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


def test_a_viewer_that_reports_more_than_its_connection_is_ignored(tmp_path):
    def viewer(**changes):
        return {"type": "viewer", "time_us": 60_000_000, "freezes": 2, "frozen_ms": 1200.0, **changes}

    hostile = [viewer(freezes=1e9), viewer(time_us=None, freezes=3), viewer(frozen_ms=1e12), viewer(frozen_ms=60_001)]
    one = read_observation_log(write_log(tmp_path, "one", [observation(1), viewer(), *hostile]))
    assert (one.freezes, one.frozen_s) == (2, 1.2)


def test_logs_that_cannot_be_read_are_counted_apart_with_the_reason(run_weir, tmp_path):
    write_log(tmp_path, "one", [observation(0)])
    write_log(tmp_path, "begun", [])
    (tmp_path / "other.observed.jsonl").write_text("{}\n")
    (tmp_path / "memory.observed.jsonl").symlink_to("/proc/self/mem")
    found = report(run_weir, tmp_path)
    assert (found["connections"], found["skipped"], found["unreadable"]) == (1, 1, 2)
    _, text = text_of(found)
    assert "1 logs without an observation are left out; 2 logs could not be read, the first is memory.observed" in text
    assert str(tmp_path) not in text


def test_an_error_while_a_log_is_read_names_the_file(tmp_path):
    path = tmp_path / "memory.observed.jsonl"
    path.symlink_to("/proc/self/mem")
    with pytest.raises(InputError, match=r"memory\.observed\.jsonl: cannot be read \(Input/output error\)"):
        read_observation_log(path)


def test_a_log_of_the_size_that_a_host_writes_is_read(tmp_path):
    path = write_log(tmp_path, "one", [])
    with path.open("a") as file:
        file.write("\n" * 2_000_001 + json.dumps(observation(1)) + "\n")
    assert len(read_observation_log(path)) == 1
    host_bytes = 1 << 28
    shortest = {"time_us": 10**15, "weir_reason": "", "loss_ratio": 0, "queueing_delay_ms": 0, "other_bps": None}
    assert host_bytes / len(json.dumps(observation(1, **shortest), separators=(",", ":"))) < MOST_OBSERVATIONS


def test_many_reasons_and_others_are_one_row(run_weir, tmp_path):
    for number in range(8):
        events = [observation(i, weir_reason=f"reason-{number}-{i}") for i in range(200)]
        write_log(tmp_path, f"call-{number}", events, other=f"other-{number}")
    found = report(run_weir, tmp_path)
    assert len(found["reasons"]) == 51
    assert found["reasons"]["other"]["seconds"] == 1600 - 50
    assert found["other"] == "other or other-0 or other-1 or other-2 or other-3 or other-4"


def test_a_log_that_shrinks_while_it_is_reported_has_no_chart(tmp_path, monkeypatch):
    for name in ("one", "two"):
        write_log(tmp_path, name, [observation(0, weir_bps=2_000_000)])
    paths, calls = sorted(tmp_path.glob("*.jsonl")), []

    def read(path):
        calls.append(path)
        if len(calls) == len(paths):
            write_log(tmp_path, "one", [])
            paths[1].unlink()
            return first
        return read_observation_log(path)

    first = read_observation_log(paths[1])
    monkeypatch.setattr(observation_report, "read_observation_log", read)
    numbers, page = observation_report.write_observation_report(paths, "logs", tmp_path / "page")
    assert numbers["connections"] == 2
    assert page.exists()


@pytest.mark.parametrize("option", [("--csv",), ("--reference", "gcc")])
def test_an_option_of_runs_is_refused_before_a_page_is_written(option, run_weir, tmp_path):
    path = write_log(tmp_path, "one", [observation(0)])
    for what in (tmp_path, path):
        status, _, error = run_weir("report", what, *option, "--out", tmp_path / "page")
        assert status == 2, error
    assert not (tmp_path / "page").exists()


def test_a_folder_of_results_with_a_stray_log_is_no_folder_of_logs(run_weir, tmp_path):
    write_log(tmp_path, "stray", [observation(0)])
    (tmp_path / "results.jsonl").touch()
    assert rewrite(ReportRequest(path=tmp_path)) is None
    status, _, error = run_weir("report", tmp_path)
    assert status == 2
    assert "no run is complete yet in results.jsonl" in error
    status, _, error = run_weir("report", tmp_path, "--out", tmp_path / "page")
    assert status == 2
    assert "--out" in error


def test_the_page_of_the_folder_in_which_one_stands_has_its_name(run_weir, tmp_path, monkeypatch):
    folder = tmp_path / "night"
    folder.mkdir()
    write_log(folder, "one", [observation(0)])
    monkeypatch.chdir(folder)
    assert "night: 1 connections" in text_of(report(run_weir, ".", "--out", tmp_path / "page"))[1]
