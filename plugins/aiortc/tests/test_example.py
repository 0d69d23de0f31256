"""The example program, asked as its page does."""

import asyncio

from aiohttp.test_utils import TestClient, TestServer
from aiortc import RTCConfiguration, RTCPeerConnection
from receiver import application


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
            assert "x-google-start-bitrate=20000" in (await answer.json())["sdp"]
            await page.close()
            for refused in ({}, [], {"sdp": "m=video nonsense", "type": "offer"}, {"sdp": 3, "type": "offer"}):
                assert (await client.post("/offer", json=refused)).status == 400
            assert (await client.post("/offer", data="{}", headers={"Content-Type": "text/plain"})).status == 415

    asyncio.run(ask())
