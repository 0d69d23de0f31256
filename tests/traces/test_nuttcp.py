"""Interval reports of nuttcp."""

import os
from pathlib import Path

import pytest

from weir_cli.errors import InputError
from weir_traces.formats import ImportedTrace
from weir_traces.formats.importers import read_trace
from weir_traces.formats.summary import understood
from weir_traces.schema.capacity import CapacityTrace

TITLE = "nuttcp-t: v8.1.4: socket\nnuttcp-t: buflen=65536, nstream=1, port=5002 tcp -> 10.0.0.2\n"
TCP = (
    "    1.4665 MB /   0.50 sec =   24.6038 Mbps     0 retrans    54 KB-cwnd\n"
    "    0.0000 MB /   0.50 sec =    0.0000 Mbps     3 retrans     2 KB-cwnd\n"
    "    1.4848 MB /   0.51 sec =   24.4224 Mbps     0 retrans    54 KB-cwnd\n"
)
SUMMARY = "    2.9513 MB /   1.52 sec =   16.2878 Mbps 1 %TX 3 %RX 3 retrans 20.31 msRTT\n"
TRACE = CapacityTrace([0, 0.5, 1.0], [24.6038e6, 0, 24.4224e6], 1.51)


def read(tmp_path: Path, text: str) -> ImportedTrace:
    path = tmp_path / "test.txt"
    path.write_text(text)
    return read_trace(path)


@pytest.mark.parametrize(
    "text",
    [
        TITLE + TCP + SUMMARY,
        TCP,
        TCP.replace("0 retrans", "0 /  1224 ~drop/pkt  0.00 ~%loss"),
        # A running total in the same row, and a stamp before it.
        TCP.replace(" Mbps ", " Mbps Tot:     9.9999 MB /   9.99 sec =   99.9999 Mbps "),
        "".join(f"[2026-01-05 10:00:0{row}] {line}\n" for row, line in enumerate(TCP.splitlines())),
        "megabytes=1.4665 real_sec=0.50 rate_Mbps=24.6038 retrans=0\n"
        "megabytes=0.0000 real_sec=0.50 rate_Mbps=0.0000 retrans=3\n"
        "megabytes=1.4848 real_sec=0.51 rate_Mbps=24.4224 retrans=0\n"
        "megabytes=2.9513 real_seconds=1.51 rate_Mbps=16.2878 tx_cpu=1 rx_cpu=3 retrans=3\n",
        TCP.replace("24.6038 Mbps", "24603.8 Kbps"),
    ],
    ids=["tcp", "rows", "udp", "total", "stamps", "parsable", "kbps"],
)
def test_intervals_are_read(tmp_path: Path, text: str) -> None:
    trace = read(tmp_path, text)
    assert (trace.format, trace.capacity) == ("nuttcp", TRACE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TITLE + SUMMARY, "a test of nuttcp without intervals; run it with -i 1"),
        (TITLE, "without intervals"),
        (TCP + SUMMARY + TCP, "line 5: another test begins; keep the rows of one in a file"),
        (TCP.replace("0.51 sec", "0.00 sec"), "line 3: an interval of 0.00 s; fix or delete the row"),
    ],
)
def test_reports_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, text)


def test_the_case_of_nuttcp() -> None:
    if not (shared := os.environ.get("WEIR_SHARED")):
        pytest.skip("WEIR_SHARED is not set: no cases to read")
    summary = understood(read_trace(Path(shared) / "cases/everyday/nuttcp/nuttcp.txt"))
    assert summary is not None
    assert (summary.length_s, summary.mean_bps) == (pytest.approx(60), pytest.approx(45.66e6, rel=1e-4))
