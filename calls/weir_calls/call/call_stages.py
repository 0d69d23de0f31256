"""Where the end-to-end delay of a real call arises: the stages of `weir_eval.measures.delay_stages`.

The receiving weir-peer logs when each frame was complete and rendered. The sender's encoder and pacer, and the
receiver's lip sync, are known from getStats only: as means over the frames or packets between two reports, about a
second. A frame has those of the interval in which it was captured, or rendered; the network gets the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weir_calls.call.media.received_frames import ReceivedFrame, capture_times_us
from weir_eval.measures.delay_stages import STAGES, split_delay
from weir_eval.webrtc_stats import Array, StatsObject, StatsReports


def call_stages(frames: Sequence[ReceivedFrame], receiver: StatsReports, sender: StatsReports) -> NDArray[np.float64]:
    """The stages in ms of the rendered frames whose capture and arrival are known, shape (n, 5); without getStats of
    both endpoints n is 0.
    """
    captured = zip(frames, capture_times_us(frames), strict=True)
    times = np.array(
        [
            (capture_us, frame.arrival_time_us, frame.render_time_us)
            for frame, capture_us in captured
            if capture_us is not None and frame.arrival_time_us is not None
        ],
        dtype=np.float64,
    ).reshape(-1, 3)
    capture, arrival, rendered = times.T
    sent, received = sender.of("outbound-rtp", "video"), receiver.of("inbound-rtp", "video")
    encoder_s = _means(sent, ("totalEncodeTime",), "framesEncoded", capture)
    pacer_s = _means(sent, ("totalPacketSendDelay",), "packetsSent", capture)
    buffer = ("jitterBufferTargetDelay", "jitterBufferMinimumDelay")
    lip_sync_s = _means(received, buffer, "jitterBufferEmittedCount", rendered)
    if encoder_s is None or pacer_s is None or lip_sync_s is None:
        return np.zeros((0, len(STAGES)))
    encoded = capture + 1e6 * encoder_s
    return split_delay(capture, encoded, encoded + 1e6 * pacer_s, arrival, rendered, 1e6 * lip_sync_s)


def _means(objects: Sequence[StatsObject], sums: Sequence[str], count: str, times_us: Array) -> Array | None:
    """The growth of the first of `sums`, less that of the second, over that of `count`, in the interval between reports
    of each time; of the stream with most reports. At least 0; None without two reports that have them.
    """
    known = [stream for stream in objects if {*sums, count} <= stream.numbers.keys()]
    if not known:
        return None
    stream = max(known, key=lambda stream: len(stream.counter(count)[0]))
    ends_s, counts = stream.counter(count)
    if len(ends_s) < 2:
        return None
    totals = [np.interp(ends_s, *stream.counter(name)) for name in sums]
    growth = np.diff(totals[0] - totals[1] if len(totals) > 1 else totals[0])
    grown = np.diff(counts)
    means = np.divide(growth, grown, out=np.zeros_like(growth), where=grown > 0)
    interval = np.clip(np.searchsorted(ends_s, np.asarray(times_us) / 1e6) - 1, 0, len(means) - 1)
    return np.maximum(means[interval], 0.0)
