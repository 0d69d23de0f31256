"""Signalling lets in its own page and nobody else."""

import asyncio
import json
import socket
from contextlib import asynccontextmanager

import aiohttp
import pytest

from weir_calls.call.signalling import MAXIMUM_MESSAGE_BYTES, SignallingServer
from weir_calls.link.namespaces import listening

pytestmark = pytest.mark.asyncio


@asynccontextmanager
async def session():
    """A server, a client session, the server's address and its token."""
    server = SignallingServer(listening(socket.socket()))
    await server.start()
    base, _, token = server.url.partition("/#")
    try:
        async with aiohttp.ClientSession() as client, asyncio.timeout(120):
            yield server, client, base, token
    finally:
        await server.stop()


def connect(client, base, token, origin=None):
    return client.ws_connect(f"{base}/signalling?token={token}", origin=origin or base)


async def test_the_page_is_served_with_its_script_and_nothing_else():
    async with session() as (_server, client, base, token):
        async with client.get(base) as page:
            text = await page.text()
            assert page.status == 200
            assert 'src="/call.js"' in text
            assert "default-src 'none'" in page.headers["Content-Security-Policy"]
            assert token not in text
        async with client.get(f"{base}/call.js") as script:
            assert "RTCPeerConnection" in await script.text()
        for path in ("/../signalling.py", "/%2e%2e/signalling.py", "/call.html", "/etc/passwd", "//call.js"):
            async with client.get(f"{base}{path}", allow_redirects=False) as answer:
                assert answer.status in (403, 404), path


async def test_another_host_name_is_refused():
    async with session() as (_server, client, base, _token):
        for path in ("/", "/signalling"):
            async with client.get(f"{base}{path}", headers={"Host": "call.example"}) as answer:
                assert answer.status == 403


@pytest.mark.parametrize("wrong", ["origin", "no origin", "token", "no token"])
async def test_another_origin_or_token_is_refused(wrong):
    async with session() as (_server, client, base, token):
        used = {"token": "x" * len(token), "no token": ""}.get(wrong, token)
        headers = {} if wrong == "no origin" else {"Origin": "http://evil.example" if wrong == "origin" else base}
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await client.ws_connect(f"{base}/signalling?token={used}", headers=headers)
        assert refused.value.status == 403
        # And the place is still free.
        async with connect(client, base, token):
            pass


async def test_there_is_one_page():
    async with session() as (_server, client, base, token), connect(client, base, token):
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await connect(client, base, token)
        assert refused.value.status == 409


async def test_messages_pass_both_ways_and_the_end_is_seen():
    async with session() as (server, client, base, token):
        async with connect(client, base, token) as page:
            assert (await server.receive())["type"] == "connected"
            await server.send({"type": "answer", "sdp": "v=0"})
            assert await page.receive_json() == {"type": "answer", "sdp": "v=0"}
            await page.send_json({"type": "offer", "sdp": "v=0", "time_ms": 1.5})
            assert (await server.receive())["time_ms"] == 1.5
        assert await server.receive() is None
        with pytest.raises(ConnectionError):
            await server.send({"type": "stop"})


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{", "not JSON"),
        ("[1]", "no known type"),
        ('{"type": "launch"}', "no known type"),
        ('{"type": ["offer"]}', "no known type"),
        ('{"type": "offer"}', '"sdp"'),
        ('{"type": "stats", "report": "none"}', '"report"'),
        ("[" * 100_000, "not JSON"),
    ],
)
async def test_nonsense_ends_the_connection_and_is_named(text, fault):
    async with session() as (server, client, base, token), connect(client, base, token) as page:
        await server.receive()
        await page.send_str(text)
        error = await server.receive()
        assert error["type"] == "error"
        assert fault in error["message"]
        assert (await page.receive()).type is aiohttp.WSMsgType.CLOSE
        assert await server.receive() is None


async def test_a_message_that_is_too_large_ends_the_connection():
    async with session() as (server, client, base, token), connect(client, base, token) as page:
        await server.receive()
        await page.send_str(json.dumps({"type": "offer", "sdp": "x" * MAXIMUM_MESSAGE_BYTES}))
        assert await server.receive() is None
        assert (await page.receive()).data == aiohttp.WSCloseCode.MESSAGE_TOO_BIG


async def test_only_loopback():
    with socket.create_server(("0.0.0.0", 0)) as listening, pytest.raises(ValueError, match="loopback only"):
        SignallingServer(listening)
