"""Measures of the viewer's experience: frame delay, freezes, frame rate, and an estimate of quality.

Freezes follow W3C webrtc-stats (`freezeCount`, `totalFreezesDuration`) and are based on rendering times, in replays and
in calls. The other measures here are based on the frames that weir-sim records (`simulator/media/frame_recorder.h`): of
the encoder's video, or of filler, for which every thirtieth of a second counts as a frame. A frame is rendered when it
and all earlier frames are complete, except for frames made obsolete by a later key frame; this models a receiver
without jitter buffer. Filler is not repaired: a lost packet is assumed to arrive again one round trip after the gap
shows, which flatters paths with high loss; no more packets are repaired than arrive.

The quality of a picture is estimated from its bitrate alone. VMAF of one encoder and video grows about linearly with
the logarithm of the bitrate until it saturates. The line is fitted to real calls: an unmodified Chromium sending
the source video of `weir call` as VP8 at 1280x720 over four paths, three seeds each, under Weir and under its own GCC.
Another encoder, size or video has another line, and the estimate ignores losses and low resolutions. Four calls
of 30 s outside the fit had 9.0, -0.1, 0.7 and -10.6 points of VMAF more than estimated; in the last one the browser had
lowered its resolution to 854x480 at 2 Mbps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weir_eval.measures.call_quality import mean_delay_factor
from weir_eval.measures.delay_stages import frame_stages, stage_measures
from weir_eval.records.flow_record import FlowRecord
from weir_eval.records.part import Measures
from weir_eval.records.run_record import RunRecord
from weir_eval.records.series import FrameColumns

_FRAMES_AVERAGED = 30
# libwebrtc detects freezes only after this many frames.
_FEWEST_FRAMES = 5
_LONGER_BY_US = 150_000
_LONGER_BY_FACTOR = 3
_SECOND_US = 1_000_000
# Before the usual time between frames is known, longer waits are freezes.
_LONGEST_FIRST_WAIT_US = _SECOND_US
# Received bitrate in kbps, mean VMAF of the rendered frames: means of three calls each (`weir evaluate --suite calls`).
CALLS: Final = (
    (1501, 85.0), (1464, 84.6), (606, 72.8), (367, 60.4), (368, 64.8), (248, 56.5), (79, 38.5), (85, 41.1),
)  # fmt: skip
_LOG_RATES = np.log2([kbps for kbps, _ in CALLS])
_VMAF = np.array([vmaf for _, vmaf in CALLS])
# Least squares: 10.9 points more for twice the bitrate; 0 at 6.5 kbps, 100 at 3,850 kbps, both far from any call.
_SLOPE, _INTERCEPT = (float(value) for value in np.polyfit(_LOG_RATES, _VMAF, 1))
# Standard error of the fit in points of VMAF, 1.6, with six degrees of freedom.
STANDARD_ERROR: Final = float(np.sqrt(((_INTERCEPT + _SLOPE * _LOG_RATES - _VMAF) ** 2).sum() / (len(CALLS) - 2)))


@dataclass(frozen=True)
class Freeze:
    """The time from the rendering of a frame to that of the next, or to the end."""

    start_us: int
    duration_us: int


def find_freezes(render_times_us: Sequence[int], end_us: int) -> list[Freeze]:
    """The freezes among increasing rendering times. The time from the last frame to `end_us` counts by the same rule,
    as a call that froze and then ended was frozen. Among the first five frames, where libwebrtc does not detect freezes
    yet, a freeze is longer than a second.
    """
    times = [*render_times_us, end_us] if render_times_us and end_us > render_times_us[-1] else list(render_times_us)
    instants = np.array(times, dtype=np.int64)
    durations = np.diff(instants)
    early = np.flatnonzero(durations[:_FEWEST_FRAMES] > _LONGEST_FIRST_WAIT_US)
    index = np.arange(_FEWEST_FRAMES, len(durations))
    averaged_from = np.maximum(0, index - _FRAMES_AVERAGED)
    usual_us = (instants[index] - instants[averaged_from]) / (index - averaged_from)
    frozen = index[durations[index] >= np.maximum(_LONGER_BY_FACTOR * usual_us, usual_us + _LONGER_BY_US)]
    return [Freeze(times[at], int(durations[at])) for at in [*early, *frozen]]


def estimate_vmaf(bitrate_bps: ArrayLike) -> NDArray[np.float64]:
    """VMAF-like quality, 0 to 100, of video payload at these rates; 0 without payload."""
    rate_kbps = np.maximum(np.asarray(bitrate_bps, dtype=np.float64) / 1e3, 1.0)
    return np.clip(_INTERCEPT + _SLOPE * np.log2(rate_kbps), 0.0, 100.0)


@dataclass(frozen=True)
class _Viewing:
    """An interval of a flow without a pause. `shown_us`: display time of each rendered frame, 0 if it froze."""

    delays_us: NDArray[np.int64]
    shown_us: NDArray[np.int64]
    quality: NDArray[np.float64]
    freezes: Sequence[Freeze]
    duration_us: int


def viewer_measures(record: RunRecord, flow: FlowRecord) -> Measures:
    """The measures of one flow, named as in `MEASURES`. Empty for a run without series, or a flow without frames.

    The measures cover the time from the first rendered frame until the flow stops, without pauses of the flow or its
    video, as in calls. A wait of more than a second for the first frame is a freeze, too; without any rendered frame
    the whole time is.
    """
    return _measures(_viewings(record, flow))


def rendered_measures(flow: FlowRecord) -> Measures:
    """The measures of the rendered frames; empty for a run without them. Only virtual calls have the height and the
    quantizer.
    """
    frames = (flow.series or {}).get("frames")
    if not frames or "rendered_time_us" not in frames:
        return {}
    shown, rendered_us = rendered_frames(frames)
    if not len(shown):
        return {}
    delays_ms = (rendered_us - np.array(frames["capture_time_us"], dtype=np.int64)[shown]) / 1e3
    p50, p95 = np.percentile(delays_ms, [50, 95])
    measures: dict[str, float | None] = {
        "delay_factor": mean_delay_factor(rendered_us, delays_ms),
        "end_to_end_delay_ms_p50": p50,
        "end_to_end_delay_ms_p95": p95,
    }
    stages_ms = frame_stages(frames, shown, rendered_us)
    if stages_ms is not None:
        measures |= stage_measures(stages_ms)
    if "height" in frames:
        measures["frame_height_mean"] = float(np.mean(np.array(frames["height"])[shown]))
    if "qp" in frames:
        quantizers = np.array(frames["qp"], dtype=np.float64)[shown]
        measures["qp_mean"] = float(quantizers.mean()) if (quantizers >= 0).all() else None
    return measures


def flow_freezes(record: RunRecord, flow: FlowRecord) -> list[Freeze]:
    """The freezes that `viewer_measures` counts."""
    return [freeze for viewing in _viewings(record, flow) for freeze in viewing.freezes]


def _viewings(record: RunRecord, flow: FlowRecord) -> list[_Viewing]:
    frames = (flow.series or {}).get("frames")
    if not frames or not frames["capture_time_us"]:
        return []
    shown, rendered_us = rendered_frames(frames)
    capture_us = np.array(frames["capture_time_us"], dtype=np.int64)[shown]
    complete_us = np.maximum.accumulate(np.array(frames["complete_time_us"], dtype=np.float64)[shown].astype(np.int64))
    quality = estimate_vmaf(encoder_rate_bps(frames))[shown]
    viewings = []
    for from_us, to_us in _active_spans_us(record, flow):
        inside = (capture_us >= from_us) & (capture_us < to_us) & (rendered_us <= to_us)
        delays_us = (complete_us - capture_us)[inside]
        viewings.append(_view(delays_us, rendered_us[inside], quality[inside], from_us, to_us))
    return viewings


def rendered_frames(frames: FrameColumns) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The indices of the rendered frames of a record's series, and their rendering times in us; in records of
    earlier versions, the times of complete arrival.
    """
    complete = np.array(frames["complete_time_us"], dtype=np.float64)
    rendered = np.array(frames.get("rendered_time_us", complete), dtype=np.float64)
    shown = np.flatnonzero(~np.isnan(rendered) & ~np.isnan(complete))
    return shown, np.maximum.accumulate(rendered[shown].astype(np.int64))


def encoder_rate_bps(frames: FrameColumns) -> NDArray[np.float64]:
    """For each frame of a record's series, the rate of the frames captured in the second up to it; in the flow's first
    second, that of this whole second.
    """
    capture_us = np.array(frames["capture_time_us"], dtype=np.int64)
    until_us = np.maximum(capture_us, capture_us[0] + _SECOND_US - 1)
    total = np.concatenate([[0], np.cumsum(frames["bytes"], dtype=np.int64)])
    first = np.searchsorted(capture_us, until_us - _SECOND_US, side="right")
    last = np.searchsorted(capture_us, until_us, side="right")
    return 8.0 * (total[last] - total[first])


def _view(
    delays_us: NDArray[np.int64],
    rendered_us: NDArray[np.int64],
    quality: NDArray[np.float64],
    from_us: int,
    to_us: int,
) -> _Viewing:
    if len(rendered_us) == 0:
        return _Viewing(delays_us, delays_us, quality, [Freeze(from_us, to_us - from_us)], to_us - from_us)
    freezes = find_freezes(rendered_us.tolist(), to_us)
    begin_us = int(rendered_us[0])
    if begin_us - from_us > _LONGEST_FIRST_WAIT_US:
        freezes.insert(0, Freeze(from_us, begin_us - from_us))
        begin_us = from_us
    shown_us = np.diff(rendered_us, append=to_us)
    frozen = {(freeze.start_us, freeze.duration_us) for freeze in freezes}
    if frozen:
        keys = zip(rendered_us.tolist(), shown_us.tolist(), strict=True)
        shown_us = np.array([0 if key in frozen else key[1] for key in keys], dtype=np.int64)
    return _Viewing(delays_us, shown_us, quality, freezes, to_us - begin_us)


def _measures(viewings: Sequence[_Viewing]) -> Measures:
    duration_us = sum(one.duration_us for one in viewings)
    if duration_us <= 0:
        return {}
    delays_us = np.concatenate([one.delays_us for one in viewings])
    shown_us = np.concatenate([one.shown_us for one in viewings])
    quality = np.concatenate([one.quality for one in viewings])
    frozen_us = sum(freeze.duration_us for one in viewings for freeze in one.freezes)
    seen = float(quality @ shown_us)
    p50, p95 = np.percentile(delays_us, [50, 95]) / 1e3 if len(delays_us) else (None, None)
    return {
        "viewer_quality": seen / duration_us,
        "video_quality": seen / float(shown_us.sum()) if shown_us.sum() > 0 else None,
        "frozen_share": frozen_us / duration_us,
        "freeze_count": float(sum(len(one.freezes) for one in viewings)),
        "total_freezes_duration_s": frozen_us / 1e6,
        "frames_per_second": len(delays_us) * 1e6 / duration_us,
        "frame_delay_ms_p50": p50,
        "frame_delay_ms_p95": p95,
    }


def _active_spans_us(record: RunRecord, flow: FlowRecord) -> list[tuple[int, int]]:
    stop_s = record.duration_s if flow.stop_s is None else min(flow.stop_s, record.duration_s)
    spans, from_s = [], flow.start_s
    for pause_s, resume_s in sorted(flow.pauses_s + flow.video_pauses_s):
        spans.append((from_s, min(pause_s, stop_s)))
        from_s = max(from_s, resume_s)
    spans.append((from_s, stop_s))
    return [(round(begin * 1e6), round(end * 1e6)) for begin, end in spans if end > begin]
