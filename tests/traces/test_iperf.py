"""Logs of iperf3, as text and JSON: the rates of their intervals, and nothing else of them."""

import json
from pathlib import Path

import pytest

from weir_cli.errors import InputError
from weir_traces.formats import ImportedTrace
from weir_traces.formats.importers import inspect_trace, read_trace
from weir_traces.schema.capacity import CapacityTrace

RATES = [10.5, 0.0, 21.25]
TRACE = CapacityTrace([0, 1, 2], [10.5e6, 0, 21.25e6], 3)
HALF = CapacityTrace([0, 1, 2], [5.25e6, 0, 10.625e6], 3)
HEADER = """Connecting to host 10.0.0.2, port 5201
[  5] local 10.0.0.1 port 40000 connected to 10.0.0.2 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
"""
SUMMARY = """- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-3.00   sec  3.75 MBytes  99.9 Mbits/sec    4             sender
[  5]   0.00-3.04   sec  3.70 MBytes  99.8 Mbits/sec                  receiver

iperf Done.
"""


def read(tmp_path: Path, text: str) -> ImportedTrace:
    path = tmp_path / "iperf.log"
    path.write_text(text)
    return read_trace(path)


def refused(tmp_path: Path, text: str) -> str:
    with pytest.raises(InputError) as refusal:
        read(tmp_path, text)
    return str(refusal.value)


def rows(
    stream: str = "  5", side: str = "", rest: str = "    0    120 KBytes       ", scale: float = 1.0
) -> list[str]:
    return [
        f"[{stream}]{side} {second:6.2f}-{second + 1:<6.2f} sec  1.25 MBytes  {scale * mbps:g} Mbits/sec{rest}\n"
        for second, mbps in enumerate(RATES)
    ]


def csv_row(start: int, end: int, mbps: float, rest: str = "", stream: int = 3) -> str:
    return f"20261129025137,10.0.0.1,40000,10.0.0.2,5001,{stream},{start}.0-{end}.0,131072,{mbps * 1e6:.0f}{rest}\n"


TEXT = "".join(rows())
OMITTED = "".join(rows(rest="    0    120 KBytes       (omitted)"))
PARALLEL = "".join(
    f"{first}{other}{total}- - - - - -\n" for first, other, total in zip(rows("  5", scale=0.5), rows("  7", scale=0.5),
                                                                     rows("SUM", rest="    0"), strict=True)
)  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        HEADER + TEXT + SUMMARY,
        TEXT,
        TEXT.replace("\n", "\r\n"),
        "".join(f"Sun Nov 29 02:51:37 2026 {line}" for line in (HEADER + TEXT + SUMMARY).splitlines(keepends=True)),
        # -f k, -f M: bytes are counted in powers of 1024.
        "".join(f"[  5]   {s}.00-{s + 1}.00   sec  1.25 MBytes  {1e3 * r:g} Kbits/sec\n" for s, r in enumerate(RATES)),
        "".join(f"[  5]   {s}.00-{s + 1}.00   sec  1 MBytes  {r * 1e6 / 2**23:.9f} MBytes/sec\n"
                for s, r in enumerate(RATES)),
        HEADER + OMITTED + TEXT + SUMMARY,
        HEADER + PARALLEL + SUMMARY + SUMMARY.replace("[  5]", "[SUM]"),
        # A server, whose last interval is hardly any time.
        HEADER + "".join(rows(rest="")) + "[  5]   3.00-3.00   sec  0.00 Bytes  0.00 bits/sec\n" + SUMMARY,
        HEADER + "".join(rows(scale=3)) + SUMMARY + "\nServer output:\nAccepted connection\n" + TEXT + SUMMARY,
        # iperf2 -y C, with the client's summary and the server's.
        "".join(csv_row(s, s + 1, r) for s, r in enumerate(RATES)) + csv_row(0, 3, 9.5) + csv_row(0, 3, 9.4, ",0.1"),
        "timestamp,source_address\n" + "".join(
            csv_row(s, s + 1, r / n, stream=k) for s, r in enumerate(RATES) for k, n in ((3, 2), (4, 2), (-1, 1))
        ),
        # An interrupted server.
        HEADER + TEXT + TEXT.splitlines(keepends=True)[-1] + SUMMARY,
        "[ ID] Interval       Transfer     Bandwidth\n"
        + "".join(f"[  3] {s:2d}.0-{s + 1:2d}.0 sec  1.25 MBytes  {r:g} Mbits/sec\n" for s, r in enumerate(RATES))
        + "[  3]  0.0- 3.0 sec  3.75 MBytes  99.9 Mbits/sec\n",
    ],
)  # fmt: skip
def test_text_has_the_rate_of_each_interval(tmp_path: Path, text: str) -> None:
    trace = read(tmp_path, text)
    assert (trace.format, trace.reverse) == ("iperf3", None)
    assert trace.capacity is not None
    assert trace.capacity.period_s == 3
    assert trace.capacity.rates_bps.tolist() == pytest.approx(TRACE.rates_bps.tolist())
    assert {finding.code for finding in trace.findings} <= {"zero_run", "zero_share"}


@pytest.mark.parametrize("sides", [("[TX-C]", "[RX-C]"), ("[RX-S]", "[TX-S]")])
def test_both_directions(tmp_path: Path, sides: tuple[str, str]) -> None:
    back = rows("  7", sides[1], scale=0.5)
    text = "".join(first + other for first, other in zip(rows(side=sides[0]), back, strict=True))
    trace = read(tmp_path, text)
    assert trace.capacity == TRACE
    assert trace.reverse is not None
    assert trace.reverse.capacity == HALF
    assert trace.understood == "the rate of each interval, and the return path's"


def test_json(tmp_path: Path) -> None:
    assert read(tmp_path, json.dumps(session(), indent="\t")).capacity == TRACE
    assert read(tmp_path, json.dumps(session(omitted=2))).capacity == TRACE
    both = read(tmp_path, json.dumps(session(bidir=True)))
    assert both.reverse is not None
    assert (both.capacity, both.reverse.capacity) == (TRACE, HALF)
    assert read(tmp_path, "Control connection MSS 1448\n" + json.dumps(session(), indent=2)).capacity == TRACE
    server = session() | {"intervals": session(omitted=1)["intervals"][:2], "server_output_json": session()}
    assert read(tmp_path, json.dumps(server)).capacity == TRACE
    events = [
        ("start", session()["start"]),
        *(("interval", interval) for interval in session()["intervals"]),
        ("end", {}),
    ]
    lines = [json.dumps({"event": name, "data": data}) for name, data in events]
    assert read(tmp_path, "\n".join([*lines, '{"event": '])).capacity == TRACE


def session(omitted: int = 0, bidir: bool = False, protocol: str = "TCP") -> dict:
    intervals = []
    for number in [*range(-omitted, 0), *range(len(RATES))]:
        second = number % max(omitted, 1) if number < 0 else number
        total = {"start": second, "end": second + 1, "seconds": 1, "bits_per_second": 1e6 * RATES[number],
                 "omitted": number < 0, "sender": True}  # fmt: skip
        intervals.append({"streams": [total | {"socket": 5}], "sum": total})
        if bidir:
            intervals[-1]["sum_bidir_reverse"] = total | {"bits_per_second": 5e5 * RATES[number], "sender": False}
    start = {"version": "iperf 3.9", "test_start": {"protocol": protocol, "num_streams": 1}}
    return {"start": start, "intervals": intervals, "end": {"sum_sent": {"bits_per_second": 99.9e6}}}


@pytest.mark.parametrize("is_json", [True, False])
def test_a_udp_sender_has_what_it_sent(tmp_path: Path, is_json: bool) -> None:
    udp = HEADER.replace("Retr  Cwnd", "Total Datagrams") + "".join(rows(rest="  91  "))
    trace = read(tmp_path, json.dumps(session(protocol="UDP")) if is_json else udp)
    assert trace.capacity == TRACE
    (finding,) = (finding for finding in trace.findings if finding.code == "sent")
    assert "what was sent, not what arrived; take the server's output" in finding.message
    received = read(tmp_path, udp.replace("Total Datagrams", "Jitter    Lost/Total Datagrams"))
    assert "sent" not in {finding.code for finding in received.findings}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER + SUMMARY, "a test of iperf without intervals but its summary; run it with -i 1"),
        (HEADER + TEXT + SUMMARY + HEADER + TEXT, "line 13: another test begins; keep the rows of one in a file"),
        # The server's rows would replace the client's, of each.
        (
            2 * (HEADER + TEXT + SUMMARY + "Server output:\n" + TEXT + SUMMARY),
            "another test begins; keep the rows of one",
        ),
        (TEXT + TEXT, "line 4: another test begins"),
        ("Server listening on UDP port 5001\nReceiving 1470 byte datagrams\n", "without intervals but its summary"),
        ("".join(rows("  5")[:2] + rows("  7")), "line 1: rows of 2 streams without [SUM]"),
        (rows()[0] + rows()[2], "line 2: 2 to 3 s comes after 0 to 1 s; add the rows between"),
        ('{"intervals": [], "error": "unable to connect"}', "without intervals (unable to connect); run it"),
        ('{"intervals": [5]}', "intervals[0].sum must be an object with start, end and bits_per_second"),
        ('{"intervals": [{"sum": {"start": 0, "end": 1}}]}', "intervals[0].sum must have start, end and bits_per_s"),
        ('{"intervals": [{"sum": {"start": 1, "end": 0, "bits_per_second": 5}}]}', "1 to 0 s comes after"),
        ('{"intervals": [{"sum": {"start": "0", "end": 1, "bits_per_second": 5}}]}', "start is '0'; it must be a n"),
    ],
)
def test_logs_that_are_refused_with_what_to_do(tmp_path: Path, text: str, message: str) -> None:
    assert message in refused(tmp_path, text)


def test_an_interval_that_is_a_timer_artefact(tmp_path: Path) -> None:
    text = TEXT.replace("21.25 Mbits", "51.25 Gbits")
    (tmp_path / "iperf.log").write_text(text)
    assert "spike" in {finding.code for finding in inspect_trace(tmp_path / "iperf.log").findings}
