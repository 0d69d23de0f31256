"""A call without a network: what arrives when, of three streams behind a bottleneck."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from aiortc.rtp import RtpPacket
from host import AUDIO_SSRC, RTX_SSRC, VIDEO_SSRC, packet

# Just before sequence numbers wrap.
_FIRST_NUMBER = 65_400
_VIDEO_STEP_US, _AUDIO_STEP_US = 9_001, 20_003
_BOTTLENECK_BPS = 900e3
_LONGEST_QUEUE_US = 300_000


@dataclass(frozen=True)
class Received:
    """A packet, and how long after the beginning it arrives."""

    arrival_us: int
    rtp: RtpPacket


def received(seconds: float, *, loss: float = 0.0, reordering: float = 0.0, seed: int = 1) -> list[Received]:
    """In the order of arrival: 1 Mbps of video and 32 kbps of audio over 900 kbps, and a retransmission for each packet
    that was lost by chance. `reordering`: the share that is overtaken.
    """
    rng = random.Random(seed)
    arrivals = []
    free_us = 0.0
    for sent_us, ssrc, number in sorted(_sent(seconds)):
        rtp = packet(ssrc, number, sent_us / 1e6, 80 if ssrc == AUDIO_SSRC else 1100)
        if rng.random() < loss:
            rtp = packet(RTX_SSRC, number, sent_us / 1e6 + 0.1)
            sent_us += 100_000
        queue_us = max(0.0, free_us - sent_us)
        if queue_us > _LONGEST_QUEUE_US:
            continue
        free_us = sent_us + queue_us + 8e6 * (len(rtp.payload) + 28) / _BOTTLENECK_BPS
        late_us = 30_000 if rng.random() < reordering else 0
        arrivals.append(Received(round(free_us) + 25_000 + late_us, rtp))
    return sorted(arrivals, key=lambda one: one.arrival_us)


def _sent(seconds: float) -> Iterator[tuple[int, int, int]]:
    for ssrc, step_us in ((VIDEO_SSRC, _VIDEO_STEP_US), (AUDIO_SSRC, _AUDIO_STEP_US)):
        for i in range(int(1e6 * seconds / step_us)):
            yield i * step_us, ssrc, _FIRST_NUMBER + i
