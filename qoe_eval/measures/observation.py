"""The input of the rules of `causes.py`: a flow, its path and its frames as series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from weir.qoe_eval.measures.flow_series import Array

UNLIMITED_BPS: Final = 1e12


@dataclass(frozen=True)
class Frames:
    """The frames of a flow by capture; times in s, shape [frames]. `shown_s`: NaN for one that was never rendered."""

    captured_s: Array
    sent_s: Array
    shown_s: Array
    bytes: Array
    key_frame: NDArray[np.bool_]


@dataclass(frozen=True)
class Observation:
    """A flow and its path, in samples of `interval_s` from time 0; arrays have shape [samples].

    Attributes:
        start_s: when the flow begins.
        round_trip_s: without queues.
        one_way_delay_s: of the data, without queues.
        capacity_bps: UNLIMITED_BPS where it is unlimited.
        queueing_delay_s: at the end of a sample.
        target_bps: the sender's.
        estimate_bps: the receiver's; None for a controller at the sender, NaN before the first.
        feedback_age_s: since the newest feedback that the sender has was sent, as far as that exceeds the usual.
        backlog_bits: frames that are encoded and not yet sent, at the end of a sample.
    """

    interval_s: float
    start_s: float
    round_trip_s: float
    one_way_delay_s: float
    capacity_bps: Array
    queueing_delay_s: Array
    other_flows_bps: Array
    target_bps: Array
    estimate_bps: Array | None
    feedback_age_s: Array
    sent_bps: Array
    retransmitted_bps: Array
    probe_bps: Array
    backlog_bits: Array
    sends_key_frame: NDArray[np.bool_]
    lost: Array
    lost_at_queue: Array
    frames: Frames
