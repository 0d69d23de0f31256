"""A call session that makes events without a network: the rate follows the capacity, the delay the weights.

It emits the events of `weir_calls.call.session.run_call`, obeys its controls and leaves a folder like a
call's. Its clock is the test's: it runs ahead to `hold_s` at once, and waits there.
"""

import asyncio
import json
import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

from weir import parse_pool
from weir_calls.call.media.received_frames import RawFrames
from weir_calls.serve.call_runner import CallBackend
from weir_sim.controllers import is_pool, pool_members

STEP_S = 0.1
_GO_ON = {"type": "go on"}
REPORT = "<!doctype html><title>Report</title>"
METRICS = {
    "received_bitrate_bps": 1_630_000.0, "frames_per_second": 29.6, "vmaf_mean": 82.4, "vmaf_p5": 64.1,
    "frozen_share": 0.007, "end_to_end_delay_ms_p95": 148.0, "network_delay_ms_p95": 66.0, "utilisation": 0.87,
    "loss_ratio": 0.004,
}  # fmt: skip


@dataclass
class FakeCalls:
    """Calls, and the orders that they received.

    With `shares`, it first makes its video up to each of these shares, and waits until `advance`.
    A call waits at `hold_s` of its own time, where each order lets it make one more step, until `advance` or `release`;
    with a controller in `waiting`, only the call of this one waits.
    With `measuring`, a progress, each call stays there while it is measured, until `advance` or `release`.
    `step_s` is what a step lasts in real time, for who films the page.
    """

    hold_s: float = 2.0
    shares: list = field(default_factory=list)
    measuring: float | None = None
    step_s: float = 0.0
    lacking: list = field(default_factory=list)
    failure: str = ""
    raises: Exception | None = None
    failing: str = ""
    waiting: str = ""
    connects: bool = True
    video: Path | None = None
    episodes: list = field(default_factory=list)
    metrics: dict = field(default_factory=dict)
    frames: bytes = b""
    received: list = field(default_factory=list)
    cores: int = 8
    disturbed: list = field(default_factory=list)
    lateness_ms: float = 0.1
    barriers: list = field(default_factory=list)
    settings: list = field(default_factory=list)
    being_measured: list = field(default_factory=list)
    controls: list = field(default_factory=list)
    cancelled: int = 0
    running: list = field(default_factory=list)

    def backend(self):
        return CallBackend(
            missing=lambda request: self.lacking,
            run_call=self.run_call,
            write_report=lambda results, folder: (folder / "report.html").write_text(REPORT),
            cores=lambda: self.cores,
        )

    async def run_call(self, settings, on_event, control, barrier):
        settings.out.mkdir(exist_ok=True)
        self.barriers.append(barrier)
        self.settings.append(settings)
        self.running.append((asyncio.get_running_loop(), control))
        try:
            return await self._run(settings, on_event, control)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running.remove((asyncio.get_running_loop(), control))

    def advance(self, duration_s):
        """Moves the time at which calls wait; from any thread."""
        self.hold_s += duration_s
        for loop, control in [*self.running]:
            loop.call_soon_threadsafe(control.put_nowait, _GO_ON)

    def release(self):
        """Every call goes on to its end."""
        self.advance(math.inf)

    async def _run(self, settings, on_event, control):
        began = time.monotonic_ns() // 1000

        def tell(kind, text, time_us=began, **more):
            on_event({"type": kind, "time_us": time_us, "text": text} | more)

        if self.shares:
            tell("state", "making the video")
            for share in self.shares:
                tell("progress", "making the video", share=share)
            await control.get()
        sender = f"starting the sender ({settings.sender})"
        for text in ("setting up the link", "starting the receiver", sender, "connecting"):
            tell("state", text)
        if not self.connects:
            await asyncio.Event().wait()
        if self.raises and self.failing in ("", settings.controller):
            raise self.raises
        (settings.out / "frames.y4m").write_bytes(self.frames)
        self.received.append(RawFrames(settings.out / "frames.y4m"))
        model = _Model(settings, self.lateness_ms)
        tell("note", "receiver: connected")
        frames = self.received[-1].path
        tell("state", "in the call", started_us=began, duration_s=settings.duration_s, frames=frames)
        for step in range(round(settings.duration_s / STEP_S)):
            is_held = step * STEP_S >= self.hold_s and self.waiting in ("", settings.controller)
            while is_held or not control.empty():
                order, is_held = await control.get(), False
                if order is _GO_ON:
                    continue
                self.controls.append(order)
                if order["type"] == "stop":
                    tell("note", "stopped by the user", began + step * 100_000)
                    return await self._conclude(settings, on_event, control, began, began + step * 100_000)
                if order["type"] == "down":
                    tell("note", f"link down for {order['duration_s']:g} s", began + step * 100_000)
                model.obey(order)
            for event in model.step(began, step):
                on_event(event)
            await asyncio.sleep(self.step_s)
        return await self._conclude(settings, on_event, control, began)

    async def _conclude(self, settings, on_event, control, began, stopped_us=None):
        on_event({"type": "state", "text": "measuring"})
        if self.measuring is not None:
            on_event({"type": "progress", "text": "measuring", "share": self.measuring})
            self.being_measured.append(settings)
            while await control.get() is not _GO_ON:
                pass
        on_event({"type": "end", "failure": self.failure, "disturbed": []})
        record = {
            "schema": "weir.result/1",
            "scenario": settings.scenario.name,
            "controller": settings.controller,
            "objective": list(settings.objective),
            "seed": 0,
            "duration_s": settings.duration_s,
            "path": {"one_way_delay_ms": 25.0},
            "flows": [],
            "metrics": {"run": METRICS | self.metrics},
            "episodes": self.episodes,
            "call": {
                "sender": settings.sender,
                "disturbed": self.disturbed,
                "failure": self.failure,
                "stopped": stopped_us is not None,
                "started_us": began,
                "ended_us": stopped_us,
            },
        }
        (settings.out / "call.json").write_text(json.dumps(record))
        if self.video:
            (settings.out / "recording.mp4").write_bytes(self.video.read_bytes())
        return SimpleNamespace(record=record, folder=settings.out, disturbed=[], failure=self.failure)


class _Model:
    """Rate and delay that follow the capacity and the weights."""

    def __init__(self, settings, lateness_ms):
        self.settings = settings
        self.lateness_ms = lateness_ms
        self.capacity = settings.scenario.forward.capacity.trace()
        self.weights = list(settings.objective)
        self.now_s = 0.0
        self.down_until_s = -1.0
        self.guard = {"finite": 0, "bounds": 0, "slew": 0, "stale": 0}
        self.bytes = 0
        self.pool = parse_pool(settings.controller) if is_pool(settings.controller) else None

    def obey(self, order):
        if order["type"] == "objective":
            self.weights = [order["throughput"], order["latency"], order["loss"]]
        elif order["type"] == "pool":
            self.pool = parse_pool(order["line"])
        elif order["type"] == "down":
            self.down_until_s = self.now_s + order["duration_s"]

    def step(self, began_us, step):
        self.now_s = (step + 1) * STEP_S
        time_us = began_us + round(self.now_s * 1e6)
        capacity = 0.0 if self.now_s < self.down_until_s else float(self.capacity.rate_at(self.now_s))
        throughput, latency, _ = self.weights
        wave = math.sin(8 * self.now_s)
        # Two calls at once differ.
        share, base_ms = (0.6, 60) if self.settings.controller == "gcc" else (0.8, 12)
        rate = max(30e3, share * capacity * (1 + 0.05 * wave))
        received = min(rate, capacity)
        queue_ms = base_ms + 90 * throughput / (throughput + latency) * (1 + 0.5 * wave)
        packets, reason = round(received * STEP_S / 9600), "guard_slew" if step % 20 == 19 else "controller"
        self.guard["slew"] += reason == "guard_slew"
        self.bytes += round(received * STEP_S / 8)
        yield {
            "type": "link", "time_us": time_us, "scenario_time_s": self.now_s, "direction": "forward",
            "capacity_bps": capacity, "queue_bytes": round(queue_ms * capacity / 8000),
            "queueing_delay_ms": round(queue_ms, 2), "packets": packets, "bytes": round(received * STEP_S / 8),
            "dropped_packets": 0, "delay_error_ms_p95": self.lateness_ms,
        }  # fmt: skip
        yield {"type": "link", "time_us": time_us, "direction": "reverse", "capacity_bps": None}
        if self.settings.controller != "gcc":
            yield {
                "type": "estimate", "time_us": time_us, "target_rate_bps": round(rate), "reason": reason,
                "controller": "weir", "receive_rate_bps": round(received), "queueing_delay_ms": round(queue_ms, 2),
                "loss_ratio": 0.0, "application_limited": False,
                "in_charge": self.settings.controller == "weir", "guard": dict(self.guard), "objective": self.weights,
            } | ({"pool": self._pool_as_it_is(rate)} if self.pool else {})  # fmt: skip
        if step % 10 == 9:
            yield from self._stats(time_us, received)

    def _pool_as_it_is(self, rate):
        roles = {self.pool["pilot"]: "pilot"} | dict.fromkeys(self.pool["copilots"], "copilot")
        members = [
            {"name": name, "role": roles.get(name, "watching"), "rate_bps": round(rate), "trust": 1.0}
            for name in pool_members(self.settings.controller)
        ]
        return {"line": self.pool["line"], "fusion": self.pool["fusion"], "pilot_changes": 0, "members": members}

    def _stats(self, time_us, received):
        size = {"frameWidth": self.settings.width, "frameHeight": self.settings.height}
        inbound = {
            "type": "inbound-rtp", "kind": "video", "bytesReceived": self.bytes, "headerBytesReceived": 0,
            "framesPerSecond": 30 if received > 100e3 else 4, "freezeCount": 0, "totalFreezesDuration": 0.0,
        }  # fmt: skip
        outbound = {"type": "outbound-rtp", "kind": "video", "qualityLimitationReason": "bandwidth"}
        pair = {"type": "candidate-pair", "nominated": True, "availableOutgoingBitrate": received * 0.8 + 100e3}
        yield {"type": "stats", "time_us": time_us, "end": "receiver", "report": [inbound | size]}
        yield {"type": "stats", "time_us": time_us, "end": "sender", "report": [outbound | size, pair]}
