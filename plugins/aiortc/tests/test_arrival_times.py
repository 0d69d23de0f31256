"""A datagram arrives at the kernel's receive time, not when the busy loop reads it. In real time."""

import asyncio
import socket
import sys
import time
from types import SimpleNamespace

import pytest
from weir_aiortc.arrival_times import ArrivalTimes

_BUSY_S = 0.02


class Protocol(asyncio.DatagramProtocol):
    """As aioice's: puts what is received into a queue."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[bytes] = asyncio.Queue()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, address: object) -> None:
        self.queue.put_nowait(data)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of this system does not tell")
def test_a_busy_loop_does_not_delay_arrivals() -> None:
    async def receive() -> None:
        loop = asyncio.get_running_loop()
        _, protocol = await loop.create_datagram_endpoint(Protocol, ("127.0.0.1", 0))
        address = protocol.transport.get_extra_info("sockname")
        ice = SimpleNamespace(_recv=protocol.queue.get, _connection=SimpleNamespace(_protocols=[protocol]))
        arrivals = ArrivalTimes(ice)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            # The kernel begins to note times some time after it is first asked.
            for _ in range(100):
                sender.sendto(b"first", address)
                time.sleep(_BUSY_S)
                await ice._recv()
                if loop.time() - arrivals.latest_s >= _BUSY_S / 2:
                    break
            sent = []
            for i in range(4):
                sender.sendto(bytes([i]), address)
                sent.append(loop.time())
                time.sleep(_BUSY_S)
            for i, sent_s in enumerate(sent):
                assert await ice._recv() == bytes([i])
                assert loop.time() - sent_s >= (len(sent) - i) * _BUSY_S
                # A machine with other work may stop this process between two looks at the clock.
                assert sent_s - 1.0 < arrivals.latest_s <= sent_s + 0.001
        arrivals.remove()
        assert (
            "datagram_received" not in vars(protocol)
            or protocol.datagram_received.__func__ is Protocol.datagram_received
        )
        protocol.transport.close()

    asyncio.run(receive())
