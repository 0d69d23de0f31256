"""What every server on loopback checks of a request.

Any web page that the user has open can send requests there, and so can other users of the machine. The Host header
keeps out names that an attacker points at loopback (DNS rebinding), the Origin header keeps out other pages, a token of
the run keeps out other users.
"""

from __future__ import annotations

import hmac
from collections.abc import Container

from aiohttp import web

HOST = "127.0.0.1"

# For every answer.
HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}


def check_address(request: web.Request, hosts: Container[str]) -> None:
    """Refuses with 403 what was not sent to one of `hosts` (each with its port), or by a page from elsewhere; and what
    changes something, or opens a WebSocket, without saying which page sent it.
    """
    if request.host not in hosts:
        raise web.HTTPForbidden(text="Not the address of this server.\n")
    origin = request.headers.get("Origin")
    changes_something = request.method not in ("GET", "HEAD") or "Upgrade" in request.headers
    if origin is None and changes_something:
        raise web.HTTPForbidden(text="A request without Origin.\n")
    if origin is not None and origin != f"http://{request.host}":
        raise web.HTTPForbidden(text="A request of another page.\n")


def is_token(given: str, token: str) -> bool:
    """Whether it is the token, without telling by the time that it takes how much of it is right."""
    return hmac.compare_digest(given.encode(errors="replace"), token.encode())
