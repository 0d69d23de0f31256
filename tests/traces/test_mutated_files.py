"""Files of every format with random damage: each is read, or refused by one message; none is a traceback or a hang."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from weir_cli.errors import InputError
from weir_traces.formats.importers import read_trace
from weir_traces.formats.reading import AS_WRITTEN
from weir_traces.formats.recognize import Content, recognized

HERE = Path(__file__).parent
SCENARIOS = HERE.parent / "data/scenarios"
CORPUS = HERE.parent / "fuzz/corpus/scenario"
CSV = "time_s,rate_bps\n0,1000000\n0.5,2500000\n1e1,0\n12.25,\n"
MAHIMAHI = "\n".join(str(7 * number) for number in range(1, 120)) + "\n"
OPENNETLAB = (
    '{"type": "video", "downlink": {}, "uplink": {"trace_pattern": ['
    '{"duration": 200, "capacity": 300.5, "loss": 0.01, "rtt": 50, "jitter": 0},'
    '{"duration": 1000, "capacity": 0}, {"duration": 60000, "capacity": 2500, "time": 0}]}}'
)
COLUMNS = "".join(f"{time}.0 {1 + time % 3}.5\n" for time in range(110)) + "123.5 0.0008\n124.5 2.5\n"
BYTES = "".join(f"{1289406399 + row} {1000 * row} 59.85 10.78 {90000 + row} 1000\n" for row in range(1, 20))
UCC = "Timestamp,DL_bitrate,UL_bitrate,State\n" + "".join(
    f"2018.01.18_14.22.{row:02},{900 + row},50,D\n" for row in range(10, 30)
)
MM_LINK = "# base timestamp: 5\n" + "".join(f"{7 * row} # 1504\n{7 * row} + 1504\n" for row in range(1, 60))
SABRE = '[{"duration_ms": 200, "bandwidth_kbps": 300.5, "latency_ms": 50}, {"duration_ms": 1000, "bandwidth_kbps": 90}]'
MMSYS = '{"bandwidth_predictions": [1], "true_capacity": [NaN, 1000000, 2000000.5, 0, 3000000]}'
IPERF = "".join(f"[  5]  {row}.00-{row + 1}.00  sec  1.25 MBytes  {9 + row}.5 Mbits/sec    0\n" for row in range(20))
NUTTCP = "".join(
    f"    1.4665 MB /   0.50 sec =   {24 + row}.6038 Mbps     0 retrans    54 KB-cwnd\n" for row in range(20)
)
UNITS = "".join(f"{row}s {30 - row}Mbps\n" for row in range(20))
IPERF_JSON = '{"start": {}, "intervals": [{"sum": {"start": 0, "end": 1.5, "bits_per_second": 1000000.5}}, ' \
    '{"sum": {"start": 1.5, "end": 2.5, "bits_per_second": 2e6, "omitted": false}}], "end": {}}'  # fmt: skip
JSON_TABLE = f'{{"time_s": {list(range(20))}, "rate_mbps": {[1.5] * 20}, "loss": 0.1}}'
CLOCK = "time,Mbps\n" + "".join(f"{134650 + row if row < 10 else 134690 + row},{row}.5\n" for row in range(30))
# Hard input for readers: absurd numbers, other types, control characters, invalid UTF-8.
SPLINTERS = [
    b"-", b"1e999", b"NaN", b"null", b"true", b"[]", b"{}", b'""', b"0.1e-320", b"9" * 400, b"\x00", b"\xff", b",",
    b"\xe2\x80\xa8", b"\n", b"\r\n", b"\xef\xbb\xbf", b"#", b'"', b"{", b"[", b"1_0", b"\xd9\xa1", b" ", b"-0.0",
    b"1" + b"0" * 18, b"9" * 5000, b"Mbps",
]  # fmt: skip


def damaged(rng: random.Random, content: bytes) -> bytes:
    damaged = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(damaged) + 1)
        match rng.randrange(4):
            case 0:
                damaged[at : at + rng.randint(1, 8)] = b""
            case 1:
                damaged[at:at] = rng.choice(SPLINTERS)
            case 2:
                damaged[at : at + rng.randint(1, 12)] = rng.choice(SPLINTERS)
            case _:
                other = rng.randrange(len(damaged) + 1)
                damaged[at:at] = damaged[other : other + rng.randint(1, 60)]
    return bytes(damaged)


def read(path: Path, content: bytes) -> bool:
    """Returns True for a trace; fails where it is neither that nor one clear message, or takes long."""
    path.write_bytes(content)
    began = time.process_time()
    refused = ""
    try:
        read_trace(path)
    except InputError as error:
        refused = str(error)
    assert time.process_time() - began < 5.0, content
    assert not refused or (path.name in refused and len(refused) < 2000), content
    return not refused


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("csv", CSV), ("mahimahi", MAHIMAHI), ("opennetlab", OPENNETLAB), ("columns", COLUMNS), ("byte log", BYTES),
        ("csv", UCC), ("mm-link", MM_LINK), ("sabre", SABRE), ("mmsys2024", MMSYS),
        ("iperf3", IPERF), ("iperf3", IPERF_JSON), ("csv", CLOCK), ("csv", JSON_TABLE),
        ("nuttcp", NUTTCP), ("columns", UNITS),
    ],
    ids=["csv", "mahimahi", "opennetlab", "columns", "byte log", "ucc", "mm-link", "sabre", "mmsys2024", "iperf3",
         "iperf3 json", "clock", "json table", "nuttcp", "units"],
)  # fmt: skip
def test_damaged_traces(tmp_path: Path, kind: str, content: str) -> None:
    assert recognized(Content(content, "x", AS_WRITTEN, 200)).name == kind
    assert read(tmp_path / "trace", content.encode())
    rng = random.Random(kind)
    taken = sum(read(tmp_path / "trace", damaged(rng, content.encode())) for _ in range(1000))
    assert 5 <= taken <= 995


def test_damaged_scenarios(tmp_path: Path) -> None:
    rng = random.Random(1)
    files = sorted([*SCENARIOS.glob("*/*.json"), *CORPUS.iterdir()])
    assert len(files) > 60
    for file in files:
        content = file.read_bytes()
        read(tmp_path / "scenario", content)
        for _ in range(15):
            read(tmp_path / "scenario", damaged(rng, content))
