"""A call whose link and networks are made up; its ends are stand-ins of weir-peer."""

import asyncio
import json
from pathlib import Path

from weir_calls.call.plan import CallSettings
from weir_calls.link.child_process import monotonic_us
from weir_cli.errors import ComponentFailed
from weir_traces.schema.scenario import Scenario


class FakeNetwork:
    """This process's own."""

    address = "127.0.0.1"

    def command(self, words):
        return words

    def processes(self):
        return []


class FakeNamespaces:
    """Counts what was made and not removed."""

    existing = 0

    def __init__(self):
        self.left = self.right = FakeNetwork()

    async def create(self):
        FakeNamespaces.existing += 1

    async def remove(self):
        FakeNamespaces.existing -= 1


class FakeLink:
    """Logs two lines when the call begins, and one at each order; `behaviour`: "die at start", "die in call"."""

    behaviour = ""
    downs: list = []  # noqa: RUF012  (shared on purpose: the session makes the object)

    def __init__(self, scenario, namespaces, log, program_log, *, seed):
        assert Scenario.load(scenario).name == "steady"
        self._log = log
        # None at the end.
        self._lines = asyncio.Queue()
        self.failure = ""

    async def start(self):
        if self.behaviour == "die at start":
            raise ComponentFailed("weir-sim link ended with status 1: no device")
        return {"type": "ready", "time_us": monotonic_us()}

    async def begin(self):
        if self.behaviour == "die in call":
            self.failure = "weir-sim link was killed by SIGKILL"
            self._lines.put_nowait(None)
        self._log_lines(2)
        return monotonic_us()

    async def down(self, duration_s):
        FakeLink.downs.append(duration_s)
        self._log_lines(1)

    async def stop(self):
        self._lines.put_nowait(None)
        return ""

    async def log(self):
        while line := await self._lines.get():
            yield line

    def _log_lines(self, count):
        for _ in range(count):
            line = {"time_us": monotonic_us(), "direction": "forward", "capacity_bps": 1e6, "scenario_time_s": 0.1}
            with self._log.open("a") as file:
                file.write(json.dumps(line) + "\n")
            self._lines.put_nowait(line)


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
