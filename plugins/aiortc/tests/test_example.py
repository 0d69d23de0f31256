"""The example programs, with the requests of the page and the lines of `weir call`."""

import asyncio
from pathlib import Path

from aiohttp.test_utils import TestClient, TestServer
from aiortc import RTCConfiguration, RTCPeerConnection
from receiver import application
from receiver_process import attached, read_options

from weir_calls.call.plan import CallSettings
from weir_calls.call.weir_peer import receiver_arguments
from weir_sim.installed import shipped_model
from weir_traces.catalogue import load_bundled


def test_it_answers_an_offer_and_refuses_what_is_none() -> None:
    async def ask() -> None:
        async with TestClient(TestServer(application())) as client:
            assert "getUserMedia" in await (await client.get("/")).text()
            page = RTCPeerConnection(RTCConfiguration(iceServers=[]))
            page.addTransceiver("video", direction="sendonly")
            await page.setLocalDescription(await page.createOffer())
            offer = {"sdp": page.localDescription.sdp, "type": page.localDescription.type}
            answer = await client.post("/offer", json=offer)
            assert answer.status == 200
            assert "x-google-start-bitrate=1500" in (await answer.json())["sdp"]
            await page.close()
            for refused in ({}, [], {"sdp": "m=video nonsense", "type": "offer"}, {"sdp": 3, "type": "offer"}):
                assert (await client.post("/offer", json=refused)).status == 400
            assert (await client.post("/offer", data="{}", headers={"Content-Type": "text/plain"})).status == 415

    asyncio.run(ask())


def test_it_takes_the_command_line_of_weir_peer() -> None:
    settings = CallSettings(
        scenario=load_bundled("cellular-3m"),
        sender="chromium",
        controller="weir",
        objective=(0.1, 0.8, 0.1),
        duration_s=30,
        seed=1,
        width=640,
        height=360,
        out=Path("calls"),
        max_bitrate_bps=2_000_000,
    )

    async def attach() -> None:
        pc = RTCPeerConnection()
        estimator = attached(pc, read_options(receiver_arguments(settings, "127.0.0.1", shipped_model()))).estimator
        assert estimator.latest.target_rate_bps == 300_000
        await pc.close()

    asyncio.run(attach())
