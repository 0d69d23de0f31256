"""A connection of aiortc that receives what a test hands it, in place of a network."""

from __future__ import annotations

import asyncio

from aiortc import RTCBundlePolicy, RTCConfiguration, RTCPeerConnection
from aiortc.codecs import CODECS, HEADER_EXTENSIONS
from aiortc.rtcdtlstransport import State
from aiortc.rtcrtpparameters import RTCRtpReceiveParameters
from aiortc.rtp import AnyRtcpPacket, HeaderExtensionsMap, RtcpPacket, RtcpPsfbPacket, RtpPacket, unpack_remb_fci

VIDEO_SSRC, RTX_SSRC, AUDIO_SSRC = 0x11111111, 0x22222222, 0x33333333
VIDEO = next(codec.payloadType for codec in CODECS["video"] if codec.name == "VP8")
RTX = next(codec.payloadType for codec in CODECS["video"] if codec.parameters.get("apt") == VIDEO)
AUDIO = next(codec.payloadType for codec in CODECS["audio"] if codec.name == "opus")
KINDS = {VIDEO_SSRC: "video", RTX_SSRC: "retransmission", AUDIO_SSRC: "audio"}
CLOCK_RATES_HZ = {VIDEO_SSRC: 90_000, RTX_SSRC: 90_000, AUDIO_SSRC: 48_000}
PAYLOAD_TYPES = {VIDEO_SSRC: VIDEO, RTX_SSRC: RTX, AUDIO_SSRC: AUDIO}


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
