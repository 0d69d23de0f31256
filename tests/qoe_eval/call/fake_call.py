"""A call whose link and namespaces are made up, so that it needs no root; its ends are stand-ins of weir-peer."""

import asyncio
import json
from pathlib import Path

from weir.qoe_eval.call.plan import CallSettings
from weir.qoe_eval.link.child_process import monotonic_us
from weir.qoe_eval.link.process import LinkFailed
from weir.traces.schema.scenario import Scenario


class FakeNamespaces:
    """Counts what was made and not removed."""

    existing = 0

    def __init__(self):
        self.left = self.right = None

    async def create(self):
        FakeNamespaces.existing += 1

    async def remove(self):
        FakeNamespaces.existing -= 1


class FakeLink:
    """Logs a line every 50 ms; `behaviour`: "die at start", "die in call"."""

    behaviour = ""
    downs: list = []  # noqa: RUF012  (shared on purpose: the session makes the object)

    def __init__(self, scenario, namespaces, log, program_log, *, seed):
        assert Scenario.load(scenario).name == "steady"
        self._log = log
        self._ended = asyncio.Event()
        self.failure = ""

    async def start(self):
        if self.behaviour == "die at start":
            raise LinkFailed("weir-sim link ended with status 1: no device")
        return {"type": "ready", "time_us": monotonic_us()}

    async def begin(self):
        if self.behaviour == "die in call":
            self.failure = "weir-sim link was killed by signal 9"
            self._ended.set()
        return monotonic_us()

    async def down(self, duration_s):
        FakeLink.downs.append(duration_s)

    async def stop(self):
        self._ended.set()
        return ""

    async def log(self):
        while not self._ended.is_set():
            line = {"time_us": monotonic_us(), "direction": "forward", "capacity_bps": 1e6, "scenario_time_s": 0.1}
            with self._log.open("a") as file:
                file.write(json.dumps(line) + "\n")
            yield line
            await asyncio.sleep(0.05)


def call_settings(out: Path, **changes) -> CallSettings:
    scenario = Scenario.make(
        name="steady",
        duration_s=10.0,
        forward={"capacity": {"times_s": [0.0], "rates_bps": [1e6]}},
        flows=[{"kind": "rtp"}],
    )
    fields = {
        "scenario": scenario, "sender": "native", "controller": "gcc", "objective": (0.4, 0.5, 0.1),
        "duration_s": 0.6, "seed": 1, "width": 640, "height": 360, "out": out,
    }  # fmt: skip
    return CallSettings(**(fields | changes))
