"""What a viewer of a simulated call would see: delay of frames, freezes, frame rate, and an estimate of quality.

From the frames that weir-sim follows (`trainer/gym/sim/media/frame_recorder.h`): of the encoder's video, or of filler,
whose every thirtieth of a second counts as a frame. A frame is rendered when it and all frames before it are complete;
those that a later key frame made needless are not. That is a receiver without jitter buffer. Filler is not repaired:
there a lost packet is taken to come again one round trip after the gap shows, which with much loss flatters. Real
frames: `weir call`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weir.qoe_eval.measures.freezes import find_freezes
from weir.qoe_eval.measures.video_quality import estimate_vmaf

Values = dict[str, float | None]

_SECOND_US = 1_000_000


@dataclass(frozen=True)
class _Viewing:
    """One span of a flow's time without pause. `shown_us`: how long each rendered frame moved; 0 where it froze."""

    delays_us: NDArray[np.int64]
    shown_us: NDArray[np.int64]
    quality: NDArray[np.float64]
    freezes_us: Sequence[int]
    duration_us: int


def viewer_measures(record: Mapping[str, Any], flow: Mapping[str, Any]) -> Values:
    """The measures of one flow, named as in `METRICS`. Nothing for a run without series, or a flow without frames.

    Measured is the time from the first rendered frame until the flow stops, without pauses of it or of its video, as in
    calls. Of a flow of which no frame came, all its time was frozen.
    """
    frames = (flow.get("series") or {}).get("frames")
    if not frames or not frames["capture_time_us"]:
        return {}
    shown, rendered_us = rendered_frames(frames)
    capture_us = np.array(frames["capture_time_us"], dtype=np.int64)[shown]
    quality = estimate_vmaf(encoder_rate_bps(frames))[shown]
    viewings = []
    for from_us, to_us in _active_spans_us(record, flow):
        inside = (capture_us >= from_us) & (capture_us < to_us) & (rendered_us <= to_us)
        viewings.append(_view(capture_us[inside], rendered_us[inside], quality[inside], from_us, to_us))
    return _measures(viewings)


def rendered_frames(frames: Mapping[str, Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The indices of the frames of a record's series that were rendered, and when, in us."""
    complete = np.array(frames["complete_time_us"], dtype=np.float64)
    shown = np.flatnonzero(~np.isnan(complete))
    return shown, np.maximum.accumulate(complete[shown].astype(np.int64))


def encoder_rate_bps(frames: Mapping[str, Any]) -> NDArray[np.float64]:
    """For each frame of a record's series the rate of what was captured in the second up to it; in the flow's first
    second, of all of that.
    """
    capture_us = np.array(frames["capture_time_us"], dtype=np.int64)
    until_us = np.maximum(capture_us, capture_us[0] + _SECOND_US - 1)
    total = np.concatenate([[0], np.cumsum(frames["bytes"], dtype=np.int64)])
    first = np.searchsorted(capture_us, until_us - _SECOND_US, side="right")
    last = np.searchsorted(capture_us, until_us, side="right")
    return 8.0 * (total[last] - total[first])


def _view(
    capture_us: NDArray[np.int64],
    rendered_us: NDArray[np.int64],
    quality: NDArray[np.float64],
    from_us: int,
    to_us: int,
) -> _Viewing:
    if len(rendered_us) == 0:
        return _Viewing(capture_us, capture_us, quality, [to_us - from_us], to_us - from_us)
    freezes = find_freezes(rendered_us.tolist(), to_us)
    shown_us = np.diff(rendered_us, append=to_us)
    frozen = {(freeze.start_us, freeze.duration_us) for freeze in freezes}
    if frozen:
        keys = zip(rendered_us.tolist(), shown_us.tolist(), strict=True)
        shown_us = np.array([0 if key in frozen else key[1] for key in keys], dtype=np.int64)
    return _Viewing(
        rendered_us - capture_us, shown_us, quality, [f.duration_us for f in freezes], int(to_us - rendered_us[0])
    )


def _measures(viewings: Sequence[_Viewing]) -> Values:
    duration_us = sum(one.duration_us for one in viewings)
    if duration_us <= 0:
        return {}
    delays_us = np.concatenate([one.delays_us for one in viewings])
    shown_us = np.concatenate([one.shown_us for one in viewings])
    quality = np.concatenate([one.quality for one in viewings])
    frozen_us = sum(sum(one.freezes_us) for one in viewings)
    seen = float(quality @ shown_us)
    p50, p95 = np.percentile(delays_us, [50, 95]) / 1e3 if len(delays_us) else (None, None)
    return {
        "viewer_quality": seen / duration_us,
        "video_quality": seen / float(shown_us.sum()) if shown_us.sum() > 0 else None,
        "frozen_share": frozen_us / duration_us,
        "freeze_count": float(sum(len(one.freezes_us) for one in viewings)),
        "total_freezes_duration_s": frozen_us / 1e6,
        "frames_per_second": len(delays_us) * 1e6 / duration_us,
        "frame_delay_ms_p50": p50,
        "frame_delay_ms_p95": p95,
    }


def _active_spans_us(record: Mapping[str, Any], flow: Mapping[str, Any]) -> list[tuple[int, int]]:
    stop_s = record["duration_s"] if flow["stop_s"] is None else min(flow["stop_s"], record["duration_s"])
    spans, from_s = [], flow["start_s"]
    for pause_s, resume_s in sorted(flow.get("pauses_s", []) + flow.get("video_pauses_s", [])):
        spans.append((from_s, min(pause_s, stop_s)))
        from_s = max(from_s, resume_s)
    spans.append((from_s, stop_s))
    return [(round(begin * 1e6), round(end * 1e6)) for begin, end in spans if end > begin]
