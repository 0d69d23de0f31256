"""Files of every format with random damage: each is read, or refused by one message; none is a traceback or a hang."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from weir.errors import InputError
from weir.traces.formats.importers import detect_format, read_trace

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
# Hard input for readers: absurd numbers, other types, control characters, invalid UTF-8.
SPLINTERS = [
    b"-", b"1e999", b"NaN", b"null", b"true", b"[]", b"{}", b'""', b"0.1e-320", b"9" * 400, b"\x00", b"\xff", b",",
    b"\xe2\x80\xa8", b"\n", b"\r\n", b"\xef\xbb\xbf", b"#", b'"', b"{", b"[", b"1_0", b"\xd9\xa1", b" ", b"-0.0",
    b"1" + b"0" * 18,
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
    ("kind", "content"), [("csv", CSV), ("mahimahi", MAHIMAHI), ("opennetlab", OPENNETLAB)], ids=lambda value: value[:9]
)
def test_damaged_traces(tmp_path: Path, kind: str, content: str) -> None:
    assert detect_format(content, "x") == kind
    assert read(tmp_path / "trace", content.encode())
    rng = random.Random(kind)
    taken = sum(read(tmp_path / "trace", damaged(rng, content.encode())) for _ in range(1500))
    assert 10 <= taken <= 1490


def test_damaged_scenarios(tmp_path: Path) -> None:
    rng = random.Random(1)
    files = sorted([*SCENARIOS.glob("*/*.json"), *CORPUS.iterdir()])
    assert len(files) > 60
    for file in files:
        content = file.read_bytes()
        read(tmp_path / "scenario", content)
        for _ in range(15):
            read(tmp_path / "scenario", damaged(rng, content))
