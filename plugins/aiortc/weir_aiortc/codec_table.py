"""What the payload types of a connection stand for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aiortc import RTCRtpTransceiver
from aiortc.codecs import is_rtx

from weir_aiortc.private_names import check_transceiver


@dataclass(frozen=True)
class Codec:
    """`kind` as of `weir.BandwidthEstimator.on_packet`; the clock rate of RTP timestamps, 0: unknown."""

    kind: str
    clock_rate_hz: int


UNKNOWN = Codec("video", 0)
"""What no transceiver has negotiated."""


def codec_table(transceivers: Iterable[RTCRtpTransceiver]) -> dict[int, Codec]:
    """What has been negotiated, by payload type.

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
