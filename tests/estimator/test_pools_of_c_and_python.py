"""The same line makes the same pool in C and in Python; `c_api_test.cc` holds that C and C++ agree."""

import ctypes
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import weir
from weir.installation import shipped_model

LIBRARY = Path(__file__).parents[2] / "build" / "release" / "estimator" / "libweir.so"


class NamedController(ctypes.Structure):
    """weir_named_controller of weir.h."""

    _fields_ = (("name", ctypes.c_char_p), ("controller", ctypes.c_void_p))


class Packet(ctypes.Structure):
    """weir_packet of weir.h."""

    _fields_ = (
        ("arrival_time_us", ctypes.c_int64),
        ("ssrc", ctypes.c_uint32),
        ("sequence_number", ctypes.c_uint16),
        ("payload_type", ctypes.c_uint8),
        ("kind", ctypes.c_uint8),
        *((name, ctypes.c_uint32) for name in ("has_abs_send_time", "abs_send_time", "rtp_timestamp")),
        *((name, ctypes.c_uint32) for name in ("rtp_clock_rate_hz", "header_bytes", "payload_bytes", "padding_bytes")),
    )


class Estimate(ctypes.Structure):
    """weir_estimate of weir.h."""

    _fields_ = (
        ("at_time_us", ctypes.c_int64),
        ("target_rate_bps", ctypes.c_int64),
        ("reason", ctypes.c_char_p),
    )


def recorded() -> Iterator[dict[str, int]]:
    """Half a minute on 1 Mbps, sent at 0.6 and 1.6: a queue of up to 300 ms, and loss of what it cannot hold."""
    draw = random.Random(1)
    sent_us, free_us, number = 0, 0, 0
    while sent_us < 30_000_000:
        sent_us += 10_000 * 1_000_000 // (600_000 if sent_us // 5_000_000 % 2 else 1_600_000) + draw.randrange(2000)
        number += 1
        if free_us - sent_us > 300_000 or draw.random() < 0.01:
            continue
        free_us = max(free_us, sent_us) + 10_000
        yield {
            "arrival_time_us": free_us + 25_000,
            "ssrc": 7,
            "sequence_number": number & 0xFFFF,
            "abs_send_time": (sent_us * 262_144 // 1_000_000) & 0xFFFFFF,
            "header_bytes": 12,
            "payload_bytes": 1238,
        }


def in_python(line: str, model: bytes | None) -> list[tuple[int, int, str]]:
    """Time, rate and reason of each estimate."""
    members = {"weir": weir.Model(model)} if model else {}
    estimator = weir.BandwidthEstimator(weir.Pool(line, members=members))
    estimates = []
    for packet in recorded():
        estimator.on_packet(**packet)
        while estimator.next_timeout_us <= packet["arrival_time_us"]:
            if found := estimator.on_timeout(packet["arrival_time_us"]):
                estimates.append((found.at_time_us, found.target_rate_bps, str(found.reason)))
    return estimates


def in_c(library: Any, line: str, model: bytes | None) -> list[tuple[int, int, str]]:
    """The same through the shared library."""

    def create(function: str, *arguments: Any) -> ctypes.c_void_p:
        handle = ctypes.c_void_p()
        assert getattr(library, function)(*arguments, ctypes.byref(handle)) == 0, library.weir_last_error()
        return handle

    member, members = NamedController(), 0
    if model:
        loaded = create("weir_model_load", model, ctypes.c_size_t(len(model)))
        member, members = NamedController(b"weir", create("weir_controller_create_policy", loaded, 0)), 1
    pool = (line.encode(), ctypes.byref(member), ctypes.c_size_t(members), None, None)
    estimator = create("weir_estimator_create", create("weir_controller_create_pool", *pool), None)
    estimates = []
    for fields in recorded():
        packet = Packet(has_abs_send_time=1, **fields)
        assert library.weir_estimator_on_packet(estimator, ctypes.byref(packet)) == 0
        now_us = ctypes.c_int64(packet.arrival_time_us)
        while library.weir_estimator_next_timeout_us(estimator) <= packet.arrival_time_us:
            found = Estimate()
            if library.weir_estimator_on_timeout(estimator, now_us, ctypes.byref(found)) & 1:
                estimates.append((found.at_time_us, found.target_rate_bps, found.reason.decode()))
    library.weir_estimator_destroy(estimator)
    return estimates


@pytest.fixture(scope="module")
def library() -> Any:
    found = ctypes.CDLL(str(LIBRARY))
    found.weir_estimator_next_timeout_us.restype = ctypes.c_int64
    found.weir_last_error.restype = ctypes.c_char_p
    return found


@pytest.mark.parametrize(
    "line",
    [
        "pilot=nada copilots=rule,fixed fusion=median policy=by_trust",
        "pilot=rule copilots=nada fusion=mean",
        "pilot=weir copilots=nada,rule fusion=min policy=by_trust",
    ],
)
def test_a_line_gives_the_same_estimates_in_c_and_python(library: Any, line: str) -> None:
    model = shipped_model().read_bytes() if "weir" in line else None
    estimates = in_python(line, model)
    assert len({rate for _, rate, _ in estimates}) > 20
    assert in_c(library, line, model) == estimates
