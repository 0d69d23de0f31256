"""The HTTP server of `weir serve`: the page, its data, a WebSocket for live events, the files of calls."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web
from aiohttp.http_exceptions import HttpProcessingError

from weir_calls.loopback import HOST, Access
from weir_calls.serve.call_folders import CONTENT_TYPES, find_file, list_calls
from weir_calls.serve.call_request import CallRequest, read_call_request, read_change
from weir_calls.serve.call_runner import CallBackend, CallInProgress, CallRunner
from weir_calls.serve.feed import Feed, Viewer
from weir_calls.serve.models import Models
from weir_calls.serve.picture import Picture, latest_picture, source_picture
from weir_calls.serve.setup_description import describe_setup
from weir_cli.errors import InputError, MissingComponent
from weir_cli.files.input import parse_json
from weir_eval.report.display import STYLE, controller_colours, other_colours
from weir_sim.controllers import IN_CALLS, SIMULATED
from weir_traces.schema.scenario import Scenario

_log = logging.getLogger(__name__)
# Malformed requests are the sender's fault and are not logged.
_log.addFilter(lambda record: not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError)))

MAX_MESSAGE_BYTES = 16 << 10
MAX_VIEWERS = 16
# Events within this time are sent as one message.
BATCH_S = 0.1

_PAGE = Path(__file__).parent / "page"
_PAGE_FILES = frozenset((STYLE.name, *(path.name for path in _PAGE.iterdir())))
_PAGE_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


@dataclass(frozen=True)
class ServeOptions:
    """Scenarios by group, the folder of calls, the backend of calls, and the models that a call may switch to."""

    scenarios: Mapping[str, Sequence[Scenario]]
    out: Path
    backend: CallBackend
    models: Models = field(default_factory=lambda: Models(None))


class Server:
    """A server on loopback. Raises OSError if `port` (0: any free one) is not available."""

    def __init__(self, options: ServeOptions, port: int = 0) -> None:
        self._options = options
        self._socket = socket.create_server((HOST, port), reuse_port=False)
        self.port: int = self._socket.getsockname()[1]
        self._run = secrets.token_hex(4)
        self._viewers_seen = 0
        self._sockets: set[web.WebSocketResponse] = set()
        self._feed = Feed()
        self._call_runner = CallRunner(options.out, options.backend, self._feed)
        self._scenarios = {scenario.name: scenario for group in options.scenarios.values() for scenario in group}
        self._access = Access(self.port)
        # `files`: where files of calls are, as a path of this server.
        self._description = describe_setup(options.scenarios, options.out) | {"files": self._access.files}
        self._runner = web.AppRunner(self._application(), access_log=None, logger=_log, shutdown_timeout=2.0)
        self._listening: asyncio.Server | None = None

    @property
    def url(self) -> str:
        """The address to open, including the token."""
        return f"http://{HOST}:{self.port}{self._access.page}"

    async def start(self) -> None:
        """Starts serving."""
        await self._runner.setup()
        make = self._runner.server
        assert make is not None
        loop = asyncio.get_running_loop()
        self._listening = await loop.create_server(
            lambda: self._access.connections.accept(make()), sock=self._socket, backlog=128
        )

    @property
    def measured_folder(self) -> Path | None:
        """The folder of the running call; None if none is running."""
        return self._call_runner.folder if self._call_runner.running else None

    async def close(self, hurry: asyncio.Event | None = None) -> bool:
        """Stops the running call, waits until it is measured or `hurry` is set, and ends the server.

        Returns False if a call was not measured.
        """
        measured = await self._call_runner.close(hurry or asyncio.Event())
        if self._listening is not None:
            self._listening.close()
        for open_socket in list(self._sockets):
            await open_socket.close(code=WSCloseCode.GOING_AWAY, message=b"weir serve has ended")
        await self._runner.cleanup()
        self._socket.close()
        return measured

    def _application(self) -> web.Application:
        application = web.Application(middlewares=[self._access.middleware], client_max_size=MAX_MESSAGE_BYTES)
        application.on_response_prepare.append(self._access.add_headers)
        page = self._access.page
        application.add_routes(
            [
                web.get(page, self._page),
                web.get(page + "page/{name}", self._page_file),
                web.get(page + "setup", self._setup),
                web.get(page + "live", self._live),
                web.get(page + "calls", self._calls),
                web.get(page + "models", self._models),
                web.get(page + "scenario/{name}", self._scenario),
                web.get(page + "picture/{lane:[0-9]}", self._received_picture),
                web.get(page + "picture/source", self._source_picture),
                web.get(self._access.files + "{path:.+}", self._call_file),
                web.post(page + "missing", self._missing),
                web.post(page + "call", self._start_call),
            ]
        )
        return application

    # --- the page -----------------------------------------------------------------------------------------------------

    async def _page(self, request: web.Request) -> web.StreamResponse:
        return web.FileResponse(_PAGE / "index.html", headers={"Content-Type": "text/html; charset=utf-8"})

    async def _page_file(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        path = STYLE if name == STYLE.name else _PAGE / name
        kind = _PAGE_TYPES.get(path.suffix)
        if kind is None or name not in _PAGE_FILES:
            raise web.HTTPNotFound
        if path == STYLE:
            calls_only = (name for name in IN_CALLS if name not in SIMULATED)
            style = path.read_text(encoding="utf-8") + controller_colours() + other_colours(calls_only)
            return web.Response(text=style, content_type=kind, charset="utf-8")
        return web.FileResponse(path, headers={"Content-Type": f"{kind}; charset=utf-8"})

    async def _setup(self, request: web.Request) -> web.Response:
        return web.json_response(self._description)

    async def _scenario(self, request: web.Request) -> web.Response:
        scenario = self._scenarios.get(request.match_info["name"])
        if scenario is None:
            raise web.HTTPNotFound
        return web.Response(text=scenario.to_json(), content_type="application/json")

    async def _models(self, request: web.Request) -> web.Response:
        return web.json_response(await asyncio.to_thread(self._options.models.names))

    # --- calls --------------------------------------------------------------------------------------------------------

    async def _missing(self, request: web.Request) -> web.Response:
        wanted = await self._read_request(request)
        return web.json_response({"missing": await self._call_runner.missing(wanted)})

    async def _start_call(self, request: web.Request) -> web.Response:
        wanted = await self._read_request(request)
        try:
            return web.json_response(await self._call_runner.start(wanted), status=201)
        except CallInProgress:
            return _refusal(409, ["A call is in progress; one at a time."])
        except MissingComponent as error:
            return _refusal(503, str(error).splitlines())
        except InputError as error:
            return _refusal(400, [str(error)])
        except OSError as error:
            return _refusal(500, [f"{self._options.out}: the folder of the call cannot be made ({error.strerror})"])

    async def _read_request(self, request: web.Request) -> CallRequest:
        try:
            return read_call_request(parse_json(await request.text(), "the message"), self._scenarios)
        except InputError as error:
            reason = str(error)
        except (LookupError, ValueError):  # an unknown charset is a LookupError
            reason = "not a text"
        raise web.HTTPBadRequest(text=json.dumps({"errors": [reason]}), content_type="application/json")

    async def _calls(self, request: web.Request) -> web.Response:
        return web.json_response(await asyncio.to_thread(list_calls, self._options.out))

    async def _call_file(self, request: web.Request) -> web.StreamResponse:
        found = find_file(self._options.out, request.match_info["path"])
        if found is None:
            raise web.HTTPNotFound
        return web.FileResponse(found, headers={"Content-Type": CONTENT_TYPES[found.suffix]})

    async def _received_picture(self, request: web.Request) -> web.Response:
        video = self._call_runner.received_videos().get(int(request.match_info["lane"]))
        return _shown(await asyncio.to_thread(latest_picture, video[0]) if video is not None else None)

    async def _source_picture(self, request: web.Request) -> web.Response:
        for video, index in self._call_runner.received_videos().values():
            if picture := await asyncio.to_thread(source_picture, video, index):
                return _shown(picture)
        return _shown(None)

    # --- live ---------------------------------------------------------------------------------------------------------

    async def _live(self, request: web.Request) -> web.StreamResponse:
        if len(self._feed) >= MAX_VIEWERS:
            raise web.HTTPServiceUnavailable(text=f"{MAX_VIEWERS} viewers are connected already.\n")
        live = web.WebSocketResponse(max_msg_size=MAX_MESSAGE_BYTES, heartbeat=20.0)
        await live.prepare(request)
        self._viewers_seen += 1
        name = f"viewer {self._viewers_seen}"
        # Event numbers of an earlier run of the server do not apply.
        known = request.query.get("run") == self._run
        viewer = self._feed.join(_number(request.query.get("after", "")) if known else 0)
        self._sockets.add(live)
        greeting = {
            "type": "hello",
            "run": self._run,
            "viewer": name,
            "resumed": known,
            "call": self._call_runner.describe(),
        }
        sending = asyncio.create_task(_send(live, viewer, greeting))
        try:
            async for message in live:
                if message.type is not WSMsgType.TEXT:
                    await live.close(code=WSCloseCode.UNSUPPORTED_DATA)
                    break
                await self._take_change(live, message.data, name)
        finally:
            self._feed.leave(viewer)
            self._sockets.discard(live)
            sending.cancel()
        return live

    async def _take_change(self, live: web.WebSocketResponse, text: str, viewer: str) -> None:
        kind = ""
        try:
            data = parse_json(text, "the message")
            kind = str(data.get("type"))[:40] if isinstance(data, dict) else ""
            message = read_change(data)
            if message["type"] == "model":
                message["path"] = str(await asyncio.to_thread(self._options.models.checked, message["name"]))
            self._call_runner.change(message, viewer)
        except (InputError, MissingComponent) as error:
            await live.send_json({"type": "refused", "of": kind, "message": str(error)})


async def _send(live: web.WebSocketResponse, viewer: Viewer, greeting: dict[str, Any]) -> None:
    """Sends the viewer's events in batches until it lags or disconnects."""
    try:
        await live.send_json(greeting)
        while not viewer.lagging:
            events = await viewer.take()
            if events:
                await live.send_json({"type": "events", "events": events})
            await asyncio.sleep(BATCH_S)
        await live.close(code=WSCloseCode.TRY_AGAIN_LATER, message=b"too slow; reconnect")
    except (ConnectionError, RuntimeError):
        # Disconnected in the middle of a message; the reading side ends by itself.
        return


def _shown(picture: Picture | None) -> web.Response:
    if picture is None:
        return web.Response(status=204)
    return web.Response(body=picture.bmp, content_type="image/bmp", headers={"X-Age-Ms": str(picture.age_ms)})


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 18 else 0


def _refusal(status: int, errors: list[str]) -> web.Response:
    return web.json_response({"errors": errors}, status=status)
