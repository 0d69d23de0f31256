"""What a transport of aiortc receives, seen before aiortc's receivers see it.

aiortc has no public place for that, and replacing its estimator is not enough: that sees neither sequence numbers nor
silence. So methods of one transport are overridden, for as long as the tap is in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from aiortc import RTCDtlsTransport
from aiortc.rtp import AnyRtcpPacket, RtcpByePacket, RtpPacket

from weir_aiortc.arrival_times import ArrivalTimes
from weir_aiortc.private_names import check_transport


class TransportTap:
    """Tells of each RTP packet (`on_packet`: as aiortc has parsed it, its size in bytes with header and padding,
    without SRTP's tag, and its arrival in s of the loop's clock) and of each SSRC that has said goodbye (`on_bye`), and
    sends RTCP.

    While it is in, aiortc's own estimator hears nothing and so sends no REMB: it takes no packet without abs-send-time,
    which the tap removes from the packet once it was told.
    """

    def __init__(
        self,
        transport: RTCDtlsTransport,
        on_packet: Callable[[RtpPacket, int, float], None],
        on_bye: Callable[[int], None],
    ) -> None:
        """Raises UnsupportedAiortcError when this aiortc's transports cannot be tapped."""
        check_transport(transport)
        self.transport = transport
        self._on_packet = on_packet
        self._on_bye = on_bye
        self._size_bytes = 0
        self._arrivals = ArrivalTimes(transport.transport)
        router = transport._rtp_router
        self._handled_rtp_data = transport._handle_rtp_data
        self._routed_rtp = router.route_rtp
        self._routed_rtcp = router.route_rtcp
        transport._handle_rtp_data = self._handle_rtp_data
        router.route_rtp = self._route_rtp
        router.route_rtcp = self._route_rtcp

    def follow(self) -> None:
        """Takes in what the transport has opened since."""
        self._arrivals.follow()

    def remove(self) -> None:
        """The transport is as before."""
        self._arrivals.remove()
        self.transport._handle_rtp_data = self._handled_rtp_data
        self.transport._rtp_router.route_rtp = self._routed_rtp
        self.transport._rtp_router.route_rtcp = self._routed_rtcp

    def ssrcs_of(self, receivers: Collection[Any]) -> list[int]:
        """The SSRCs that aiortc hands to these receivers."""
        return [ssrc for ssrc, receiver in self.transport._rtp_router.ssrc_table.items() if receiver in receivers]

    async def send_rtcp(self, packet: bytes) -> None:
        """Through the transport's SRTP.

        Raises:
            ConnectionError: it is not connected, or no more.
        """
        await self.transport._send_rtp(packet)

    async def _handle_rtp_data(self, data: bytes, arrival_time_ms: int) -> None:
        # aiortc routes the packet before it waits for anything, so this is still of that packet then.
        self._size_bytes = len(data)
        await self._handled_rtp_data(data, arrival_time_ms=arrival_time_ms)

    def _route_rtp(self, packet: RtpPacket) -> Any:
        self._on_packet(packet, self._size_bytes, self._arrivals.latest_s)
        packet.extensions.abs_send_time = None
        return self._routed_rtp(packet)

    def _route_rtcp(self, packet: AnyRtcpPacket) -> Any:
        if isinstance(packet, RtcpByePacket):
            for ssrc in packet.sources:
                self._on_bye(ssrc)
        return self._routed_rtcp(packet)
