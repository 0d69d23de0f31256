"""aiortc sends to aiortc with Weir over this machine's own network: the whole stack, in a few seconds of real time."""

import asyncio
import sys
from typing import Any

import aioice.ice
import pytest
from aiortc import RTCConfiguration, RTCPeerConnection
from aiortc.contrib.media import MediaBlackhole
from aiortc.mediastreams import AudioStreamTrack, VideoStreamTrack
from aiortc.rtp import RtcpPsfbPacket, unpack_remb_fci
from weir_aiortc import Attachment, attach

import weir

_LIMIT_S = 20.0


def test_the_sender_hears_what_the_receiver_estimates() -> None:
    if not aioice.ice.get_host_addresses(use_ipv4=True, use_ipv6=True):
        pytest.skip("this machine has no network but loopback, which aioice does not use")
    asyncio.run(asyncio.wait_for(_call(), _LIMIT_S))


async def _call() -> None:
    sender, receiver = (RTCPeerConnection(RTCConfiguration(iceServers=[])) for _ in range(2))
    told: list[int] = []
    enough = asyncio.Event()

    def on_estimate(estimate: Any) -> None:
        told.append(estimate.target_rate_bps)
        if len(heard) >= 3 and attachment.statistics()["packets_with_delay"] > 10:
            enough.set()

    attachment = attach(receiver, on_estimate=on_estimate)
    senders = [sender.addTrack(VideoStreamTrack()), sender.addTrack(AudioStreamTrack())]
    heard = _listen(senders[0])
    sink = MediaBlackhole()
    receiver.on("track", sink.addTrack)
    await sender.setLocalDescription(await sender.createOffer())
    await receiver.setRemoteDescription(sender.localDescription)
    await receiver.setLocalDescription(await receiver.createAnswer())
    await sender.setRemoteDescription(receiver.localDescription)
    await sink.start()
    await enough.wait()
    if sys.platform == "linux":
        assert _knows_arrivals(attachment)
    await receiver.close()
    await sender.close()
    statistics = attachment.statistics()
    assert statistics["packets_lost"] == 0
    announced = {weir.parse_remb(weir.write_remb(1, rate_bps, []))["rate_bps"] for rate_bps in told}
    assert {rate_bps for rate_bps, _ in heard} <= announced
    assert set(heard[-1][1]) == {one._ssrc for one in senders}


def _listen(sender: Any) -> list[tuple[int, list[int]]]:
    """The REMBs that arrive at a sender, as aiortc reads them, from now on."""
    heard = []
    handle = sender._handle_rtcp_packet

    async def listen(packet: Any) -> None:
        if isinstance(packet, RtcpPsfbPacket) and packet.fmt == 15:
            heard.append(unpack_remb_fci(packet.fci))
        await handle(packet)

    sender._handle_rtcp_packet = listen
    return heard


def _knows_arrivals(attachment: Attachment) -> bool:
    """True if arrival times are the kernel's: the private names of aiortc and aioice for that are there."""
    return all(tap._arrivals._latest_s is not None for tap in attachment._taps)
