"""A page that shows its camera to this program, which tells what the path carries: http://127.0.0.1:8080.

    python example/receiver.py [--port 8080]

It listens on this machine only. A browser asks for the camera; each connection has an estimator of its own, and all
share one model.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from aiohttp import web
from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.contrib.media import MediaBlackhole
from weir_aiortc import attach

import weir

_HOST = "127.0.0.1"
_PAGE = Path(__file__).with_name("page.html")
_CONNECTIONS = web.AppKey("connections", set[RTCPeerConnection])


async def show_page(_: web.Request) -> web.FileResponse:
    """The page, whose script makes the offer."""
    return web.FileResponse(_PAGE)


async def answer(request: web.Request) -> web.Response:
    """Answers an offer; the connection lasts until the page has gone."""
    # No page of others can send this type without asking first.
    if request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType
    try:
        offer = await request.json()
        description = RTCSessionDescription(offer["sdp"], offer["type"])
    except (ValueError, KeyError, TypeError) as error:
        raise web.HTTPBadRequest(text=f"no offer: {error!r}") from None
    pc = RTCPeerConnection()
    connections = request.app[_CONNECTIONS]
    connections.add(pc)
    sink = MediaBlackhole()
    pc.on("track", sink.addTrack)

    async def on_connection_state() -> None:
        if pc.connectionState in ("failed", "closed"):
            connections.discard(pc)
            await pc.close()

    pc.on("connectionstatechange", on_connection_state)

    def show(estimate: weir.Estimate) -> None:
        seen = attachment.statistics()
        print(
            f"{estimate.target_rate_bps / 1e3:7.0f} kbps allowed ({estimate.reason}), "
            f"{seen['receive_rate_bps'] / 1e3:7.0f} received, {seen['queueing_delay_us'] / 1e3:4.0f} ms of queue, "
            f"{seen['loss_ratio']:.1%} lost",
            flush=True,
        )

    attachment = attach(pc, on_estimate=show)
    try:
        await pc.setRemoteDescription(description)
        await pc.setLocalDescription(await pc.createAnswer())
    except Exception as error:
        # Whatever aiortc makes of a description that is none.
        connections.discard(pc)
        await pc.close()
        raise web.HTTPBadRequest(text=f"the offer cannot be answered: {error!r}") from None
    await sink.start()
    return web.json_response({"sdp": pc.localDescription.sdp, "type": pc.localDescription.type})


async def close_all(app: web.Application) -> None:
    """At the end of the program."""
    for pc in list(app[_CONNECTIONS]):
        await pc.close()


def application() -> web.Application:
    """The page and its offers."""
    app = web.Application()
    app[_CONNECTIONS] = set()
    app.router.add_get("/", show_page)
    app.router.add_post("/offer", answer)
    app.on_shutdown.append(close_all)
    return app


def main() -> None:
    """Serves until Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8080)
    web.run_app(application(), host=_HOST, port=parser.parse_args().port)


if __name__ == "__main__":
    main()
