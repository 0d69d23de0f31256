"""REMB out of a connection, over every transport that media may come by."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from aiortc import RTCPeerConnection

import weir
from weir_aiortc.transport_tap import TransportTap

RECEIVING = ("recvonly", "sendrecv")
"""The directions of a transceiver that receives."""


class RembOutlet:
    """Of one connection. The other end may be gone at any time, which is no error."""

    def __init__(self, pc: RTCPeerConnection) -> None:
        self.sent = 0
        """How many REMBs have gone out."""
        self._pc = pc
        self._sending: set[asyncio.Task[None]] = set()

    def is_open(self, taps: Iterable[TransportTap]) -> bool:
        """Whether there is anybody to tell."""
        return bool(self._listeners(taps))

    def send(self, estimator: weir.BandwidthEstimator, taps: Iterable[TransportTap]) -> None:
        """What the estimator announces now."""
        for tap, ssrc in self._listeners(taps):
            task = asyncio.get_running_loop().create_task(tap.send_rtcp(estimator.remb(ssrc)))
            self._sending.add(task)
            task.add_done_callback(self._on_sent)

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
