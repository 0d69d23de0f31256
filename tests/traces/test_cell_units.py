"""Numbers with their unit in the cells of tables."""

import os
from pathlib import Path

import pytest

from weir_cli.errors import InputError
from weir_traces.formats.importers import read_trace
from weir_traces.formats.summary import understood
from weir_traces.reading_options import ReadingArguments
from weir_traces.schema.capacity import CapacityTrace

TRACE = CapacityTrace([0, 0.5, 1], [30e6, 0.9e6, 3e6], 1.5)
ROWS = "30Mbps 10ms 0.00\n900kbps 10ms 0.01\n3Mbit/s 10ms 0.00\n"


def read(tmp_path: Path, text: str, **stated) -> CapacityTrace:
    path = tmp_path / "trace.log"
    path.write_text(text)
    capacity = read_trace(path, reading=ReadingArguments(**stated).reading()).capacity
    assert capacity is not None
    return capacity


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        (ROWS, {"step": 0.5, "rate_column": "1"}),
        # The only column of rates needs no statement.
        (ROWS, {"step": 0.5}),
        ("10ms 30Mbps\n10ms 900kbps\n12ms 3Mbps\n", {"step": 0.5}),
        ('"30 Mbps","10 ms"\n"900 Kbps","10 ms"\n3 Mbps,12 ms\n', {"step": 0.5}),
        # Units as words of their own.
        ("30 Mbps 10 ms 0.0\n900 kbps 10 ms 0.0\n3 Mbps 10 ms 0.0\n", {"step": 0.5}),
        ("a 30Mbps\nb 900kbps\nc 3Mbps\n", {"step": 0.5}),
        # Times with a unit.
        ("0s 30Mbps\n500ms 900kbps\n1s 3Mbps\n", {}),
        ("time,throughput\n0s,30Mbps\n0.5s,900 kbps\n1000ms,3Mbps\n", {}),
        ("time_s,rate\n0,30Mbps\n0.5,900kbps\n1,3Mbps\n", {}),
        ("time_s;dl_mbps\n0;30000kbps\n0.5;0,9Mbps\n1;3Mbps\n", {}),
        ("time_ms,speed\n0,30 Mbps\n500,0.9 Mbps\n1000,3 Mbps\n", {"rate_column": "speed"}),
    ],
)
def test_units_in_cells_are_those_of_the_numbers(tmp_path: Path, text: str, stated: dict) -> None:
    assert read(tmp_path, text, **stated) == TRACE


def test_zero_needs_no_unit(tmp_path: Path) -> None:
    assert read(tmp_path, "time_s,rate\n0,2Mbps\n1,0\n2,1Mbps\n") == CapacityTrace([0, 1, 2], [2e6, 0, 1e6], 3)


@pytest.mark.parametrize(
    ("text", "stated", "message"),
    [
        ("30Mbps 10ms\n5 10ms\n", {"step": 1.0}, "line 2: column 1 is '5'; it must be a number with its unit"),
        ("30Mbps 10ms\n5s 10ms\n", {"step": 1.0}, "line 2: column 1 is '5s'; it must be a number with its unit"),
        ("30Mbps 10ms\nfast 10ms\n", {"step": 1.0}, "line 2: column 1 is 'fast'; it must be a finite number"),
        (ROWS, {"step": 1.0, "unit": "kbps"}, "the numbers have their units in each row; omit this unit"),
        ("time_s,rate\n0,30Mbps\n1,3Mbps\n", {"unit": "kbps"}, "is in Mbps, and --unit has kbps"),
        (ROWS, {}, "add --time-column N (or --step SECONDS)"),
    ],
)
def test_units_that_do_not_agree_are_refused(tmp_path: Path, text: str, stated: dict, message: str) -> None:
    with pytest.raises(InputError) as refusal:
        read(tmp_path, text, **stated)
    assert message in str(refusal.value)


def test_the_case_of_units_in_cells() -> None:
    if not (shared := os.environ.get("WEIR_SHARED")):
        pytest.skip("WEIR_SHARED is not set: no cases to read")
    reading = ReadingArguments(step=0.2, rate_column="1").reading()
    summary = understood(read_trace(Path(shared) / "cases/everyday/units_in_cells/trace.log", reading=reading))
    assert summary is not None
    assert (summary.length_s, summary.mean_bps) == (pytest.approx(120), pytest.approx(20.4e6))
