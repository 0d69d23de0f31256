"""Signalling with the page of a call: serves its files and one WebSocket on loopback.

The socket is bound to 127.0.0.1 of the browser's network namespace. Requests must have that address as their host; the
WebSocket must have this origin and the token of the run, and there is only one. Messages are JSON objects of known
types and bounded size. The files are a fixed list, read before serving begins.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
from pathlib import Path
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web

from weir_calls.loopback import HEADERS, HOST, check_address, is_token

PAGE_FOLDER = Path(__file__).parent / "page"
MAXIMUM_MESSAGE_BYTES = 1 << 20
# Reading from the socket pauses while this many messages wait.
_WAITING_MESSAGES = 256
# The page's messages, with the required fields and their types.
_MESSAGES: dict[str, dict[str, type]] = {
    "ready": {"user_agent": str},
    "offer": {"sdp": str},
    "answer": {"sdp": str},
    "frames": {"frames": list},
    "candidate": {"candidate": str},
    "state": {"state": str},
    "stats": {"report": list},
    "clock": {"id": int},
    "error": {"message": str},
    "end": {"reason": str},
}
_FILES = {
    "/": ("call.html", "text/html"),
    "/call.js": ("call.js", "text/javascript"),
}


class SignallingServer:
    """Serves the page on a listening socket and carries messages to and from it."""

    def __init__(self, listening: socket.socket) -> None:
        """Takes ownership of the socket, which must be bound to 127.0.0.1."""
        address, port = listening.getsockname()[:2]
        if address != HOST:
            listening.close()
            raise ValueError(f"signalling is for loopback only, not {address}")
        self._socket = listening
        self._host = f"{HOST}:{port}"
        self._token = secrets.token_urlsafe(32)
        self._files = {path: ((PAGE_FOLDER / name).read_bytes(), kind) for path, (name, kind) in _FILES.items()}
        self._runner: web.AppRunner | None = None
        self._page: web.WebSocketResponse | None = None
        self._is_connected = False
        self._messages: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(_WAITING_MESSAGES)

    @property
    def url(self) -> str:
        """The address of the page; the token is in the fragment, which requests do not contain."""
        return f"http://{self._host}/#{self._token}"

    async def start(self) -> None:
        """Starts serving."""
        application = web.Application(client_max_size=MAXIMUM_MESSAGE_BYTES)
        for path in self._files:
            application.router.add_get(path, self._serve_file)
        application.router.add_get("/signalling", self._serve_page)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.SockSite(self._runner, self._socket).start()

    async def send(self, message: dict[str, Any]) -> None:
        """Sends a message to the page.

        Raises:
            ConnectionError: the page is not connected.
        """
        if self._page is None or self._page.closed:
            raise ConnectionError("the page is not connected")
        await self._page.send_json(message)

    async def receive(self) -> dict[str, Any] | None:
        """Returns the next message of the page; None once it has disconnected."""
        return await self._messages.get()

    async def stop(self) -> None:
        """Closes everything, including the listening socket."""
        if self._page is not None:
            await self._page.close()
        if self._runner is not None:
            await self._runner.cleanup()
        self._socket.close()

    async def _serve_file(self, request: web.Request) -> web.Response:
        check_address(request, [self._host])
        body, kind = self._files[request.path]
        policy = f"default-src 'none'; script-src 'self'; connect-src ws://{self._host}"
        headers = HEADERS | {"Content-Security-Policy": policy}
        return web.Response(body=body, content_type=kind, charset="utf-8", headers=headers)

    async def _serve_page(self, request: web.Request) -> web.WebSocketResponse:
        check_address(request, [self._host])
        if not is_token(request.query.get("token", ""), self._token):
            raise web.HTTPForbidden(text="not the token of this run")
        if self._is_connected:
            raise web.HTTPConflict(text="the call has its page already")
        self._is_connected = True
        page = web.WebSocketResponse(max_msg_size=MAXIMUM_MESSAGE_BYTES, heartbeat=10.0, timeout=1.0)
        await page.prepare(request)
        self._page = page
        await self._messages.put({"type": "connected"})
        try:
            async for message in page:
                if message.type is not WSMsgType.TEXT:
                    break
                fault = await self._take(message.data)
                if fault:
                    await self._messages.put({"type": "error", "message": f"the page sent {fault}", "fatal": True})
                    await page.close(code=WSCloseCode.POLICY_VIOLATION, message=fault.encode()[:100])
        finally:
            await self._messages.put(None)
        return page

    async def _take(self, text: str) -> str | None:
        """Queues a valid message; returns the fault of an invalid one."""
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            return "something that is not JSON"
        fields = _MESSAGES.get(str(message.get("type"))) if isinstance(message, dict) else None
        if fields is None:
            return "a message of no known type"
        for name, kind in fields.items():
            if not isinstance(message.get(name), kind):
                return f'"{message["type"]}" without its field "{name}"'
        await self._messages.put(message)
        return None
