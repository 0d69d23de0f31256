"""What one call is, and what it came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from weir.qoe_eval.records import CallRecord
from weir.qoe_eval.runs.own_controllers import OwnController
from weir.registry import AT_NATIVE_SENDER, is_pool, uses_model
from weir.traces.schema.scenario import Scenario

SenderKind = Literal["chromium", "native"]
ReceiverKind = Literal["native", "chromium"]

SENDERS: tuple[SenderKind, ...] = ("chromium", "native")
CODECS = ("VP8", "VP9", "H264")
SIZES = {"1280x720": (1280, 720), "640x360": (640, 360)}
CHROMIUM = "/usr/bin/chromium"
DEFAULT_MAX_BITRATE_BPS = 2_500_000
"""What a video call of today sends at most; every sender is held to it, under every controller."""


@dataclass(frozen=True)
class CallSettings:
    """One call. `scenario` is what the link replays; `variation` what its seed has drawn of it, for the record.

    `receiver`: chromium where weir-peer sends under gcc or a controller of AT_NATIVE_SENDER, which needs no REMB.
    `controller`: of `weir.registry.IN_CALLS` or AT_NATIVE_SENDER, a pool's line, or the name of `own`. `objective`:
    weights of throughput, latency and loss, for controllers of ours. `max_bitrate_bps` bounds the encoder. `model`
    None: the one shipped. `own`: the user's own controller, whose name `controller` then is; it decides in place of the
    model. `out` is the call's own folder. `orders`: what is asked of the call while it lasts
    (`call/session/orders.py`), each with its time from the beginning in seconds.
    """

    scenario: Scenario
    sender: SenderKind
    controller: str
    objective: tuple[float, float, float]
    duration_s: float
    seed: int
    width: int
    height: int
    out: Path
    frames_per_second: int = 30
    codec: str = "VP8"
    max_bitrate_bps: int = DEFAULT_MAX_BITRATE_BPS
    model: Path | None = None
    variation: dict[str, Any] = field(default_factory=dict)
    own: OwnController | None = None
    orders: tuple[tuple[float, dict[str, Any]], ...] = ()
    receiver: ReceiverKind = "native"

    @property
    def follows_objective(self) -> bool:
        """Whether a controller of ours, or of the user's own, takes part; else the objective means nothing."""
        return self.own is not None or is_pool(self.controller) or self.runs_model

    @property
    def runs_model(self) -> bool:
        """Whether an end of the call needs a model: the sender, where it decides, else the receiver."""
        return self.own is None and uses_model(self.controller)

    @property
    def decided_at_sender(self) -> bool:
        """Whether the sender's controller is ours, and the receiver only reports."""
        return self.controller in AT_NATIVE_SENDER

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.scenario.name}, {self.controller}, seed {self.seed}"


@dataclass(frozen=True)
class CallResult:
    """`record` is the result record; `disturbed` says why its measures must not be averaged (empty: they may);
    `failure` why the call ended before its time (empty: it did not); `missing`: because something that calls need is
    not there, so that no other call will fare better.
    """

    record: CallRecord
    folder: Path
    disturbed: list[str] = field(default_factory=list)
    failure: str = ""
    missing: bool = False
