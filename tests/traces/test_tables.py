"""Tables of others: columns and units by header, data set or convention, else by a statement; never by a guess."""

from pathlib import Path

import pytest

from weir_cli.errors import InputError
from weir_traces.formats.importers import read_trace
from weir_traces.formats.reading import AS_WRITTEN, Reading
from weir_traces.formats.units import BYTES_SINCE, RateUnit, parse_units, rate_unit
from weir_traces.schema.capacity import CapacityTrace

KBPS, MBPS = RateUnit(1e3), RateUnit(1e6)
UCC = "Timestamp,Speed,NetworkMode,RSRP,DL_bitrate,UL_bitrate,State\n"
STARLINK = "time,throughput,speed,latitude,longtitu\n"


def read(tmp_path: Path, text: str, reading: Reading = AS_WRITTEN) -> CapacityTrace | None:
    path = tmp_path / "trace.txt"
    path.write_text(text)
    return read_trace(path, reading=reading).capacity


def refused(tmp_path: Path, text: str, reading: Reading = AS_WRITTEN) -> str:
    with pytest.raises(InputError) as refusal:
        read(tmp_path, text, reading)
    assert str(refusal.value).startswith(f"{tmp_path}/trace.txt: ")
    return str(refusal.value)


TRACE = CapacityTrace([0, 1, 2], [0.5e6, 1e6, 2.5e6], 3)


@pytest.mark.parametrize(
    "text",
    [
        "timestamp,bandwidth_mbps\n0.0,0.5\n1.0,1\n2.0,2.5\n",
        "time_ms,kbps\n0,500\n1000,1000\n2000,2500\n",
        "Time (s);Throughput (kbit/s)\n0;500\n1;1000\n2;2500\n",
        "t,latency_ms,Bandwidth [Mbit/s]\n5,40,0.5\n6,50,1\n7,60,2.5\n",
        "elapsed_s\trate_bits_per_second\n0\t500000\n1\t1000000\n2\t2500000\n",
        "seconds throughputKbps\n0 500\n1 1000\n2 2500\n",
        "timestamp,dl_mbps,ul_mbps\n1700000000,0.5,9\n1700000001,1,9\n1700000002,2.5,9\n",
        "timestamp,Mbps\n1700000000123,0.5\n1700000001123,1\n1700000002123,2.5\n",
        "time_us,capacity_bytes_per_sec\n0,62500\n1000000,125000\n2000000,312500\n",
        "datetime,kbps\n2024-02-29T23:59:59.5Z,500\n2024-03-01T00:00:00.5Z,1000\n2024-03-01 00:00:01.5Z,2500\n",
        "time,kbps\n10:59:59,500\n11:00:00,1000\n11:00:01,2500\n",
        UCC + "2018.01.18_14.22.59,4,LTE,-90,500,7,D\n2018.01.18_14.23.00,4,LTE,-90,1000,7,D\n"
        "2018.01.18_14.23.01,4,LTE,-90,2500,7,D\n",
        STARLINK + "2023-04-10 12:00:05 CDT,0.5,0,45,-92\n2023-04-10 12:00:06 CDT,1,0,45,-92\n"
        "2023-04-10 12:00:07 CDT,2.5,0,45,-92\n",
        "0 500\n1000 1000\n2000 2500\n",
        "7.0 500.0\n1007.0 1000.0\n2007.0 2500.0\n",
        "0,0.5\n1,1.0\n2,2.5\n",
    ],
)  # fmt: skip
def test_tables_that_leave_no_doubt(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == TRACE


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("time,throughput,rsrp,operator\n0,5,-90,A\n", "no rate of a link with its unit: add --rate-column NAME"),
        ("step,Mbps,rsrp\n0,5,-90\n", "no column of times: add --time-column NAME, or --step SECONDS"),
        ("timestamp,time_s,Mbps\n0,0,5\n", "more than one column of times: add --time-column NAME"),
        ("time_s,tcp_mbps,udp_mbps\n0,5,6\n", "more than one rate: add --rate-column NAME"),
        ("time_s,target_mbps\n0,5\n", "no rate of a link with its unit"),
        ("time_s,bandwidth_MBps\n0,5\n", "no rate of a link with its unit"),
        ("time_s,video_bitrate_kbps\n0,5\n", "no rate of a link with its unit"),
        ("timestamp,linkUpKbps,linkDownKbps\n0,15000,30000\n", "no rate of a link with its unit"),
        ("throughput\n5\n6\n", "no column of times"),
    ],
)
def test_a_header_in_doubt_is_shown_whole_with_what_is_missing(tmp_path: Path, text: str, missing: str) -> None:
    message = refused(tmp_path, text)
    assert missing in message
    assert message.endswith(f". The header: {text.splitlines()[0]}")


def test_a_long_header_is_shown_whole_and_a_hostile_one_is_bounded(tmp_path: Path) -> None:
    names = [f"column_number_{index}" for index in range(40)]
    assert refused(tmp_path, ",".join(names) + "\n" + "0," * 39 + "0\n").endswith(",".join(names))
    assert len(refused(tmp_path, ",".join(["x" * 300] * 900) + "\n")) < 1500
    assert "2000 columns; at most 1000 are read" in refused(tmp_path, "x," * 1999 + "x\n")


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("when,through\n0,500\n1,1000\n2,2500\n", Reading("when", "through", None, KBPS)),
        ("when,through\n0,500\n1000,1000\n2000,2500\n", Reading("WHEN", "2", 1e-3, KBPS)),
        ("time,throughput\n0,0.5\n1000,1\n2000,2.5\n", Reading(None, "throughput", 1e-3, MBPS)),
        ("id,Throughput\na,0.5\nb,1\nc,2.5\n", Reading(None, "Throughput", None, MBPS, 1.0)),
        ("time_s,dl_mbps,ul_mbps\n0,9,0.5\n1,9,1\n2,9,2.5\n", Reading(rate_column="ul_mbps")),
        ("0 7 500\n1 7 1000\n2 7 2500\n", Reading("1", "3", 1.0, KBPS)),
        ("7 500\n7 1000\n7 2500\n", Reading(None, "2", None, KBPS, 1.0)),
        ("0 500\n1 1000\n2 2500\n", Reading(None, None, 1.0, KBPS)),
        ("0 500\n1 1000\n2 2500\n", Reading(rate_unit=KBPS)),
        ("500 0\n1000 1\n2500 2\n", Reading("2", "1", 1.0, KBPS)),
        ("time,bytes\n0,9\n1,62500\n2,125000\n3,312500\n", Reading(None, "bytes", None, BYTES_SINCE)),
    ],
)
def test_statements_remove_doubt(tmp_path: Path, text: str, reading: Reading) -> None:
    assert read(tmp_path, text, reading) == TRACE


@pytest.mark.parametrize(
    ("text", "reading", "message"),
    [
        ("time_s,rate_bps\n0,5\n", Reading(rate_unit=MBPS), "rate_bps is in bit/s, and --unit has Mbps; omit --unit"),
        ("time_s,rate_bps\n0,5\n", Reading(time_unit_s=1e-3), "the header has times in s; omit the unit of times"),
        ("time_s,rate_bps\n0,5\n", Reading(rate_column="speed"), "--rate-column 'speed': no column of this name"),
        ("a,b,b\n0,5,6\n", Reading("a", "b"), "--rate-column 'b': more than one column of this name"),
        (
            "a,b\n0,5\n",
            Reading("a", "3"),
            "--rate-column '3': no column of this name; give a name or a number from 1 to 2",
        ),
        ("a,b\n0,5\n", Reading("a", "b"), "b has no unit: add --unit UNIT"),
        ("a,Mbps\n0,5\n", Reading("a", step_s=1), "--step and --time-column: rows have times or a step; omit one"),
        ("x 900\n1 900\n", Reading(time_unit_s=1.0), "line 1: the time is 'x'; it must be a finite number"),
        ("0 5 6\n", AS_WRITTEN, "line 1: 3 columns without a header; add --time-column N"),
        ("0 5 6\n1 6 7\n", Reading("1", "2"), "the rates have no unit; add --unit UNIT"),
    ],
)
def test_statements_that_contradict_or_do_not_suffice(
    tmp_path: Path, text: str, reading: Reading, message: str
) -> None:
    assert message in refused(tmp_path, text, reading)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        # Captures of 5G in Mbps, or a slow link in kbps.
        ("0 731.2\n1 650.5\n2 802.4\n", ["--unit s,kbps", "--unit s,Mbps", "--unit ms,kbps", "--unit ms,Mbps"]),
        ("0 1500000\n1 2500000\n2 2000000\n", ["--unit s,bit/s", "--unit s,kbps"]),
        ("1.0 90125\n2.0 80000\n3.0 70000\n", ["--unit s,bytes: the median is 0.64 Mbps", "--unit s,bit/s"]),
        ("0 1.5\n1000 2.5\n2000 2.0\n", ["--unit ms,Mbps", "--unit s,Mbps"]),
        ("0 5\n30 6\n60 7\n", ["--unit s,UNIT", "--unit ms,UNIT"]),
    ],
)
def test_numbers_that_two_units_fit_are_refused_with_both(tmp_path: Path, text: str, options: list[str]) -> None:
    message = refused(tmp_path, text)
    assert "choose one" in message
    assert all(f"\n  {option}" in message for option in options)


@pytest.mark.parametrize("step", [10, 200, 1000])
def test_times_without_a_unit_are_taken_for_seconds_only_where_they_are_likely(tmp_path: Path, step: int) -> None:
    message = refused(tmp_path, "timestamp,kbps\n" + "".join(f"{step * row},500\n" for row in range(5)))
    assert f"the column 'timestamp' has no unit, and its usual step is {step}" in message
    assert "add --unit s\n" in message
    assert message.endswith("add --unit ms")


def test_a_stated_unit_leaves_the_unit_of_long_steps_in_doubt(tmp_path: Path) -> None:
    text = "0 5\n300 6\n600 7\n"
    assert "  --unit ms,UNIT: the rows span 0.6 s" in refused(tmp_path, text, Reading(rate_unit=MBPS))
    assert read(tmp_path, text, Reading(rate_unit=MBPS, time_unit_s=1.0)) == CapacityTrace(
        [0, 300, 600], [5e6, 6e6, 7e6], 900
    )


def test_rows_without_a_rate_and_rows_of_one_second(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    rows = [f"2018.01.18_14.22.{second:02},4,LTE,-90,{kbps},7,D\n" for second, kbps in
            [(10, "1000"), (11, "-"), (12, "1000"), (12, "1200"), (13, "1000")]]  # fmt: skip
    path.write_text(UCC + "".join(rows))
    trace = read_trace(path)
    assert trace.format == "ucc"
    assert trace.capacity == CapacityTrace([0, 2, 3], [1e6, 1.1e6, 1e6], 4.0)
    assert [finding.located() for finding in trace.findings] == [
        "line 3: warning (missing): 1 rows have no rate; the time of each counts to a row beside it",
        "line 5: warning (same_time): 1 rows have the time of the row before; their rates are averaged",
    ]


def test_the_error_for_a_date_of_another_form_has_a_readable_example(tmp_path: Path) -> None:
    message = refused(tmp_path, "time,Mbps\n01/02/2023 10:00,5\n")
    assert "line 2: time is '01/02/2023 10:00'; it must be a number, or a date such as 2024-02-29 12:00:05" in message


@pytest.mark.parametrize("cell", ["2018.13.18_14.22.10", "soon", "14:22"])
def test_a_cell_that_is_no_time_names_its_line(tmp_path: Path, cell: str) -> None:
    text = f"time,Mbps\n2018.01.18_14.22.10,5\n{cell},6\n"
    assert f"line 3: time is '{cell}'; it must be a date with a time" in refused(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "bps"),
    [
        ("bps", 1), ("kbps", 1e3), ("Mbps", 1e6), ("MBPS", 1e6), ("Gbit/s", 1e9), ("Mb/s", 1e6), ("MB/s", 8e6),
        ("kB/s", 8e3), ("bits per second", 1), ("Mbits/sec", 1e6), ("bytes/s", 8), ("MBps", None), ("Bps", None),
        ("ms", None), ("", None),
    ],
)  # fmt: skip
def test_units(text: str, bps: float | None) -> None:
    assert rate_unit(text) == (None if bps is None else RateUnit(bps))


def test_units_of_the_option() -> None:
    assert parse_units("ms,kbps") == (1e-3, KBPS)
    assert parse_units("Mbps, s") == (1.0, MBPS)
    assert parse_units("ns") == (1e-9, None)
    assert parse_units("bytes") == (None, BYTES_SINCE)
    for text in ("", "furlong", "s,ms", "kbps,Mbps", "s,kbps,"):
        with pytest.raises(InputError, match=r"--unit .*: write a rate"):
            parse_units(text)
