"""A connection of aiortc in simulated time: event loop, packets in place of a network, a call of three streams."""

from __future__ import annotations

import asyncio
import random
import selectors
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from aiortc import RTCBundlePolicy, RTCConfiguration, RTCPeerConnection
from aiortc.codecs import CODECS, HEADER_EXTENSIONS
from aiortc.rtcdtlstransport import State
from aiortc.rtcrtpparameters import RTCRtpReceiveParameters
from aiortc.rtp import AnyRtcpPacket, HeaderExtensionsMap, RtcpPacket, RtcpPsfbPacket, RtpPacket, unpack_remb_fci

T = TypeVar("T")

VIDEO_SSRC, RTX_SSRC, AUDIO_SSRC = 0x11111111, 0x22222222, 0x33333333
VIDEO = next(codec.payloadType for codec in CODECS["video"] if codec.name == "VP8")
RTX = next(codec.payloadType for codec in CODECS["video"] if codec.parameters.get("apt") == VIDEO)
AUDIO = next(codec.payloadType for codec in CODECS["audio"] if codec.name == "opus")
KINDS = {VIDEO_SSRC: "video", RTX_SSRC: "retransmission", AUDIO_SSRC: "audio"}
CLOCK_RATES_HZ = {VIDEO_SSRC: 90_000, RTX_SSRC: 90_000, AUDIO_SSRC: 48_000}
PAYLOAD_TYPES = {VIDEO_SSRC: VIDEO, RTX_SSRC: RTX, AUDIO_SSRC: AUDIO}

# Just before sequence numbers wrap.
_FIRST_NUMBER = 65_400
_VIDEO_STEP_US, _AUDIO_STEP_US = 9_001, 20_003
_BOTTLENECK_BPS = 900e3
_LONGEST_QUEUE_US = 300_000


class _Selector(selectors.SelectSelector):
    now_s = 1000.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            # Only another thread can go on, as a decoder's of aiortc.
            return super().select(1.0)
        if events := super().select(0):
            return events
        self.now_s += max(0.0, timeout)
        return []


class SimulatedLoop(asyncio.SelectorEventLoop):
    """Begins at second 1000."""

    def __init__(self) -> None:
        self._clock = _Selector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now_s


def run(work: Coroutine[Any, Any, T]) -> T:
    """In simulated time."""
    with asyncio.Runner(loop_factory=SimulatedLoop) as runner:
        return runner.run(work)


class Host:
    """A real RTCPeerConnection with audio and video on one transport, which is said to be connected."""

    def __init__(self) -> None:
        self.pc = RTCPeerConnection(RTCConfiguration(iceServers=[], bundlePolicy=RTCBundlePolicy.MAX_BUNDLE))
        self.sent: list[bytes] = []
        """RTCP that went out, before SRTP."""
        self.transceivers = {kind: self.pc.addTransceiver(kind, direction="recvonly") for kind in ("audio", "video")}
        self.transport = self.transceivers["video"].receiver.transport
        self.transport._state = State.CONNECTED
        self.transport._send_rtp = self._send_rtp
        self.extensions = HeaderExtensionsMap()
        for kind, transceiver in self.transceivers.items():
            transceiver._codecs = CODECS[kind]
            transceiver._setCurrentDirection("recvonly")
            parameters = RTCRtpReceiveParameters(codecs=CODECS[kind], headerExtensions=HEADER_EXTENSIONS[kind])
            self.extensions.configure(parameters)
            self.transport._register_rtp_receiver(transceiver.receiver, parameters)

    async def _send_rtp(self, data: bytes) -> None:
        self.sent.append(data)

    async def receive(self, packet: RtpPacket) -> int:
        """As if it had come through SRTP now; returns its size in bytes."""
        data = packet.serialize(self.extensions)
        await self.transport._handle_rtp_data(data, arrival_time_ms=int(1000 * asyncio.get_running_loop().time()))
        return len(data)

    async def receive_rtcp(self, packet: AnyRtcpPacket) -> None:
        """Likewise."""
        await self.transport._handle_rtcp_data(bytes(packet))

    def rembs(self) -> list[tuple[int, list[int]]]:
        """Rates in bit/s and SSRCs of what was sent, as aiortc reads them."""
        packets = [packet for data in self.sent for packet in RtcpPacket.parse(data)]
        return [unpack_remb_fci(packet.fci) for packet in packets if isinstance(packet, RtcpPsfbPacket)]


def packet(ssrc: int, number: int, send_time_s: float, payload_bytes: int = 1100) -> RtpPacket:
    """The packet of that number, sent then; audio has no abs-send-time, as aiortc negotiates it."""
    rtp = RtpPacket(
        payload_type=PAYLOAD_TYPES[ssrc],
        sequence_number=number & 0xFFFF,
        timestamp=round(send_time_s * CLOCK_RATES_HZ[ssrc]) & 0xFFFFFFFF,
        ssrc=ssrc,
        payload=bytes(payload_bytes),
    )
    if ssrc != AUDIO_SSRC:
        rtp.extensions.abs_send_time = round(send_time_s * (1 << 18)) & 0xFFFFFF
    return rtp


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
