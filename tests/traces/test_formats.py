"""Reading and writing the formats of others."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir_cli.errors import InputError
from weir_traces.formats import ImportedTrace
from weir_traces.formats.convert import to_scenario
from weir_traces.formats.csv_trace import write_csv
from weir_traces.formats.importers import inspect_trace, read_trace
from weir_traces.formats.mahimahi import DELIVERY_BITS, read_mahimahi, write_mahimahi
from weir_traces.formats.opennetlab import read_opennetlab, write_opennetlab
from weir_traces.formats.reading import AS_WRITTEN
from weir_traces.formats.recognize import Content, recognized
from weir_traces.formats.tables.header_table import read_header_table
from weir_traces.formats.tables.table import Table
from weir_traces.schema.capacity import CapacityTrace

traces = st.lists(
    st.tuples(st.integers(1, 4000), st.one_of(st.just(0), st.integers(40_000, 50_000_000))), min_size=1, max_size=30
).map(lambda pairs: CapacityTrace.from_durations([ms / 1e3 for ms, _ in pairs], [rate for _, rate in pairs]))


def read_csv(text: str, source: str) -> ImportedTrace:
    return read_header_table(Table(text, source), AS_WRITTEN)


def bits(trace: CapacityTrace) -> float:
    assert trace.period_s is not None
    return float(trace.integrate(0, trace.period_s))


@given(traces)
@settings(max_examples=60)
def test_csv_gives_the_same_trace_back(trace: CapacityTrace) -> None:
    assert read_csv(write_csv(trace), "x.csv").capacity == trace


def test_csv_of_a_constant_for_ever() -> None:
    trace = CapacityTrace.constant(1e6)
    assert read_csv(write_csv(trace), "x.csv").capacity == trace


@given(traces)
@settings(max_examples=60)
def test_opennetlab_gives_the_same_trace_back(trace: CapacityTrace) -> None:
    text = write_opennetlab(trace, loss_ratio=0.25, one_way_delay_ms=40)
    read = read_opennetlab(json.loads(text), "x.json")
    assert read.capacity is not None
    assert read.capacity.period_s == pytest.approx(trace.period_s, abs=1e-9)
    np.testing.assert_allclose(read.capacity.times_s, trace.times_s, atol=1e-9)
    np.testing.assert_allclose(read.capacity.rates_bps, trace.rates_bps, rtol=1e-9)
    assert (read.loss_ratio, read.one_way_delay_ms) == (pytest.approx(0.25), pytest.approx(40))


@given(traces)
@settings(max_examples=60)
def test_mahimahi_keeps_integral_and_length(trace: CapacityTrace) -> None:
    if round(bits(trace) / DELIVERY_BITS) < 1:
        with pytest.raises(InputError, match="less than one packet"):
            write_mahimahi(trace)
        return
    text = write_mahimahi(trace)
    ms = np.array([int(line) for line in text.splitlines()])
    assert np.all(np.diff(ms) >= 0)
    assert ms[-1] == round(trace.period_s * 1e3)
    assert ms.size == pytest.approx(bits(trace) / DELIVERY_BITS, abs=0.51)
    # Nothing is delivered before the capacity has carried it, nor more than a millisecond later (but for the last one).
    carried = trace.integrate(np.zeros(ms.size - 1), ms[:-1] / 1e3) / DELIVERY_BITS
    wanted = np.arange(1, ms.size)
    assert np.all(carried >= wanted - 1e-3)
    before = trace.integrate(np.zeros(ms.size - 1), np.maximum(ms[:-1] - 1, 0) / 1e3) / DELIVERY_BITS
    assert np.all(before < wanted + 1e-3)
    read = read_mahimahi(text, "x.up").capacity
    assert read is not None
    assert bits(read) == pytest.approx(ms.size * DELIVERY_BITS)
    assert read.period_s == ms[-1] / 1e3


@given(st.lists(st.integers(0, 20_000), min_size=1, max_size=300), st.integers(1, 1000))
@settings(max_examples=60)
def test_mahimahi_windows_hold_every_delivery(times: list[int], window_ms: int) -> None:
    times = [*sorted(times), 20_001]
    read = read_mahimahi("\n".join(map(str, times)), "x", window_ms=window_ms).capacity
    assert read is not None
    assert bits(read) == pytest.approx(len(times) * DELIVERY_BITS)


def test_mahimahi_windows() -> None:
    lines = [0, 100, 199, 200, 700, 1050]
    read = read_mahimahi("\n".join(map(str, lines)) + "\n", "x").capacity
    assert read is not None
    # The rest of 50 ms belongs to the window before it; 400 to 600 ms carries nothing.
    assert read.times_s.tolist() == [0, 0.2, 0.4, 0.6, 0.8]
    assert read.period_s == 1.05
    expected = [3 * 12000 / 0.2, 12000 / 0.2, 0, 12000 / 0.2, 12000 / 0.25]
    assert read.rates_bps.tolist() == pytest.approx(expected)


def test_opennetlab_units_and_sticky_values() -> None:
    pattern = [
        {"duration": 500, "capacity": 1000, "loss": 0.1, "rtt": 200, "time": 0.0},
        {"duration": 1500, "capacity": 2000.5},
        {"duration": 2000},
    ]
    read = read_opennetlab({"type": "video", "downlink": {}, "uplink": {"trace_pattern": pattern}}, "x.json")
    assert read.capacity == CapacityTrace([0, 0.5, 2.0], [1e6, 2.0005e6, 2.0005e6], 4.0)
    assert (read.loss_ratio, read.one_way_delay_ms, read.findings) == (pytest.approx(0.1), 100, [])


def test_csv_units_shift_comments_and_length() -> None:
    text = "# from somewhere\ntime_ms,rate_kbps\n1000,500\n\n1500,600\n2500,700\n"
    read = read_csv(text, "x.csv")
    # The last rate holds for the median step, 750 ms.
    assert read.capacity == CapacityTrace([0, 0.5, 1.5], [5e5, 6e5, 7e5], 2.25)
    assert [str(finding) for finding in read.findings] == [
        "x.csv: line 3: warning (shifted): the first time is 1 s; all times are shifted so that it becomes 0"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"uplink": {}}', "opennetlab"),
        ('  \n{"schema": "weir.scenario/1"}', "scenario"),
        ('{"forward": 1}', "scenario"),
        ("0\n5\n", "mahimahi"),
        ("# comment\n12\n", "mahimahi"),
        ("time_s,rate_bps\n0,1\n", "csv"),
        ("0,1\n", "columns"),
        ("0 1\n", "columns"),
        ("0.5\t1e-1\n", "columns"),
        ("5.5\n", "mahimahi"),
    ],
)
def test_detection_by_content(text: str, expected: str) -> None:
    assert recognized(Content(text, "x", AS_WRITTEN, 200)).name == expected


CSV = "time_s,rate_bps\n"
# As https://puffer.stanford.edu/data-description/ describes it, without most columns.
PUFFER = "time (ns GMT),session_id,cwnd,delivery_rate\n1500000000,a,5,250000\n3500000000,a,5,125000\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "hello\n",
            "line 1: neither JSON, nor CSV with a header such as time_s,rate_bps, nor columns of numbers",
        ),
        ("{}", 'JSON, but neither a scenario ("schema": "weir.scenario/1") nor an OpenNetLab trace'),
        ("[1, 2]", "JSON, but neither"),
        ('{"uplink": ', "line 1, column 12: not valid JSON"),
        ('{"uplink": {}}', "uplink.trace_pattern: must be an array with at least one entry"),
        ('{"uplink": {"trace_pattern": []}}', "uplink.trace_pattern: must be an array with at least one entry"),
        ('{"uplink": {"trace_pattern": [5]}}', "entry 0 (uplink.trace_pattern[0]): must be a JSON object"),
        (
            '{"uplink": {"trace_pattern": [{"capacity": 5}]}}',
            'entry 0 (uplink.trace_pattern[0]): "duration" is missing',
        ),
        (
            '{"uplink": {"trace_pattern": [{"duration": 5}]}}',
            'entry 0 (uplink.trace_pattern[0]): "capacity" is missing',
        ),
        (
            '{"uplink": {"trace_pattern": [{"duration": 5, "capacity": "5"}]}}',
            "entry 0 (uplink.trace_pattern[0]): capacity is '5'; it must be a number of at most 1e+12",
        ),
        (
            '{"uplink": {"trace_pattern": [{"duration": true, "capacity": 5}]}}',
            "entry 0 (uplink.trace_pattern[0]): duration is True; it must be a number of at most 1e+12",
        ),
        ('{"uplink": {"trace_pattern": [{"duration": NaN, "capacity": 5}]}}', "NaN is no JSON number"),
        (
            '{"uplink": {"trace_pattern": [{"duration": 5, "capacity": 1e308}]}}',
            "entry 0 (uplink.trace_pattern[0]): capacity is 1e+308; it must be a number of at most 1e+12",
        ),
        (
            '{"uplink": {"trace_pattern": [{"duration": 0, "capacity": 5}]}}',
            "uplink.trace_pattern: no entry lasts",
        ),
        ("5\n7.5.1\n", "line 2: '7.5.1' is no time in milliseconds"),
        ("5\n\n-7\n", "line 3: '-7' is no time in milliseconds"),
        ("5\nx\n", "line 2: 'x' is no time in milliseconds"),
        ("0 1\n1 2 3\n", "line 2: 3 fields; each row has 2"),
        ("0 1\nx 2\n", "line 2: the time is 'x'; it must be a finite number"),
        (
            "0 1500000\n1 2500000\n",
            "nothing names the units of times and rates; choose one:\n  --unit s,bit/s: the median is 1.5",
        ),
        ("0\n0\n", "line 2: the trace ends at 0 ms"),
        ("time_s,rate\n0,1\n", "line 1: the header names no rate of a link with its unit: add --rate-column NAME"),
        ("time_s,rate_bps,rate_kbps\n0,1,1\n", "line 1: the header names more than one rate: add --rate-column NAME"),
        (PUFFER + "2,b,5,7\n", "line 4: another session_id begins; keep the rows of one in a file"),
        (CSV, "no row of data; add at least one time and rate"),
        (CSV + "0,1,2\n", "line 2: 3 fields; each row has 2"),
        (CSV + "0,1000000\n\n1,fast\n", "line 4: rate_bps is 'fast'; it must be a finite number"),
        (CSV + "zero,1\n", "line 2: time_s is 'zero'; it must be a number, or a date such as 2024-02-29 12:00:05"),
        (CSV + "0,nan\n", "line 2: rate_bps is 'nan'; it must be a finite number"),
        (CSV + "0,inf\n", "line 2: rate_bps is 'inf'; it must be a finite number"),
        (CSV + "0,1e308\n", "line 2: rate_bps is '1e308'; it must be a finite number of at most 1e+20"),
        (CSV + "0,1\n1,\n2,5\n", "line 4: only the last row may have no rate; fill in the one above"),
        (CSV + "0,\n", "no row of data"),
    ],
)
def test_parse_errors_name_file_and_place(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    path.write_text(text)
    for repair in (False, True):
        with pytest.raises(InputError) as refusal:
            read_trace(path, repair=repair)
        assert str(refusal.value).startswith(f"{path}: {message}")


def test_no_window_of_nothing() -> None:
    with pytest.raises(InputError, match="at least 1 ms"):
        read_mahimahi("5\n", "x", window_ms=0)


@pytest.mark.parametrize(
    ("name", "content", "trace"),
    [
        ("pensieve", b"0.0 1.5\n1.0 2.25\n2.0 0.5\n", CapacityTrace([0, 1, 2], [1.5e6, 2.25e6, 0.5e6], 3)),
        ("fcc", b"0\t4.5\r\n5\t4.25\r\n10\t0\r\n", CapacityTrace([0, 5, 10], [4.5e6, 4.25e6, 0], 15)),
        ("puffer", PUFFER.encode(), CapacityTrace([0, 2], [2e6, 1e6], 4)),
        ("kbps", b"time_s,rate_kbps\n0,1000\n1,2000\n", CapacityTrace([0, 1], [1e6, 2e6], 2)),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_traces_of_others_are_read_as_they_come(
    name: str, content: bytes, trace: CapacityTrace, packed: bool, tmp_path: Path
) -> None:
    path = tmp_path / (f"{name}.txt.gz" if packed else f"{name}.txt")
    path.write_bytes(gzip.compress(content[:9]) + gzip.compress(content[9:]) if packed else content)
    assert read_trace(path).capacity == trace
    assert to_scenario(read_trace(path)).name == name


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(CSV.encode() * 50, mtime=0)[:-20], "is damaged gzip"),
        (gzip.compress(b"0 1\n", mtime=0) * 65, "is gzip of over 64 members"),
        (gzip.compress(bytes(65 << 20), mtime=0), "unpacks to over 64 MiB"),
    ],
    ids=["damaged", "members", "size"],
)
def test_gzip_is_bounded(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.gz").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_trace(tmp_path / "x.gz")


def shared(folder: str) -> list[Path]:
    root = os.environ.get("WEIR_SHARED")
    if not root:
        pytest.skip("WEIR_SHARED is not set: no real traces to read")
    return sorted((Path(root) / "traces" / folder).iterdir())


def test_real_opennetlab_traces() -> None:
    artefacts = {}
    for path in shared("opennetlab"):
        imported = inspect_trace(path)
        assert imported.format == "opennetlab"
        assert imported.capacity is not None
        assert imported.errors == []
        assert imported.capacity.rates_bps.max() <= 1e9
        artefacts[path.stem] = sum("timer artefact" in finding.message for finding in imported.findings)
        assert read_trace(path).capacity == imported.capacity
        if artefacts[path.stem]:
            with pytest.raises(InputError, match="omit --strict"):
                read_trace(path, strict=True)
    assert {name: count for name, count in artefacts.items() if count} == {
        "4G_3mbps": 1, "5G_13mbps": 3, "WIRED_35mbps": 3
    }  # fmt: skip


def test_real_mahimahi_traces() -> None:
    for path in shared("mahimahi"):
        imported = read_trace(path)
        lines = path.read_text().split()
        assert imported.capacity is not None
        assert bits(imported.capacity) == pytest.approx(len(lines) * DELIVERY_BITS)
        assert imported.capacity.period_s == int(lines[-1]) / 1e3
        assert 300e3 < imported.capacity.mean_bps() < 1.5e6


def test_a_mahimahi_file_beyond_the_limit_of_its_reader_is_refused() -> None:
    fast = CapacityTrace(np.array([0.0]), np.array([10e9]), 3600.0)
    with pytest.raises(InputError, match="more than a Mahimahi file of 64 MiB holds"):
        write_mahimahi(fast)
