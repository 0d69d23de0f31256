"""The receiving end of a call, a program in weir-peer's place: aiortc with Weir, or with its own estimator.

It takes weir-peer's command line and speaks its JSON lines (calls/peer/README.md): `ready`; `offer` and
`candidate` in, `answer`, `state`, `stats` and `remb` out; `stop` ends it. Chromium's candidates reach it; its own are
in the answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import aiortc
from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.contrib.media import MediaBlackhole
from aiortc.sdp import candidate_from_sdp
from weir_aiortc import Attachment, attach

import weir

# Options of weir-peer without a meaning here: the browser chooses the codec, and no picture is decoded.
_IGNORED = ("role", "codec", "bind-address", "frames", "frames-size", "received-audio")


def say(kind: str, **fields: Any) -> None:
    """One message, on a line; the reader puts the time on it."""
    sys.stdout.write(json.dumps({"type": kind} | fields, default=str) + "\n")
    sys.stdout.flush()


async def lines() -> asyncio.StreamReader:
    """Standard input."""
    reader = asyncio.StreamReader(limit=1 << 20)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


def attached(pc: RTCPeerConnection, options: argparse.Namespace) -> Attachment:
    """Weir in the connection, as the command line wants it."""
    attachment = attach(
        pc,
        model=weir.Model.load(options.model) if options.model else None,
        objective=options.objective,
        on_estimate=lambda estimate: say("remb", bitrate_bps=estimate.target_rate_bps, reason=estimate.reason),
    )
    attachment.estimator.set_constraints(
        min_rate_bps=options.min_bitrate_bps,
        start_rate_bps=options.start_bitrate_bps,
        max_rate_bps=options.max_bitrate_bps,
        now_us=round(1e6 * asyncio.get_running_loop().time()),
    )
    return attachment


async def tell_statistics(pc: RTCPeerConnection, attachment: Attachment | None, interval_s: float) -> None:
    """Sends statistics of aiortc and Weir periodically."""
    while True:
        await asyncio.sleep(interval_s)
        report = [asdict(one) for one in (await pc.getStats()).values()]
        say("stats", report=[*report, *([{"type": "weir"} | attachment.statistics()] if attachment else [])])


async def main(options: argparse.Namespace) -> None:
    """Takes messages until `stop` or the end of the input."""
    pc = RTCPeerConnection()
    sink = MediaBlackhole()
    pc.on("track", sink.addTrack)
    pc.on("connectionstatechange", lambda: say("state", state=pc.connectionState))
    attachment = attached(pc, options) if options.controller == "weir" else None
    telling = asyncio.create_task(tell_statistics(pc, attachment, options.stats_interval_ms / 1e3))
    reader = await lines()
    say("ready", versions={"weir": weir.__version__, "aiortc": aiortc.__version__}, controller=options.controller)
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
    telling.cancel()
    await sink.stop()
    await pc.close()


def read_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line; without `arguments`, that of the process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--controller", choices=("weir", "gcc"), default="weir", help="gcc: aiortc's own estimator")
    parser.add_argument("--model", metavar="FILE", help="an ONNX model; without: the one that comes with Weir")
    parser.add_argument("--objective", type=weights, default="0.5,0.4,0.1", help="weights of throughput, latency, loss")
    parser.add_argument("--min-bitrate-bps", type=int, default=30_000)
    parser.add_argument("--start-bitrate-bps", type=int, default=300_000)
    parser.add_argument("--max-bitrate-bps", type=int, default=50_000_000)
    parser.add_argument("--stats-interval-ms", type=int, default=1000)
    parser.add_argument("--audio", action="store_true", help=argparse.SUPPRESS)
    for name in _IGNORED:
        parser.add_argument(f"--{name}", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def weights(text: str) -> list[float]:
    """An objective."""
    return [float(weight) for weight in text.split(",")]


if __name__ == "__main__":
    asyncio.run(main(read_options()))
