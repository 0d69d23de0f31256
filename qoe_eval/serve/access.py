"""Who may talk to the server: its own page, at its own address, with the token of this run."""

from __future__ import annotations

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from weir.qoe_eval.loopback import HEADERS, HOST, check_address, is_token

TOKEN_PARAMETER = "token"
_NO_TOKEN = "This page needs the whole address that 'weir serve' printed: a token of the run is part of it.\n"

# Reports are files with their own inline style and script; they may show what lies beside them and talk to nobody.
_REPORT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' data: blob:; "
    "media-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; "
    "connect-src 'self' ws://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

_HEADERS = HEADERS | {"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin"}


class Access:
    """The rules for one server.

    Args:
        token: must come with every request: in the address, or in the cookie that the first answer sets.
        port: where the server listens.
        reports_below: path prefix of the files of calls.
    """

    def __init__(self, token: str, port: int, reports_below: str) -> None:
        self._token = token
        self._hosts = frozenset(f"{name}:{port}" for name in (HOST, "localhost"))
        # Cookies of all ports of a host are in one jar.
        self._cookie = f"weir-{port}"
        self._reports_below = reports_below

    @property
    def middleware(self) -> Middleware:
        """Refuses what may not pass: 401 without the token, 403 for other addresses and pages."""

        @web.middleware
        async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
            check_address(request, self._hosts)
            if not self._has_address_token(request) and not self._is_token(request.cookies.get(self._cookie, "")):
                raise web.HTTPUnauthorized(text=_NO_TOKEN)
            return await handler(request)

        return check

    async def add_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        """Security headers for every answer, and the cookie; for the application's `on_response_prepare`."""
        of_call = request.path.startswith(self._reports_below)
        policy = _REPORT_POLICY if of_call else _PAGE_POLICY.format(host=request.host)
        response.headers.update(_HEADERS | {"Content-Security-Policy": policy})
        if self._has_address_token(request):
            response.headers["Set-Cookie"] = f"{self._cookie}={self._token}; HttpOnly; SameSite=Strict; Path=/"

    def _has_address_token(self, request: web.Request) -> bool:
        return self._is_token(request.query.get(TOKEN_PARAMETER, ""))

    def _is_token(self, text: str) -> bool:
        return is_token(text, self._token)
