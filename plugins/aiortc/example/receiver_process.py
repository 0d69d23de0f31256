"""The receiving end of a call, a program: aiortc with Weir, or with its own estimator.

Its standard input and output are lines of JSON, with the messages of `weir-peer`: `ready`; `offer` and `candidate` in,
`answer`, `state` and `estimate` out; `stop` ends it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from typing import Any

from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.contrib.media import MediaBlackhole
from aiortc.sdp import candidate_from_sdp
from weir_aiortc import attach

import weir


def say(kind: str, **fields: Any) -> None:
    """One message, on a line."""
    message = {"type": kind, "time_us": time.monotonic_ns() // 1000} | fields
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


async def lines() -> asyncio.StreamReader:
    """Standard input."""
    reader = asyncio.StreamReader(limit=1 << 20)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


async def main(own: bool, objective: str) -> None:
    """Takes messages until it is told to stop, or nobody can tell it any more."""
    pc = RTCPeerConnection()
    sink = MediaBlackhole()
    pc.on("track", sink.addTrack)
    pc.on("connectionstatechange", lambda: say("state", state=pc.connectionState))

    def tell(estimate: weir.Estimate) -> None:
        statistics = attachment.statistics() if attachment else {}
        say("estimate", target_rate_bps=estimate.target_rate_bps, reason=estimate.reason, statistics=statistics)

    attachment = None if own else attach(pc, objective=objective, on_estimate=tell)
    reader = await lines()
    say("ready", controller="aiortc" if own else "weir")
    while line := await reader.readline():
        message = json.loads(line)
        if message["type"] == "stop":
            break
        if message["type"] == "offer":
            await pc.setRemoteDescription(RTCSessionDescription(message["sdp"], "offer"))
            await pc.setLocalDescription(await pc.createAnswer())
            say("answer", sdp=pc.localDescription.sdp)
            await sink.start()
        elif message["type"] == "candidate":
            candidate = candidate_from_sdp(message["candidate"].removeprefix("candidate:"))
            candidate.sdpMid, candidate.sdpMLineIndex = message["sdpMid"], message["sdpMLineIndex"]
            await pc.addIceCandidate(candidate)
    await sink.stop()
    await pc.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--own", action="store_true", help="aiortc's own estimator, without Weir")
    parser.add_argument("--objective", default="balanced")
    arguments = parser.parse_args()
    asyncio.run(main(arguments.own, arguments.objective))
