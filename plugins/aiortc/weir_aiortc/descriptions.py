"""What a connection's offers and answers say, so that a browser follows REMB."""

from __future__ import annotations

from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.codecs import is_rtx
from aiortc.sdp import SessionDescription

from weir_aiortc.remb_outlet import RECEIVING

# Where a Chromium begins, and a bound above all that a REMB will say.
_START_KBPS = 1500
_MAX_KBPS = 20_000


class Descriptions:
    """Of one connection, from now on until `remove`, with what lets REMB alone decide what the other end sends.

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
        """What comes is as aiortc makes it."""
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
