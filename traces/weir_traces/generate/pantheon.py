"""Pantheon's 18 emulators as scenarios: six calibrated to real paths, policers, ACK aggregation, small buffers.

Yan et al., "Pantheon: the training ground for Internet congestion-control research", USENIX ATC 2018. Rates, delays,
losses and queues are those of `src/scripts/experiments.yml` in github.com/StanfordSNR/observatory, which run for 30 s
in Mahimahi: drop-tail queue, the same delay and rate in both directions, losses and queue limits on the forward path
only (policers: limits on both). MVFST-RL was trained on the first six and failed on the seventh.

Differences, and unpublished details:

- Poisson deliveries: counts are drawn anew, in slots of 20 ms, scaled to the mean. The published traces begin with 1 to
  5 s of one packet every 100 ms, without a reason given; these do not. The return path is constant.
- Losses occur before the queue, not after it. A queue counts the packet in transmission; Pantheon calls a queue of a
  single packet a token-bucket policer. Mahimahi delivers whole milliseconds at once, so that such a queue may pass
  less of its 60 and 108 Mbps than here, where packets leave one by one.
- A queue without a published limit (Mahimahi's default has none) holds the whole run.
- ACK aggregation: a slow return path that releases packets at the ends of slots.
- The flow is filler of up to 200 Mbps that starts at 300 kbps; Pantheon's are bulk transfers.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from weir_traces.generate.drawing import grid, with_mean
from weir_traces.schema.links import Capacity
from weir_traces.schema.scenario import Scenario

DURATION_S = 30.0
MEDIA_MAX_BPS = 200e6
_DELIVERY_BITS = 12_000
_SLOT_S = 0.02
_UNLIMITED = {"milliseconds": 1e3 * DURATION_S}


def pantheon_scenarios() -> list[Scenario]:
    """All emulators, in Pantheon's order: `pantheon-1` to `pantheon-18`."""
    emulators = [*_calibrated(), *_policers(), *_ack_aggregation(), *_buffers()]
    return [_scenario(f"pantheon-{number}", *emulator) for number, emulator in enumerate(emulators, start=1)]


# An emulator: its description, its forward and its reverse link.
_Emulator = tuple[str, dict[str, Any], dict[str, Any]]


def _calibrated() -> list[_Emulator]:
    return [
        _path("Nepal to AWS India", 0.57, 28, 14, loss_ratio=0.0477, poisson=True),
        _path("Mexico, cellular, to AWS California", 2.64, 88, 130, poisson=True),
        _path("AWS Brazil to Colombia, cellular", 3.04, 130, 426, poisson=True),
        _path("India to AWS India", 100.42, 27, 173),
        _path("AWS Korea to China", 77.72, 51, 94, loss_ratio=0.0006),
        _path("AWS California to Mexico", 114.68, 45, 450),
    ]


def _path(
    name: str, mbps: float, delay_ms: float, packets: int, *, loss_ratio: float = 0.0, poisson: bool = False
) -> _Emulator:
    forward = _link(mbps, delay_ms, {"packets": packets})
    if loss_ratio:
        forward["loss"] = {"kind": "bernoulli", "ratio": loss_ratio}
    if poisson:
        forward["capacity"] = _poisson(name, 1e6 * mbps)
    return f"{name}, calibrated", forward, _link(mbps, delay_ms)


def _policers() -> list[_Emulator]:
    return [
        (f"Policer of {mbps} Mbps, round trip of {2 * delay_ms} ms", link, link)
        for delay_ms in (10, 50)
        for mbps in (12, 60, 108)
        for link in [_link(mbps, delay_ms, {"packets": 1})]
    ]


def _ack_aggregation() -> list[_Emulator]:
    return [
        (
            f"ACK aggregation, {packets} every {slot_ms} ms",
            _link(12, 10),
            _link(packets * _DELIVERY_BITS / (1e3 * slot_ms), 10)
            | {"jitter": {"kind": "slotted", "interval_ms": float(slot_ms)}},
        )
        for packets, slot_ms in ((1, 100), (10, 200))
    ]


def _buffers() -> list[_Emulator]:
    return [
        (f"Buffer of {share}", _link(12, 30, {"bytes": size}), _link(12, 30))
        for share, size in (("BDP/10", 9_000), ("BDP/3", 30_000), ("BDP/2", 45_000), ("BDP", 90_000))
    ]


def _link(mbps: float, delay_ms: float, queue: dict[str, Any] = _UNLIMITED) -> dict[str, Any]:
    capacity = {"times_s": [0.0], "rates_bps": [round(1e6 * mbps)]}
    return {"capacity": capacity, "one_way_delay_ms": delay_ms, "queue": queue}


def _poisson(name: str, rate_bps: float) -> Capacity:
    # The seed derives from the path's name, so that each path has its own.
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    times = grid(DURATION_S, _SLOT_S)
    deliveries = rng.poisson(rate_bps * _SLOT_S / _DELIVERY_BITS, times.size).astype(np.float64)
    return Capacity.from_trace(with_mean(times, deliveries, rate_bps, DURATION_S))


def _scenario(name: str, description: str, forward: dict[str, Any], reverse: dict[str, Any]) -> Scenario:
    return Scenario.make(
        name=name,
        description=description,
        provenance={"source": "Pantheon, USENIX ATC 2018", "licence": "BSD-3-Clause"},
        duration_s=DURATION_S,
        forward=forward,
        reverse=reverse,
        flows=[{"kind": "rtp", "media": {"kind": "filler", "max_rate_bps": MEDIA_MAX_BPS}}],
    )
