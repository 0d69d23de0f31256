"""RTC event logs of virtual calls: `weir report` shows them, `weir whatif` runs controllers on them."""

import contextlib
import json
import random

import pytest
from html_page import check, data_of

from weir_cli.errors import InputError, MissingComponent
from weir_logs.event_logs.event_log import parse_event_log
from weir_logs.event_logs.event_log_charts import event_log_chart
from weir_logs.event_logs.event_log_file import is_event_log, read_event_log
from weir_logs.event_logs.path_estimate import estimate_path
from weir_sim.executables import find_event_log
from weir_traces.schema.scenario import Scenario

CALL = ("catalogue/steps", "--stack", "libwebrtc", "--encoder", "fake", "--duration", 20, "--seeds", 0, "--jobs", 1)


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """A folder for the logs of this module's calls; skips where weir-event-log is not built."""
    try:
        find_event_log()
    except MissingComponent as error:
        pytest.skip(str(error))
    return tmp_path_factory.mktemp("logs")


@pytest.fixture
def log(logs, virtual_call_program, run_weir, tmp_path):
    """The log of the sender of a virtual call under GCC."""
    if not list(logs.iterdir()):
        arguments = (*CALL, "--controller", "gcc", "--objectives", 0, "--out", tmp_path / "call")
        status, _, error = run_weir("replay", *arguments, WEIR_EVENT_LOGS=str(logs))
        assert status == 0, error
    return next(iter(logs.iterdir()))


def words_of(page):
    return " ".join(" ".join(check(page).text).split())


def test_the_report_has_rates_delay_loss_and_probes(log, run_weir, tmp_path):
    assert is_event_log(log)
    status, printed, error = run_weir("report", log, "--out", tmp_path / "page", "--json")
    assert status == 0, error
    numbers = json.loads(printed)
    assert 15 < numbers["duration_s"] < 30
    assert 100 < numbers["acknowledged_kbps"] <= numbers["sent_kbps"] < 5000
    assert numbers["probes"] > 0
    assert numbers["delay_ms_p95"] > 1
    page = (tmp_path / "page/report.html").read_text(encoding="utf-8")
    assert words_of(page).index(f"acknowledged {numbers['acknowledged_kbps']:,.1f} kbps") < words_of(page).index(
        "Value"
    )
    chart = event_log_chart(parse_event_log(read_event_log(log).lines(), "log"), "log")
    assert [row["title"] for row in chart["rows"]][:3] == ["Rate, kbps", "Delay, ms", "Lost, %"]


def test_gcc_in_open_loop_has_the_logged_targets(log, run_weir, tmp_path):
    status, printed, error = run_weir("whatif", log, "--controller", "gcc", "--json", "--out", tmp_path / "page")
    assert status == 0, error
    logged, gcc = json.loads(printed)["controllers"]
    assert (logged["controller"], gcc["controller"]) == ("logged", "gcc")
    assert gcc["median_percent"] < 2
    page = (tmp_path / "page/report.html").read_text(encoding="utf-8")
    result = words_of(page).index(f"gcc is closest to the logged target: {gcc['median_percent']:.1f} % from it")
    assert result < words_of(page).index("Open loop")
    # A name and a color mean one line, in the table and in the chart.
    drawn = [line for row in data_of(page)["charts"][0]["rows"] for line in row["lines"]]
    assert len({line["colour"] for line in drawn}) == len(drawn) > 5
    assert [line["name"] for line in drawn][:2] == ["logged target", "target of gcc"]
    assert words_of(page).count("logged target") >= 3


def test_a_receivers_controller_has_the_packets_that_feedback_names(log, run_weir, tmp_path):
    arguments = ["--controller", "weir", "--controller", "scream", "--json", "--out", tmp_path / "page"]
    status, printed, error = run_weir("whatif", log, *arguments)
    assert status == 0, error
    found = json.loads(printed)["controllers"]
    assert [row["controller"] for row in found] == ["logged", "weir", "scream"]
    assert 100 < found[1]["lowest_kbps"] < 0.8 * found[1]["highest_kbps"] < 10_000


def test_calls_on_the_estimated_path_predict_the_logged_one(log, run_weir, tmp_path):
    out = tmp_path / "closed"
    status, printed, error = run_weir("whatif", log, "--closed-loop", "--controller", "gcc", "--json", "--out", out)
    assert status == 0, error
    found = json.loads(printed)
    logged, gcc = found["controllers"]
    assert gcc["receive_rate_bps"] == pytest.approx(logged["receive_rate_bps"], rel=0.15)
    assert gcc["freeze_count"] >= 0
    assert "known paths" in found["warning"]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert words_of(page).index("logged: receive rate") < words_of(page).index("known paths")
    assert found["warning"] in page
    path = Scenario.load(found["scenario"])
    assert path.forward.mean_capacity_bps(path.duration_s) > 3e5


def test_damaged_logs_are_read_or_refused(log, tmp_path):
    content = log.read_bytes()
    draw = random.Random(1)
    for _ in range(20):
        data = bytearray(content[: draw.randrange(1, len(content))])
        for _ in range(draw.randrange(20)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        damaged = tmp_path / "damaged"
        damaged.write_bytes(bytes(data))
        with contextlib.suppress(InputError):
            found = parse_event_log(read_event_log(damaged).lines(), "damaged")
            assert found.duration_s >= 0
            assert estimate_path(found, "damaged").scenario.duration_s > 0


def test_a_missing_program_is_named(run_weir, monkeypatch, tmp_path):
    monkeypatch.setenv("WEIR_EVENT_LOG", str(tmp_path / "none"))
    (tmp_path / "log").write_bytes(b"\x82\x01\x00")
    status, _, error = run_weir("report", tmp_path / "log")
    assert status == 3
    assert "make webrtc" in error
