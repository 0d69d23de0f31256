"""Negotiation: the codecs behind payload types, and descriptions that let a browser follow REMB."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aiortc import RTCPeerConnection, RTCRtpTransceiver, RTCSessionDescription
from aiortc.codecs import is_rtx
from aiortc.sdp import SessionDescription

from weir_aiortc.transport_tap import RECEIVING, check_transceiver

# Chromium's start rate, and a bound above every REMB.
_START_KBPS = 1500
_MAX_KBPS = 20_000


@dataclass(frozen=True)
class Codec:
    """`kind` as of `weir.BandwidthEstimator.on_packet`; the clock rate of RTP timestamps, 0: unknown."""

    kind: str
    clock_rate_hz: int


UNKNOWN = Codec("video", 0)
"""The codec of a payload type that no transceiver has negotiated."""


def codec_table(transceivers: Iterable[RTCRtpTransceiver]) -> dict[int, Codec]:
    """The negotiated codecs, by payload type.

    Raises:
        UnsupportedAiortcError: the transceivers of this aiortc do not tell.
    """
    table = {}
    for transceiver in transceivers:
        check_transceiver(transceiver)
        for codec in transceiver._codecs:
            kind = "retransmission" if is_rtx(codec) else transceiver.kind
            table[codec.payloadType] = Codec(kind, codec.clockRate)
    return table


class Descriptions:
    """Descriptions of one connection, until `remove`, in which REMB alone decides what the other end sends.

    Every video codec that is received gets `x-google-start-bitrate`, 1.5 Mbps, and `x-google-max-bitrate`, 20 Mbps: up
    to the first a Chromium then follows REMB at once in both directions, where else, and above, it grows by 8 % a
    second. It encodes its first key frame for that rate too, which is why it is not higher. The first answer is that of
    the DTLS server where the offer leaves the choice, since that one may send first. transport-cc, with which a browser
    would follow its own estimate, aiortc never negotiates.
    """

    def __init__(self, pc: RTCPeerConnection) -> None:
        self._pc = pc
        self._created_offer, self._created_answer = pc.createOffer, pc.createAnswer
        pc.createOffer, pc.createAnswer = self._create_offer, self._create_answer

    def remove(self) -> None:
        """Later descriptions are aiortc's own."""
        self._pc.createOffer, self._pc.createAnswer = self._created_offer, self._created_answer

    async def _create_offer(self) -> RTCSessionDescription:
        return _changed(await self._created_offer(), None)

    async def _create_answer(self) -> RTCSessionDescription:
        is_first = self._pc.connectionState == "new"
        return _changed(await self._created_answer(), self._pc.remoteDescription if is_first else None)


def _changed(description: RTCSessionDescription, first_offer: RTCSessionDescription | None) -> RTCSessionDescription:
    session = SessionDescription.parse(description.sdp)
    for media in session.media:
        if media.kind == "video" and media.direction in RECEIVING:
            for codec in media.rtp.codecs:
                if not is_rtx(codec):
                    codec.parameters |= {"x-google-start-bitrate": _START_KBPS, "x-google-max-bitrate": _MAX_KBPS}
    if first_offer is not None:
        for media, offered in zip(session.media, SessionDescription.parse(first_offer.sdp).media, strict=True):
            if offered.dtls is not None and offered.dtls.role == "auto":
                media.dtls.role = "server"
    return RTCSessionDescription(str(session), description.type)
