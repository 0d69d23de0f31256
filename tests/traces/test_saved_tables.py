"""Tables as spreadsheets, editors and loggers save them: read as meant, or refused with the way to read them."""

from pathlib import Path

import pytest

from weir_cli.errors import InputError
from weir_traces.formats import ImportedTrace
from weir_traces.formats.importers import read_trace
from weir_traces.schema.capacity import CapacityTrace

TRACE = CapacityTrace([0, 1, 2], [0.5e6, 1e6, 2.5e6], 3)


def read(tmp_path: Path, content: str | bytes) -> ImportedTrace:
    path = tmp_path / "trace.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_trace(path)


def refused(tmp_path: Path, content: str) -> str:
    with pytest.raises(InputError) as refusal:
        read(tmp_path, content)
    return str(refusal.value)


@pytest.mark.parametrize(
    "content",
    [
        # Lines that end with a carriage return alone: the header counts, and with it its units.
        "time_ms,rate_mbps\r0,0.5\r1000,1\r2000,2.5\r",
        "time_s,throughput (MB/s)\r0,0.0625\r1,0.125\r2,0.3125\r",
        "time_s\tMbps\r\n0\t0.5\r\n1\t1\r\n2\t2.5\r\n".encode("utf-16"),
        b"\xef\xbb\xbfsep=;\r\ntime_s;rate_mbps\r\n0;0.5\r\n1;1\r\n2;2.5\r\n",
        # Decimal commas.
        "time_s;rate_mbps\n0,0;0,500\n1,0;1,000\n2,0;2,500\n",
        "Time (s)\tThroughput (Mbps)\n0\t0,5\n1\t1\n2\t2,5\n",
        "0,0;0,5\n1,0;1,0\n2,0;2,5\n",
        "0,0 0,5\n1,0 1,0\n2,0 2,5\n",
        "0,0\t0,5\n1,0\t1,0\n2,0\t2,5\n",
        "time;kbps\n10:00:00,250;500\n10:00:01,250;1000\n10:00:02,250;2500,0\n",
        # A log that passes midnight.
        "time,kbps\n23:59:58,500\n23:59:59,1000\n00:00:00,2500\n",
        "timestamp,kbps\n20240229235959,500\n20240301000000,1000\n20240301000001,2500\n",
    ],
)
def test_tables_that_leave_no_doubt(tmp_path: Path, content: str | bytes) -> None:
    trace = read(tmp_path, content)
    assert trace.capacity == TRACE
    assert not trace.findings


def test_deliveries_with_carriage_returns(tmp_path: Path) -> None:
    newlines = "".join(f"{4 * row}\n" for row in range(1, 1500))
    assert read(tmp_path, newlines.replace("\n", "\r")).capacity == read(tmp_path, newlines).capacity


@pytest.mark.parametrize(
    "rows",
    ["time_s,kbps\n12,2500\n11,1000\n10,500\n", "time,Mbps\n10:00:02,2.5\n10:00:01,1\n10:00:00,0.5\n"],
)
def test_rows_from_the_newest_to_the_oldest_are_reversed(tmp_path: Path, rows: str) -> None:
    trace = read(tmp_path, rows)
    assert trace.capacity == TRACE
    assert (
        "line 3: warning (unsorted): the rows run from the newest to the oldest; repair: sorted by time"
        in [finding.located() for finding in trace.findings]
    )  # fmt: skip


def test_rows_of_one_second_are_averaged_in_either_order(tmp_path: Path) -> None:
    rows = ["2024-02-29 10:00:00,0.5\n", "2024-02-29 10:00:01,0.75\n", "2024-02-29 10:00:01,1.25\n",
            "2024-02-29 10:00:02,2.5\n"]  # fmt: skip
    assert read(tmp_path, "time,Mbps\n" + "".join(rows[::-1])).capacity == TRACE


def test_a_stated_unit_makes_a_number_of_what_could_be_a_date(tmp_path: Path) -> None:
    trace = read(tmp_path, "time_ns,kbps\n20240101000000,500\n20241101000000,1000\n20242101000000,2500\n")
    assert trace.capacity == TRACE


def test_rows_of_which_only_some_run_backwards_are_refused(tmp_path: Path) -> None:
    assert "line 4: error (non_monotone_time)" in refused(tmp_path, "time_s,kbps\n0,5\n2,6\n1,7\n3,8\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        # Either a decimal comma or one between thousands.
        (
            "time_s;kbps\n0;1,592\n1;2,100\n",
            "line 2: kbps is '1,592'; it must be a finite number, with a decimal point",
        ),
        ("time_s;kbps\n0;1.592,5\n1;2.100,0\n", "without separators of thousands"),
        (
            "time_s,rate_mbps\n0,5\n1,NaN\n2,5\n",
            "line 3: rate_mbps is 'NaN'; it must be a finite number; fix",
        ),
        ("Test 12\ntime_s,kbps\n0,5\n", "line 2: 1 fields; each row has 2, as line 1; fix the line, or delete a title"),
        # Python's float takes it for 142200.
        ("time,Mbps\n14_22_00,5\n14_22_20,6\n", "time is '14_22_00'; it must be a number, or a date such as"),
        ("timestamp,kbps\n20240229000000,5\n20240230000001,6\n", "it must be a date with a time"),
        ("time,Mbps\n45000.00001157,5\n45000.00002315,6\n", "days, as spreadsheets count: multiply them by 86400"),
        ("timestamp,Mbps\n0,5\n1000000,6\n", "microseconds: add --unit us\n"),
        ("0 5.5\n10 6.5\n20 7.5\n", "--unit ms,UNIT: the rows span 0.02 s"),
    ],
)
def test_doubt_is_refused_with_the_way_to_read_the_file(tmp_path: Path, content: str, message: str) -> None:
    assert message in refused(tmp_path, content)
