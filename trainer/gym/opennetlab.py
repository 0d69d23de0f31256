"""OpenNetLab's gym calls on Weir's simulator, so that agents written for them run unchanged.

What differs from the original, on purpose: the rate reaches the sender in RTCP over the reverse link (it takes time),
the queue is 300 ms of the trace's own mean capacity instead of 112,500 bytes for every trace, a capacity of zero queues
instead of dropping, and every wait has a time limit.
"""

from __future__ import annotations

import math
import os
import uuid
import warnings
from typing import Any, Final

import numpy as np

from weir.errors import InputError
from weir.files.input import printable
from weir.traces.formats.importers import read_trace
from weir.traces.formats.plain_trace import loss_of
from weir.traces.schema.capacity import CapacityTrace
from weir.traces.schema.scenario import Scenario
from weir.traces.schema.values_over_time import DelayOverTime
from weir.trainer.gym.episode import Episode
from weir.trainer.gym.pool import PACKET_RECORD, SimulatorPool
from weir.trainer.gym.specification import ActionSpecification, EnvironmentSpecification

PACKET_FIELDS: Final = tuple(name for name in PACKET_RECORD.names or () if name != "reserved")
MINIMUM_BPS: Final = 1_000.0
MAXIMUM_BPS: Final = 1e9
# OpenNetLab's delay for a trace without a round-trip time, and the largest rate of its encoder.
ONE_WAY_DELAY_MS: Final = 100.0
QUEUE_MS: Final = 300.0
MEDIA_MAXIMUM_BPS: Final = 10_000_000
DEFAULT_CAPACITY_BPS: Final = 3_000_000
DEFAULT_DURATION_MS: Final = 3000


class Gym:
    """`reset`, then `step(bps)` until it returns done.

    Args:
        gym_id: kept for compatibility; any name.
        simulator: path of `weir-sim`; see `find_simulator`.
        timeout_s: how long the simulator may take for an answer.
        seed: of the simulation; the original has none.
    """

    def __init__(
        self,
        gym_id: str | None = None,
        simulator: str | os.PathLike[str] | None = None,
        timeout_s: float = 10.0,
        seed: int = 1,
    ) -> None:
        self.gym_id = gym_id or uuid.uuid4().hex
        self._simulator = simulator
        self._timeout_s = timeout_s
        self._seed = seed
        self._pool: SimulatorPool | None = None
        self._done = True

    def reset(
        self,
        trace_path: str | os.PathLike[str] = "",
        report_interval_ms: int = 60,
        duration_time_ms: int | None = DEFAULT_DURATION_MS,
    ) -> None:
        """Starts a simulation.

        Args:
            trace_path: an OpenNetLab trace; "" for a steady 3 Mbps. Its faults are repaired, with a warning each.
            report_interval_ms: simulated time of a step.
            duration_time_ms: simulated time in all; 0 or None for once through the trace.

        Raises:
            InputError: the trace cannot be read.
            SimulatorError: the simulator failed.
        """
        self.close()
        action = ActionSpecification(kind="log_rate", min_bps=MINIMUM_BPS, max_bps=MAXIMUM_BPS)
        specification = EnvironmentSpecification(
            report_interval_ms, ("receive_rate_bps",), 1, action, guard=False, packets=True
        )
        self._pool = SimulatorPool(1, specification, self._simulator, self._timeout_s)
        scenario = opennetlab_scenario(trace_path, duration_time_ms)
        self._pool.reset({0: Episode(scenario, self._seed, (0.4, 0.5, 0.1))})
        self._done = False

    def step(self, bandwidth_bps: int) -> tuple[list[dict[str, Any]], bool]:
        """Sends at `bandwidth_bps` for one report interval.

        Returns:
            the packets that arrived, in the order of arrival (`send_time_ms`, `arrival_time_ms`, `payload_type`,
            `sequence_number`, `ssrc`, `padding_length`, `header_length`, `payload_size`), and False; after the last
            interval an empty list and True.
        """
        if self._pool is None:
            raise InputError("step before reset: call reset first")
        if self._done:
            return [], True
        rate = min(max(float(bandwidth_bps), MINIMUM_BPS), MAXIMUM_BPS)
        action = 2.0 * math.log(rate / MINIMUM_BPS) / math.log(MAXIMUM_BPS / MINIMUM_BPS) - 1.0
        self._pool.step(np.array([action]))
        self._done = bool(self._pool.flags[0])
        records = self._pool.packets[0]
        columns = [records[name].tolist() for name in PACKET_FIELDS]
        return [dict(zip(PACKET_FIELDS, values, strict=True)) for values in zip(*columns, strict=True)], False

    def close(self) -> None:
        """Ends the simulator process. The original leaves it to the garbage collector; so may an agent."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None
        self._done = True


def opennetlab_scenario(trace_path: str | os.PathLike[str], duration_time_ms: int | None) -> dict[str, Any]:
    """The scenario of an OpenNetLab run: the trace in both directions, 100 ms each way unless the trace has a
    round-trip time, media up to 10 Mbps.

    Args:
        trace_path: a trace file; "" for a steady 3 Mbps.
        duration_time_ms: simulated time; 0 or None for once through the trace.

    Raises:
        InputError: the trace cannot be read.
    """
    capacity = CapacityTrace.constant(DEFAULT_CAPACITY_BPS)
    delay_ms: float | DelayOverTime = ONE_WAY_DELAY_MS
    loss = loss_of(None)
    if str(trace_path):
        trace = read_trace(os.fspath(trace_path), repair=True)
        for finding in trace.findings:
            warnings.warn(str(finding), stacklevel=3)
        if trace.capacity is None:
            raise InputError(f"{trace_path}: its capacity is unlimited; an OpenNetLab trace has one")
        capacity = trace.capacity
        delay_ms = ONE_WAY_DELAY_MS if trace.one_way_delay_ms is None else trace.one_way_delay_ms
        loss = loss_of(trace.loss_ratio)
    link = {
        "capacity": {
            "times_s": capacity.times_s.tolist(),
            "rates_bps": [round(rate) for rate in capacity.rates_bps.tolist()],
            "period_s": capacity.period_s,
        },
        "one_way_delay_ms": delay_ms,
        "queue": {"milliseconds": QUEUE_MS},
        "loss": loss,
    }
    duration_s = duration_time_ms / 1000.0 if duration_time_ms else capacity.period_s or DEFAULT_DURATION_MS / 1000.0
    flow = {"kind": "rtp", "id": "media", "media": {"kind": "filler", "max_rate_bps": MEDIA_MAXIMUM_BPS}}
    name = os.path.basename(printable(trace_path)) or "steady"
    return Scenario.make(name=name, duration_s=duration_s, forward=link, reverse=link, flows=[flow]).to_dict()
