"""Where the end-to-end delay of frames arises: the time that each frame spends in the stages of a call.

| stage | from | until |
|---|---|---|
| encoder | capture | the frame has left the encoder |
| pacer | | its last packet has left the pacer for the first time |
| network | | it and all frames before it have arrived, with repair |
| jitter buffer | | it is rendered, less the time for lip sync; with decoding |
| lip sync | | the time for which the receiver holds it for audio |

The stages of a frame add up to its end-to-end delay; medians and percentiles over frames do not. A stage that begins
before the one before it has ended takes no time: a frame that FEC completes may arrive before its last packet is sent.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weir_eval.records.series import FrameColumns

STAGES: Final = ("encoder", "pacer", "network", "jitter_buffer", "lip_sync")


def stage_measures(stages_ms: NDArray[np.float64]) -> dict[str, float]:
    """Median and 95th percentile of each stage that is known for any frame, and the share of lip sync in the delay of
    all frames; `stages_ms` has a row for each frame.
    """
    measures: dict[str, float] = {}
    for name, values in zip(STAGES, stages_ms.T, strict=True):
        known = values[np.isfinite(values)]
        if len(known):
            p50, p95 = np.percentile(known, [50, 95])
            measures |= {f"delay_in_{name}_ms_p50": float(p50), f"delay_in_{name}_ms_p95": float(p95)}
    whole = float(np.nansum(stages_ms))
    if whole > 0 and np.isfinite(stages_ms[:, -1]).any():
        measures["lip_sync_share"] = float(np.nansum(stages_ms[:, -1])) / whole
    return measures


def split_delay(
    capture_us: ArrayLike,
    encoded_us: ArrayLike | None,
    sent_us: ArrayLike,
    arrived_us: ArrayLike,
    rendered_us: ArrayLike,
    lip_sync_us: ArrayLike,
) -> NDArray[np.float64]:
    """The time in ms of rendered frames in each of `STAGES`, shape (n, 5).

    Args:
        capture_us: capture times in us, shape (n,), as the others.
        encoded_us: None if encoding takes no time; its stage is then NaN.
        sent_us: when the last packet left the pacer for the first time.
        arrived_us: when the last of the packets that completed the frame arrived.
        rendered_us: rendering times.
        lip_sync_us: durations for which the receiver held the frames for audio.
    """
    rendered = np.asarray(rendered_us, dtype=np.float64)
    begin = np.asarray(capture_us, dtype=np.float64)
    # A frame is decodable when it and all frames before it have arrived.
    decodable = np.minimum(np.maximum.accumulate(np.asarray(arrived_us, dtype=np.float64)), rendered)
    encoded = begin if encoded_us is None else np.clip(np.asarray(encoded_us, dtype=np.float64), begin, decodable)
    sent = np.clip(np.asarray(sent_us, dtype=np.float64), encoded, decodable)
    lip_sync = np.minimum(np.asarray(lip_sync_us, dtype=np.float64), rendered - decodable)
    stages = [encoded - begin, sent - encoded, decodable - sent, rendered - decodable - lip_sync, lip_sync]
    if encoded_us is None:
        stages[0] = np.full(len(rendered), np.nan)
    return np.column_stack(stages) / 1e3


def frame_stages(frames: FrameColumns, shown: NDArray[np.int64], rendered_us: ArrayLike) -> NDArray[np.float64] | None:
    """The stages of the rendered frames of a record's series, whose indices are `shown`, as `split_delay` returns them;
    None for records of earlier versions.
    """
    if "lip_sync_us" not in frames or "sent_time_us" not in frames:
        return None
    complete = frames.get("arrived_time_us", frames["complete_time_us"])
    return split_delay(
        np.array(frames["capture_time_us"])[shown],
        np.array(frames["encoded_time_us"])[shown] if "encoded_time_us" in frames else None,
        np.array(frames["sent_time_us"])[shown],
        np.array(complete, dtype=np.float64)[shown],
        rendered_us,
        np.array(frames["lip_sync_us"], dtype=np.float64)[shown],
    )
