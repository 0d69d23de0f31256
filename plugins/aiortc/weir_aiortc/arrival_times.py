"""When datagrams came, by the kernel's clock.

asyncio reads one datagram of a socket in a turn of its loop, so datagrams that come while the application computes
wait, and that wait would look like a queue of the path. The kernel has the receive time (SIOCGSTAMPNS,
linux/sockios.h). On other systems, and behind TURN, a datagram arrives when it is read.
"""

from __future__ import annotations

import asyncio
import fcntl
import socket
import struct
import sys
import time
from typing import Any

from aiortc import RTCIceTransport

_SIOCGSTAMPNS = 0x8907
_TIMESPEC = struct.Struct("@ll")
# A longer wait means that the wall clock was set.
_LONGEST_WAIT_S = 5.0


class _Datagram(bytes):
    """With the time of its arrival, by the event loop's clock, in seconds."""

    arrival_s: float


class ArrivalTimes:
    """Receive times of the datagrams of an ICE transport of aiortc, until `remove`."""

    def __init__(self, transport: RTCIceTransport) -> None:
        """Nothing is replaced where aiortc has not the names that this needs: times are then those of reading."""
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._protocols: dict[Any, Any] = {}
        self._received = getattr(transport, "_recv", None)
        self._latest_s: float | None = None
        if self._received is not None:
            transport._recv = self._recv
        self.follow()

    @property
    def latest_s(self) -> float:
        """When what was received last arrived, s of the loop's clock."""
        return self._loop.time() if self._latest_s is None else self._latest_s

    def follow(self) -> None:
        """Takes in the sockets that have been opened since."""
        connection = getattr(self._transport, "_connection", None)
        for protocol in getattr(connection, "_protocols", ()):
            opened = getattr(getattr(protocol, "transport", None), "get_extra_info", lambda _: None)("socket")
            if opened is not None and protocol not in self._protocols:
                self._protocols[protocol] = protocol.datagram_received
                protocol.datagram_received = self._stamping(opened, protocol.datagram_received)

    def remove(self) -> None:
        """All is as before."""
        if self._received is not None:
            self._transport._recv = self._received
        while self._protocols:
            protocol, datagram_received = self._protocols.popitem()
            protocol.datagram_received = datagram_received

    def _stamping(self, opened: socket.socket, datagram_received: Any) -> Any:
        def receive(data: bytes, address: Any) -> None:
            datagram = _Datagram(data)
            datagram.arrival_s = self._loop.time() - _wait_s(opened)
            datagram_received(datagram, address)

        return receive

    async def _recv(self) -> bytes:
        assert self._received is not None
        data: bytes = await self._received()
        self._latest_s = data.arrival_s if isinstance(data, _Datagram) else None
        return data


def _wait_s(opened: socket.socket) -> float:
    """How long ago the datagram came that was read last, 0 where that is not known."""
    if sys.platform != "linux":
        return 0.0
    try:
        seconds, nanoseconds = _TIMESPEC.unpack(fcntl.ioctl(opened.fileno(), _SIOCGSTAMPNS, bytes(_TIMESPEC.size)))
    except OSError:
        return 0.0
    wait_s = time.time() - seconds - 1e-9 * nanoseconds
    return wait_s if 0 <= wait_s <= _LONGEST_WAIT_S else 0.0
