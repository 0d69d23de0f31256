"""What a connection's offers and answers say, so that a browser follows REMB."""

from __future__ import annotations

from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.codecs import is_rtx
from aiortc.sdp import SessionDescription

from weir_aiortc.remb_outlet import RECEIVING

# Above all that a REMB will say.
_MAX_KBPS = 20_000


class Descriptions:
    """Of one connection, from now on until `remove`, with what lets REMB alone decide what the other end sends.

    Every video codec that is received gets `x-google-start-bitrate`, the estimator's, since a Chromium may encode its
    first key frame before it hears REMB, and `x-google-max-bitrate`, 20 Mbps. In its first two seconds it then follows
    REMB at once in both directions, and from then on up to what it has reached and 8 % more a second. The first answer
    is that of the DTLS server where the offer leaves the choice, since that one may send first. transport-cc, with
    which a browser would follow its own estimate, aiortc never negotiates.
    """

    def __init__(self, pc: RTCPeerConnection, start_bps: int) -> None:
        self._pc = pc
        self._start_kbps = start_bps // 1000
        self._created_offer, self._created_answer = pc.createOffer, pc.createAnswer
        pc.createOffer, pc.createAnswer = self._create_offer, self._create_answer

    def remove(self) -> None:
        """What comes is as aiortc makes it."""
        self._pc.createOffer, self._pc.createAnswer = self._created_offer, self._created_answer

    async def _create_offer(self) -> RTCSessionDescription:
        return self._changed(await self._created_offer(), None)

    async def _create_answer(self) -> RTCSessionDescription:
        is_first = self._pc.connectionState == "new"
        return self._changed(await self._created_answer(), self._pc.remoteDescription if is_first else None)

    def _changed(
        self, description: RTCSessionDescription, first_offer: RTCSessionDescription | None
    ) -> RTCSessionDescription:
        bitrates = {"x-google-start-bitrate": self._start_kbps, "x-google-max-bitrate": _MAX_KBPS}
        session = SessionDescription.parse(description.sdp)
        for media in session.media:
            if media.kind == "video" and media.direction in RECEIVING:
                for codec in media.rtp.codecs:
                    if not is_rtx(codec):
                        codec.parameters |= bitrates
        if first_offer is not None:
            for media, offered in zip(session.media, SessionDescription.parse(first_offer.sdp).media, strict=True):
                if offered.dtls is not None and offered.dtls.role == "auto":
                    media.dtls.role = "server"
        return RTCSessionDescription(str(session), description.type)
