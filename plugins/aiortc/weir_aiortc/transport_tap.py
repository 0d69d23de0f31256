"""A transport of aiortc: each RTP packet before aiortc's receivers see it, and REMB out of it.

aiortc has no public hook for that, and replacing its estimator is not enough, since that sees neither sequence numbers
nor the time when nothing arrives. So methods of one transport are overridden while the tap is in place.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable
from importlib.metadata import version
from typing import Any

from aiortc import RTCDtlsTransport, RTCPeerConnection, RTCRtpTransceiver
from aiortc.rtp import AnyRtcpPacket, RtcpByePacket, RtpPacket

import weir
from weir_aiortc.arrival_times import ArrivalTimes

TESTED_VERSION = "1.16.0"
"""Version of aiortc; another may have other private names."""
RECEIVING = ("recvonly", "sendrecv")
"""The directions of a transceiver that receives."""


class UnsupportedAiortcError(RuntimeError):
    """This aiortc lacks a name that the plug-in uses; the message has the name, and a version that has it."""


def check_transceiver(transceiver: RTCRtpTransceiver) -> None:
    """Raises UnsupportedAiortcError when a transceiver does not tell its codecs or the SSRC of its RTCP."""
    _require(transceiver, "_codecs")
    _require(transceiver.sender, "_ssrc")


def _require(owner: object, *names: str) -> None:
    for name in names:
        if not hasattr(owner, name):
            raise UnsupportedAiortcError(
                f"aiortc {version('aiortc')} has no {type(owner).__name__}.{name}, which weir_aiortc needs: "
                f"install aiortc {TESTED_VERSION}"
            )


class TransportTap:
    """Tells of each RTP packet (`on_packet`: as aiortc has parsed it, its size in bytes with header and padding,
    without SRTP's tag, and its arrival in s of the loop's clock) and of each SSRC that has said goodbye (`on_bye`), and
    sends RTCP.

    While it is in, aiortc's own estimator hears nothing and so sends no REMB: it takes no packet without abs-send-time,
    which the tap removes from the packet afterwards.
    """

    def __init__(
        self,
        transport: RTCDtlsTransport,
        on_packet: Callable[[RtpPacket, int, float], None],
        on_bye: Callable[[int], None],
    ) -> None:
        """Raises UnsupportedAiortcError when this aiortc's transports cannot be tapped."""
        _require(transport, "_handle_rtp_data", "_send_rtp", "_rtp_router")
        router = transport._rtp_router
        _require(router, "route_rtp", "route_rtcp", "ssrc_table")
        self.transport = transport
        self._on_packet = on_packet
        self._on_bye = on_bye
        self._size_bytes = 0
        self._arrivals = ArrivalTimes(transport.transport)
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


class RembOutlet:
    """REMB of one connection. The other end may be gone at any time, which is no error."""

    def __init__(self, pc: RTCPeerConnection) -> None:
        self.sent = 0
        """How many REMBs have gone out."""
        self._pc = pc
        self._sending: set[asyncio.Task[None]] = set()

    def is_open(self, taps: Iterable[TransportTap]) -> bool:
        """True if a transport can send REMB."""
        return bool(self._listeners(taps))

    def send(self, estimator: weir.BandwidthEstimator, taps: Iterable[TransportTap]) -> bool:
        """Sends the estimate over every transport; False if none can send."""
        listeners = self._listeners(taps)
        for tap, ssrc in listeners:
            task = asyncio.get_running_loop().create_task(tap.send_rtcp(estimator.remb(ssrc)))
            self._sending.add(task)
            task.add_done_callback(self._on_sent)
        return bool(listeners)

    def _listeners(self, taps: Iterable[TransportTap]) -> list[tuple[TransportTap, int]]:
        """Transports that are connected, each with the SSRC of our RTCP."""
        receiving = [one for one in self._pc.getTransceivers() if one.currentDirection in RECEIVING]
        ssrcs = {one.receiver.transport: one.sender._ssrc for one in receiving}
        connected = [tap for tap in taps if tap.transport.state == "connected"]
        return [(tap, ssrcs[tap.transport]) for tap in connected if tap.transport in ssrcs]

    def _on_sent(self, task: asyncio.Task[None]) -> None:
        self._sending.discard(task)
        if task.cancelled() or isinstance(task.exception(), ConnectionError):
            return
        task.result()
        self.sent += 1
