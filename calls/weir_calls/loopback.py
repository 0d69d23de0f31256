"""Access protection of servers on loopback.

Any web page that the user has open can send requests to loopback, and so can other users of the machine. Checking the
Host header stops DNS rebinding, checking the Origin header stops other pages, and a token of the run stops other users.
The token is the first part of each path, so that relative addresses have it, and nothing else does: browsers send a
cookie to every port of the host, and any user can read the arguments of a process.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Container

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from aiohttp.web_protocol import RequestHandler

HOST = "127.0.0.1"
# Limits of the number and time in seconds of connections that have not sent a request with the token.
MAX_STRANGERS = 64
STRANGER_S = 10.0
_NO_TOKEN = "This page needs the whole address that 'weir serve' printed: a token of the run is part of it.\n"

# Reports have inline style and script; they may load files from this server, but not connect to any. Files of calls may
# be from strangers: the sandbox gives them another origin than the page's, except media, which cannot have scripts.
_REPORT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' data: blob:; "
    "media-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "sandbox allow-scripts allow-downloads"
)
# The browser's own player and viewer. They load the file again, as the origin of the response, which a sandbox would
# make opaque and thus unable to read it.
_MEDIA_POLICY = (
    "default-src 'none'; media-src 'self'; img-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
# Types without active content; SVG has scripts.
_MEDIA_TYPES = frozenset({"video/mp4", "image/png"})
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; "
    "connect-src 'self' ws://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

# Headers of every response.
HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}
_HEADERS = HEADERS | {"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin"}


def check_address(request: web.Request, hosts: Container[str]) -> None:
    """Refuses with 403 a request for a host that is not in `hosts` (with ports), or from a page of another origin.

    A request that changes something, or opens a WebSocket, must have an Origin header.
    """
    if request.host not in hosts:
        raise web.HTTPForbidden(text="Not the address of this server.\n")
    origin = request.headers.get("Origin")
    changes_something = request.method not in ("GET", "HEAD") or "Upgrade" in request.headers
    if origin is None and changes_something:
        raise web.HTTPForbidden(text="A request without Origin.\n")
    if origin is not None and origin != f"http://{request.host}":
        raise web.HTTPForbidden(text="A request of another page.\n")


def is_token(text: str, token: str) -> bool:
    """Compares a text with the token in constant time."""
    return hmac.compare_digest(text.encode(errors="replace"), token.encode())


class Connections:
    """Closes connections that do not send the token, as other users of this machine can open any number of them."""

    def __init__(self) -> None:
        self._strangers: dict[RequestHandler, asyncio.TimerHandle] = {}

    def accept(self, handler: RequestHandler) -> RequestHandler:
        """Accepts a new connection; closes the oldest one without a token if there are too many."""
        while len(self._strangers) >= MAX_STRANGERS:
            self._close(next(iter(self._strangers)))
        self._strangers[handler] = asyncio.get_running_loop().call_later(STRANGER_S, self._close, handler)
        return handler

    def welcome(self, handler: RequestHandler) -> None:
        """Keeps a connection that has sent the token."""
        if (timer := self._strangers.pop(handler, None)) is not None:
            timer.cancel()

    def _close(self, handler: RequestHandler) -> None:
        self._strangers.pop(handler).cancel()
        # Deferred: when many connections arrive together, the oldest may not have a transport to close yet.
        asyncio.get_running_loop().call_soon(handler.force_close)


class Access:
    """The rules of one server. The path of every request begins with a token: `page`, which gives all rights, or
    `files`, which gives those to read files of calls. Reports, which may be from strangers, know only the latter.

    Attributes:
        page, files: such beginnings, `/TOKEN/`.
    """

    def __init__(self, port: int) -> None:
        self._tokens = [secrets.token_urlsafe(24) for _ in range(2)]
        self.page, self.files = (f"/{token}/" for token in self._tokens)
        self._hosts = frozenset(f"{name}:{port}" for name in (HOST, "localhost"))
        self.connections = Connections()

    @property
    def middleware(self) -> Middleware:
        """Refuses requests: 401 without a token, 403 for other addresses and pages."""

        @web.middleware
        async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
            check_address(request, self._hosts)
            first = request.path.split("/")[1]
            # Compares with both: the time must not depend on the token.
            if not any([is_token(first, token) for token in self._tokens]):  # noqa: C419
                raise web.HTTPUnauthorized(text=_NO_TOKEN)
            self.connections.welcome(request.protocol)
            return await handler(request)

        return check

    async def add_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        """Adds security headers to every response; for the application's `on_response_prepare`."""
        if not request.path.startswith(self.files):
            policy = _PAGE_POLICY.format(host=request.host)
        else:
            policy = _MEDIA_POLICY if response.content_type in _MEDIA_TYPES else _REPORT_POLICY
        response.headers.update(_HEADERS | {"Content-Security-Policy": policy})
