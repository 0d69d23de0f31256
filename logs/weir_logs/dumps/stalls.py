"""Finds times at which video stalled or its target dropped, from series of reports."""

from __future__ import annotations

import numpy as np

from weir_eval.webrtc_stats import Array, StatsObject
from weir_logs.dumps.freeze import DumpFreeze

# libwebrtc's definition of a freeze: a gap between frames of at least this many mean gaps, and one gap plus this time.
_FREEZE_FRAMES = 3.0
_FREEZE_MORE_S = 0.15
_LEAST_FRAMES_PER_S = 2.0
# The usual frame rate is the _MOST percentile of the intervals in this time before, and of at least this many; the last
# interval may be half without frames.
_BEFORE_S = 10.0
_LEAST_INTERVALS = 4
_MOST = 70
# A drop begins below the first and ends at the second share of the usual target of the last 20 s.
_DROPPED, _BACK = 0.5, 0.7
_USUAL_S = 20.0
_LEAST_DROP_S = 3.0
_LEAST_USUAL_BPS = 100e3
_MOST_REPORTS = 20_000


def find_stalls(stream: StatsObject, times: Array, frames: Array) -> list[DumpFreeze]:
    """Finds times without frames after times with frames.

    Args:
        stream: the stream.
        times: times of reports, s since 1970, shape [n].
        frames: frames counted until then, shape [n].
    """
    steps, spans = np.diff(frames), np.diff(times)
    found = []
    index = 0
    while index < len(steps):
        first = index
        index += 1
        if steps[first] > 0 or first == 0:
            continue
        while index < len(steps) and steps[index] <= 0:
            index += 1
        earlier = min(int(np.searchsorted(times, times[first] - _BEFORE_S)), max(0, first - _LEAST_INTERVALS))
        per_s = float(np.percentile(steps[earlier:first].clip(0) / spans[earlier:first], _MOST, method="higher"))
        if per_s < _LEAST_FRAMES_PER_S:
            continue
        is_open = index >= len(steps)
        start_s = times[first] - _without_frames(steps[first - 1], spans[first - 1], per_s)
        end_s = times[-1] if is_open else times[index] + _without_frames(steps[index], spans[index], per_s)
        if end_s - start_s > max(_FREEZE_FRAMES / per_s, 1 / per_s + _FREEZE_MORE_S):
            length_s = float(end_s - start_s)
            error_s = float(spans[first - 1]) / 2
            found.append(DumpFreeze(stream, float(start_s), length_s, error_s, is_open=is_open))
    return found


def _without_frames(frames: float, span_s: float, per_s: float) -> float:
    """The estimated time without frames in an interval at the edge of a stall."""
    return max(0.0, float(span_s) - float(frames) / per_s)


def find_drops(stream: StatsObject, times: Array, targets: Array) -> list[DumpFreeze]:
    """Finds times at which a target is far below its usual value.

    Args:
        stream: the stream.
        times: times of reports, s since 1970, shape [n].
        targets: targets of its encoder, bit/s, shape [n].
    """
    found = []
    usual, began = 0.0, -1
    for index in range(min(len(times), _MOST_REPORTS)):
        if began < 0:
            earlier = targets[np.searchsorted(times, times[index] - _USUAL_S) : index]
            usual = float(np.percentile(earlier, 70)) if len(earlier) > 2 else 0.0
            if usual >= _LEAST_USUAL_BPS and targets[index] < _DROPPED * usual:
                began = index
        is_last = index == len(times) - 1
        if began >= 0 and (is_last or targets[index] >= _BACK * usual):
            length_s = float(times[index] - times[began])
            if length_s >= _LEAST_DROP_S:
                error_s = float(times[began] - times[began - 1]) / 2
                is_open = bool(is_last and targets[index] < _BACK * usual)
                start_s = float(times[began])
                found.append(DumpFreeze(stream, start_s, length_s, error_s, is_open=is_open, is_drop=True))
            began = -1
    return found
