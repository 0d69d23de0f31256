"""The descriptions of a connection with Weir."""

import asyncio

from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.sdp import SessionDescription
from weir_aiortc import attach


def connection() -> RTCPeerConnection:
    return RTCPeerConnection(RTCConfiguration(iceServers=[]))


async def offer_to_send(setup: str = "actpass") -> RTCSessionDescription:
    sender = connection()
    for kind in ("audio", "video"):
        sender.addTransceiver(kind, direction="sendonly")
    await sender.setLocalDescription(await sender.createOffer())
    offer = sender.localDescription
    await sender.close()
    return RTCSessionDescription(offer.sdp.replace("a=setup:actpass", f"a=setup:{setup}"), "offer")


async def answer(pc: RTCPeerConnection, offer: RTCSessionDescription) -> SessionDescription:
    await pc.setRemoteDescription(offer)
    await pc.setLocalDescription(await pc.createAnswer())
    return SessionDescription.parse(pc.localDescription.sdp)


def start_bitrates(session: SessionDescription) -> dict[str, set[object]]:
    return {
        media.kind: {
            codec.parameters.get("x-google-start-bitrate") for codec in media.rtp.codecs if codec.name != "rtx"
        }
        for media in session.media
    }


def test_an_answer_lets_remb_decide() -> None:
    async def call() -> None:
        pc = connection()
        attach(pc)
        session = await answer(pc, await offer_to_send())
        assert start_bitrates(session) == {"audio": {None}, "video": {"1500"}}
        assert {media.dtls.role for media in session.media} == {"server"}
        assert "transport-cc" not in str(session)
        (video,) = (media for media in session.media if media.kind == "video")
        assert any(extension.uri.endswith("abs-send-time") for extension in video.rtp.headerExtensions)
        assert any(feedback.type == "goog-remb" for codec in video.rtp.codecs for feedback in codec.rtcpFeedback)
        await pc.close()

    asyncio.run(call())


def test_the_offerer_may_choose_to_be_the_server() -> None:
    async def call() -> None:
        pc = connection()
        attach(pc)
        session = await answer(pc, await offer_to_send("passive"))
        assert {media.dtls.role for media in session.media} == {"client"}
        await pc.close()

    asyncio.run(call())


def test_an_offer_to_receive_lets_remb_decide_and_one_to_send_is_as_it_was() -> None:
    async def call() -> None:
        for direction, expected in (("recvonly", "1500"), ("sendonly", None)):
            pc = connection()
            attach(pc)
            pc.addTransceiver("video", direction=direction)
            session = SessionDescription.parse((await pc.createOffer()).sdp)
            assert start_bitrates(session) == {"video": {expected}}
            assert {media.dtls.role for media in session.media} == {"auto"}
            await pc.close()

    asyncio.run(call())


def test_detached_descriptions_are_aiortcs_own() -> None:
    async def call() -> None:
        pc = connection()
        attach(pc).detach()
        session = await answer(pc, await offer_to_send())
        assert start_bitrates(session) == {"audio": {None}, "video": {None}}
        assert {media.dtls.role for media in session.media} == {"client"}
        await pc.close()

    asyncio.run(call())
