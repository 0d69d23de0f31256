"""The input of the rules in `causes.py`: a flow, its path and its frames as series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from weir_eval.measures.flow_series import Array

UNLIMITED_BPS: Final = 1e12


@dataclass(frozen=True)
class Frames:
    """The frames of a flow in the order of capture; times in s, shape [frames]. `shown_s`: NaN if never rendered."""

    captured_s: Array
    sent_s: Array
    shown_s: Array
    bytes: Array
    key_frame: NDArray[np.bool_]


@dataclass(frozen=True)
class Observation:
    """A flow and its path, in samples of `interval_s` from time 0; arrays have shape [samples].

    Attributes:
        start_s: start of the flow.
        round_trip_s: round trip without queues.
        one_way_delay_s: delay of the data path without queues.
        capacity_bps: UNLIMITED_BPS if unlimited.
        queueing_delay_s: queueing delay at the end of a sample.
        target_bps: the sender's target.
        estimate_bps: the receiver's estimate; None for a controller at the sender, NaN before the first estimate.
        feedback_age_s: age of the newest feedback at the sender, minus the usual delay of feedback.
        backlog_bits: size of encoded frames that are not yet sent, at the end of a sample.
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
