"""What the estimator costs the receiving end, as a share of one core."""

from __future__ import annotations

import time
from pathlib import Path

from weir._core import BandwidthEstimator
from weir.files.input import LARGEST_MODEL_BYTES, read_bytes

_PACKET_BYTES = 1200
_HEADER_BYTES = 12
_TICKS_PER_SECOND = 1 << 18
_WARM_UP_S = 5


def estimator_cpu_share(model: Path, rate_bps: float, duration_s: float = 60.0) -> float:
    """CPU time of the estimator on a steady stream of that rate / time of the stream.

    The estimator runs in this process, driven from Python faster than real time; what Python itself takes is counted
    too, so this is an upper bound of what it costs in weir-peer.

    Args:
        model: its policy.
        rate_bps: of the RTP packets that it sees.
        duration_s: of the stream.
    """
    estimator = BandwidthEstimator(
        model=read_bytes(model, LARGEST_MODEL_BYTES), start_rate_bps=300_000, max_rate_bps=20_000_000
    )
    gap_us = round(1e6 * 8 * _PACKET_BYTES / rate_bps)
    started_s = time.process_time()
    for number in range(round((_WARM_UP_S + duration_s) * 1e6 / gap_us)):
        now_us = number * gap_us
        if now_us >= _WARM_UP_S * 1_000_000 > now_us - gap_us:
            started_s = time.process_time()
        estimator.on_packet(
            arrival_time_us=now_us,
            ssrc=1,
            sequence_number=number & 0xFFFF,
            payload_bytes=_PACKET_BYTES - _HEADER_BYTES,
            abs_send_time=now_us * _TICKS_PER_SECOND // 1_000_000 & 0xFFFFFF,
        )
        while estimator.next_timeout_us <= now_us:
            estimator.on_timeout(now_us)
    return (time.process_time() - started_s) / duration_s
