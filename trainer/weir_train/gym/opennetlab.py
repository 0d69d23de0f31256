"""OpenNetLab's gym, with its methods, packets and traces, so that agents written for it run unchanged.

Differences from the original, which is libwebrtc M84 on ns-3:

- A rate, except the first one, takes effect when RTCP on the reverse link delivers it to the sender, not at once.
- The queue is 300 ms of the trace's mean capacity instead of 112,500 bytes for every trace.
- While the capacity is zero, packets wait instead of being lost.
- Every wait for the simulator has a time limit.
"""

from __future__ import annotations

import math
import os
import struct
import uuid
from typing import Any, Final, get_args

import numpy as np

from weir.custom_python_class import OPENNETLAB_PAYLOAD_TYPES
from weir_cli.errors import InputError
from weir_sim.executables import Stack, find_stack
from weir_train.gym.opennetlab_scenario import DEFAULT_DURATION_MS, opennetlab_scenario
from weir_train.gym.process import SimulatorProcess, frame
from weir_train.gym.specification import KEYS_OF_STACK

MINIMUM_BPS: Final = 1_000.0
MAXIMUM_BPS: Final = 1e9
# A packet in an answer to a step; the kinds are those of `weir::PacketKind`.
PACKET_RECORD: Final = np.dtype(
    [
        ("send_time_ms", "<f8"),
        ("arrival_time_ms", "<f8"),
        ("ssrc", "<u4"),
        ("sequence_number", "<u2"),
        ("payload_type", "u1"),
        ("kind", "u1"),
        ("padding_length", "<u4"),
        ("header_length", "<u4"),
        ("payload_size", "<u4"),
    ]
)
PACKET_FIELDS: Final = tuple(name for name in PACKET_RECORD.names or () if name != "kind")
_KINDS: Final = ("video", "audio", "probe", "retransmission")
# Action, and an objective (NaN: unchanged).
_STEP: Final = struct.Struct("<4f")


class Gym:
    """Runs one call after another: `reset`, then `step(bps)` until it returns done.

    Args:
        gym_id: any name.
        stack: the endpoints of the call. `model`: those of `weir-sim`. `libwebrtc`: libwebrtc's own in simulated time,
            with the program `weir-virtual-call`. The path is the same.
        simulator: path of the stack's program; None: see `weir_sim.executables`.
        timeout_s: time limit for an answer of the simulator.
        seed: of every run; the original has none.
        video_payload_type: of video packets, 0 to 127; some agents filter by 125.

    Raises:
        InputError: there is no such stack or payload type.
    """

    def __init__(
        self,
        gym_id: str | None = None,
        *,
        stack: Stack = "model",
        simulator: str | os.PathLike[str] | None = None,
        timeout_s: float = 10.0,
        seed: int = 1,
        video_payload_type: int = OPENNETLAB_PAYLOAD_TYPES["video"],
    ) -> None:
        if stack not in get_args(Stack):
            raise InputError(f"stack {stack!r}: one of {', '.join(get_args(Stack))}")
        if video_payload_type not in range(128):
            raise InputError(f"video_payload_type {video_payload_type!r}: give a whole number, 0 to 127")
        types = OPENNETLAB_PAYLOAD_TYPES | {"video": video_payload_type}
        self._payload_types = np.array([types[kind] for kind in _KINDS], np.uint8)
        self.gym_id = gym_id or uuid.uuid4().hex
        self._stack = stack
        self._simulator = simulator
        self._timeout_s = timeout_s
        self._seed = seed
        self._process: SimulatorProcess | None = None
        # Reset request of a run, which is sent with the first step.
        self._request: dict[str, Any] | None = None
        # Offset of the packets in an answer, in bytes; 0 before the first run.
        self._packets_at = 0
        self._done = True

    def reset(
        self,
        trace_path: str | os.PathLike[str] = "",
        report_interval_ms: float = 60,
        duration_time_ms: float | None = DEFAULT_DURATION_MS,
    ) -> None:
        """Prepares a run, which begins with the first step.

        Args:
            trace_path: see `opennetlab_scenario`.
            report_interval_ms: simulated time of a step, 1 to 60,000.
            duration_time_ms: total simulated time; 0 or None for the length of the trace.

        Raises:
            InputError: the trace cannot be read, or a number is out of range.
            MissingComponent: the stack's program is missing.
            ComponentFailed: the simulator failed.
        """
        self._done = True
        self._request = {
            "scenario": opennetlab_scenario(trace_path, duration_time_ms),
            "seed": self._seed,
            "interval_ms": report_interval_ms,
            # Agents observe packets; a request needs at least one feature.
            "features": ["receive_rate_bps"],
            "history": 1,
            "action": {"kind": "rate_bps", "min_bps": MINIMUM_BPS, "max_bps": MAXIMUM_BPS},
            "packets": True,
        } | KEYS_OF_STACK[self._stack]
        if self._process is None or not self._process.alive:
            self._process = SimulatorProcess(self._simulator or find_stack(self._stack), self._timeout_s)
        self._done = False

    def step(self, bandwidth_bps: float) -> tuple[list[dict[str, Any]], bool]:
        """Sends `bandwidth_bps` to the sender and runs one report interval.

        Returns:
            the packets that arrived, in the order of arrival, and False; after the last interval an empty list and
            True. A packet is a dict of whole numbers: `send_time_ms`, `arrival_time_ms`, `payload_type` (126 video
            unless `video_payload_type` is another, 103 audio, 98 retransmissions, probes and padding),
            `sequence_number` (16 bits, with gaps where packets were lost), `ssrc`, `padding_length`, `header_length`,
            `payload_size` (bytes).

        Raises:
            InputError: it is called before reset, the rate is not a number, or the report interval is out of range.
            ComponentFailed: the simulator failed.
        """
        if self._process is None:
            raise InputError("step before reset: call reset first")
        if self._done:
            return [], True
        # Some agents pass arrays or tensors of one element.
        rate_bps = float(bandwidth_bps.item() if hasattr(bandwidth_bps, "item") else bandwidth_bps)
        if math.isnan(rate_bps):
            raise InputError("bandwidth_bps: is not a number")
        rate_bps = min(max(rate_bps, MINIMUM_BPS), MAXIMUM_BPS)
        self._done = True
        if self._request is not None:
            self._start(self._process, self._request, rate_bps)
            self._request = None
        else:
            self._process.send(frame(b"S", _STEP.pack(rate_bps, math.nan, math.nan, math.nan)))
        packets, self._done = self._read_packets(self._process)
        packets["payload_type"] = self._payload_types[packets["kind"] % len(_KINDS)]
        columns = [np.trunc(packets[name]).astype(np.int64).tolist() for name in PACKET_FIELDS]
        return [dict(zip(PACKET_FIELDS, values, strict=True)) for values in zip(*columns, strict=True)], False

    def close(self) -> None:
        """Ends the simulator. Agents may also leave this to the garbage collector."""
        if self._process is not None:
            self._process.close()
            self._process = None
        self._done = True

    def _start(self, process: SimulatorProcess, request: dict[str, Any], rate_bps: float) -> None:
        """Begins a run at `rate_bps`; the simulator's next answer is that of the first interval."""
        flow = next(flow for flow in request["scenario"]["flows"] if flow.get("controller") == "under_test")
        flow["start_rate_bps"] = min(max(rate_bps, flow["min_rate_bps"]), flow["media"]["max_rate_bps"])
        process.begin_episode(request)
        observation_size, step_fields = process.greeting()
        self._packets_at = 1 + 4 * observation_size + 8 * len(step_fields)

    def _read_packets(self, process: SimulatorProcess) -> tuple[np.ndarray, bool]:
        """Reads the packets of an answer, PACKET_RECORD of shape (N,), and whether it is the last."""
        payload = process.receive(b"O")
        at = self._packets_at
        count = int.from_bytes(payload[at : at + 4], "little")
        if len(payload) != at + 4 + count * PACKET_RECORD.itemsize:
            raise process.failure(f"its answer announces {count} packets but has {len(payload)} bytes")
        return np.frombuffer(payload, PACKET_RECORD, count, at + 4), bool(payload[0])
