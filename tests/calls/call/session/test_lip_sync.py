"""Calls without lip sync: the receiver's description has audio in a stream of its own."""

import asyncio

import pytest

from weir_calls.call import session
from weir_calls.call.lip_sync import without_lip_sync

OFFER = "\r\n".join([
    "v=0", "a=group:BUNDLE 0 1", "a=msid-semantic: WMS weir",
    "m=video 9 UDP/TLS/RTP/SAVPF 96", "a=mid:0", "a=msid:weir video", "a=ssrc:1 cname:x", "a=ssrc:1 msid:weir video",
    "m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=mid:1", "a=msid:weir audio", "a=ssrc:2 cname:x", "a=ssrc:2 msid:weir audio",
    "m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "a=mid:2", "",
])  # fmt: skip


def described(sdp, kind="offer"):
    return {"type": kind, "sdp": sdp}


@pytest.mark.parametrize("kind", ["offer", "answer"])
def test_only_the_stream_of_audio_changes(kind):
    changed = without_lip_sync(described(OFFER, kind))
    assert changed == described(OFFER.replace("msid:weir audio", "msid:weir-audio audio"), kind)
    assert changed["sdp"].count("weir-audio") == 2


@pytest.mark.parametrize(
    "message",
    [
        {"type": "candidate", "candidate": "candidate:1"},
        described(""),
        described("v=0"),
        described(OFFER.replace("msid:weir audio", "msid:- audio")),
        described(OFFER.split("m=audio")[0]),
    ],
)
def test_messages_without_a_stream_of_audio_stay(message):
    assert without_lip_sync(message) == message


@pytest.mark.parametrize(("lip_sync", "stream"), [(True, "weir"), (False, "weir-audio")])
def test_the_receiver_gets_the_offer_with_the_streams_of_the_call(
    fake_call, fake_peer, simulated_link, tmp_path, monkeypatch, lip_sync, stream
):
    monkeypatch.setenv("FAKE_WEIR_PEER_OFFER", OFFER)
    settings = fake_call.call_settings(tmp_path / "call", controller="gcc", lip_sync=lip_sync)
    result = asyncio.run(session.run_call(settings, lambda _: None))
    assert (result.failure, result.record.call.lip_sync) == ("", lip_sync)
    offers = [order["sdp"] for order in fake_peer.received_orders() if order["type"] == "offer"]
    assert [f"a=msid:{stream} audio" in sdp for sdp in offers] == [True]
