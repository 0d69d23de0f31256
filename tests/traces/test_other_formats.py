"""Logs of bytes, of mm-link, networks of Sabre and sessions of MMSys 2024."""

import json
from pathlib import Path

import pytest

from weir_cli.errors import InputError
from weir_traces.formats.importers import inspect_trace, read_trace
from weir_traces.schema.capacity import CapacityTrace
from weir_traces.schema.values_over_time import DelayOverTime


def file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "trace"
    path.write_text(text)
    return path


def refused(tmp_path: Path, text: str) -> str:
    with pytest.raises(InputError) as refusal:
        read_trace(file(tmp_path, text))
    return str(refusal.value)


ROW = "{} {} 59.851754 10.781778 {} {}\n"


@pytest.mark.parametrize("epoch", [1_289_406_399, 1_453_121_790_686])
def test_a_log_of_bytes_has_the_rate_of_the_time_before_each_row(tmp_path: Path, epoch: int) -> None:
    rows = [(1000, 125_000, 1000), (2500, 93_750, 1500), (15_900, 1374, 13_400), (16_900, 250_000, 1000)]
    text = "".join(ROW.format(epoch + index, *row) for index, row in enumerate(rows))
    trace = read_trace(file(tmp_path, text))
    assert trace.format == "byte log"
    assert trace.capacity is not None
    assert trace.capacity.times_s.tolist() == [0, 1, 2.5, 15.9]
    assert trace.capacity.period_s == 16.9
    assert trace.capacity.rates_bps.tolist() == pytest.approx([1e6, 0.5e6, 1374 * 8 / 13.4, 2e6])


def test_rows_of_a_log_that_took_no_time(tmp_path: Path) -> None:
    first = ROW.format(1_289_406_399, 1000, 125_000, 1000)
    found = inspect_trace(file(tmp_path, first + ROW.format(1_289_406_400, 1000, 5, 0)))
    assert [finding.located() for finding in found.errors] == [
        "line 2: error (bad_duration): the row took 0 ms; repair: the entry is dropped"
    ]
    assert "no row took longer than 0 ms" in refused(tmp_path, ROW.format(1_289_406_399, 1000, 5, 0))
    assert "line 2: the bytes is 'x'" in refused(tmp_path, first + ROW.format(1_289_406_400, 1000, "x", 1))
    assert "6 columns without a header" in refused(tmp_path, "1 2 3 4 5 6\n")


LINK = """# mahimahi mm-link (downlink) [trace.up] > log
# queue: droptail [bytes=60000]
# init timestamp: 1700000000000
# base timestamp: 500
"""


def test_a_log_of_mm_link_has_its_opportunities(tmp_path: Path) -> None:
    # A derived emulator adds numbers, and events.
    events = "600 # 1504\n600 + 1504\n690 # 1504\n690 - 1504 90\n700 d 1 1504\n700 # 1504\n700 s 9 9\n900 # 1504\n"
    trace = read_trace(file(tmp_path, LINK + events))
    assert trace.format == "mm-link"
    assert trace.capacity == CapacityTrace([0, 0.2], [2 * 12e3 / 0.2, 2 * 12e3 / 0.2], 0.4)


def test_a_log_of_mm_link_that_is_damaged(tmp_path: Path) -> None:
    assert "line 6: '600 ? 1' is no event of mm-link" in refused(tmp_path, LINK + "600 + 1504\n600 ? 1\n")
    assert "no delivery opportunity (#)" in refused(tmp_path, LINK + "600 + 1504\n")


def test_a_network_of_sabre(tmp_path: Path) -> None:
    entries = [{"duration_ms": 1020, "bandwidth_kbps": 1051, "latency_ms": 100},
               {"duration_ms": 2791, "bandwidth_kbps": 46, "latency_ms": 60}]  # fmt: skip
    trace = read_trace(file(tmp_path, json.dumps(entries)))
    assert trace.format == "sabre"
    assert trace.capacity == CapacityTrace([0, 1.02], [1.051e6, 46e3], 3.811)
    assert trace.one_way_delay_ms == DelayOverTime(times_s=[0, 1.02], values_ms=[50, 30], period_s=3.811)
    assert "entry 1: must be a JSON object" in refused(tmp_path, json.dumps([entries[0], 5]))
    assert "entry 1" in refused(tmp_path, json.dumps([entries[0], {"bandwidth_kbps": 5}]))


def test_a_session_of_mmsys_2024(tmp_path: Path) -> None:
    session = '{"observations": [[0.5, NaN]], "bandwidth_predictions": [1e6], "video_quality": [NaN, 4], '
    trace = read_trace(file(tmp_path, session + '"true_capacity": [NaN, 1000000.0, 1000000, NaN, 2000000]}'))
    assert trace.format == "mmsys2024"
    assert trace.capacity == CapacityTrace([0, 0.06, 0.12, 0.18, 0.24], [1e6, 1e6, 1e6, 1e6, 2e6], 0.3)
    assert [finding.code for finding in trace.findings] == ["missing"]


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ('"x": 1}', "a session of MMSys 2024 without true_capacity"),
        ('"true_capacity": 5}', "a session of MMSys 2024 without true_capacity"),
        ('"true_capacity": [NaN]}', "true_capacity has no number"),
        ('"true_capacity": [1, "2"]}', "true_capacity[1] is '2'; it must be a number of bit/s"),
        ('"true_capacity": [Infinity]}', "Infinity is no JSON number"),
    ],
)
def test_a_session_without_a_capacity_is_refused_with_the_reason(tmp_path: Path, rest: str, message: str) -> None:
    assert message in refused(tmp_path, '{"bandwidth_predictions": [1e6], ' + rest)
