"""Measures of a call from the reports of getStats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from weir_calls.call.layers import layer_metrics
from weir_eval.measures.call_quality import mean_delay_factor
from weir_eval.measures.viewer import estimate_vmaf
from weir_eval.webrtc_stats import Array, StatsObject, StatsReports

# About the interval between getStats reports.
_LEAST_LAST_FREEZE_S: Final = 1.0
_ROUNDING_S: Final = 1e-6

Values = dict[str, float | None]


def stats_metrics(receiver: StatsReports, sender: StatsReports, zero_s: float, start_s: float, end_s: float) -> Values:
    """The measures that the reports of both endpoints give for any call. Times are in seconds; the receiver's counters
    were 0 at `zero_s`.
    """
    inbound = receiver.of("inbound-rtp")
    end_s = min(end_s, _last_report_s(inbound))
    video, audio = ([o for o in inbound if o.kind == kind] for kind in ("video", "audio"))
    sent = sender.of("outbound-rtp", "video")

    def growth(objects: Sequence[StatsObject], name: str) -> float | None:
        known = [found for o in objects if (found := o.growth(name, start_s, end_s, zero_s)) is not None]
        return sum(known) if known else None

    def ratio(objects: Sequence[StatsObject], name: str, total: str, scale: float = 1.0) -> float | None:
        value, whole = growth(objects, name), growth(objects, total)
        return scale * value / whole if value is not None and whole else None

    counted = receiver.freeze_counters()
    received = growth(inbound, "bytesReceived")
    ahead_ms = _audio_ahead_ms(audio, video, start_s, end_s)
    return {
        "received_bitrate_bps": 8 * received / (end_s - start_s) if received is not None and end_s > start_s else None,
        "concealed_share": ratio(audio, "concealedSamples", "totalSamplesReceived"),
        "silent_concealed_share": ratio(audio, "silentConcealedSamples", "totalSamplesReceived"),
        "audio_jitter_buffer_delay_ms": ratio(audio, "jitterBufferDelay", "jitterBufferEmittedCount", 1e3),
        "audio_ahead_ms": float(np.maximum(ahead_ms, 0).mean()) if len(ahead_ms) else None,
        "audio_behind_ms": float(np.maximum(-ahead_ms, 0).mean()) if len(ahead_ms) else None,
        "encode_time_ms": ratio(sent, "totalEncodeTime", "framesEncoded", 1e3),
        "decode_time_ms": ratio(video, "totalDecodeTime", "framesDecoded", 1e3),
        "qp_mean": ratio(video, "qpSum", "framesDecoded"),
        "stats_freeze_count": growth(counted, "freezeCount"),
        "stats_total_freezes_duration_s": growth(counted, "totalFreezesDuration"),
    }


def _audio_ahead_ms(audio: Sequence[StatsObject], video: Sequence[StatsObject], start_s: float, end_s: float) -> Array:
    """The playout time of audio minus that of video, in the sender's clock, for each report that has both."""
    if not audio or not video:
        return np.zeros(0)
    (audio_times_s, audio_ms), (shown_s, shown_ms) = (o[0].series("estimatedPlayoutTimestamp") for o in (audio, video))
    times_s, audio_index, video_index = np.intersect1d(audio_times_s, shown_s, return_indices=True)
    within = (times_s >= start_s) & (times_s <= end_s)
    return np.asarray(audio_ms[audio_index] - shown_ms[video_index])[within]


def frame_metrics_of_stats(receiver: StatsReports, metrics: Values, start_s: float, end_s: float) -> Values:
    """The frame measures of a call without a frame log. `metrics`: the result of `stats_metrics`."""
    video = receiver.of("inbound-rtp", "video")
    end_s = min(end_s, _last_report_s(video))
    frozen_s, frozen_share = metrics["stats_total_freezes_duration_s"], None
    if frozen_s is not None and end_s > start_s:
        frozen_s = min(frozen_s + _last_freeze_s(video), end_s - start_s)
        frozen_share = frozen_s / (end_s - start_s)
    decoded = [growth for o in video if (growth := o.growth("framesDecoded", start_s, end_s)) is not None]
    heights = [values[(times >= start_s) & (times <= end_s)] for times, values in _series(video, "frameHeight")]
    shown = np.concatenate([np.zeros(0), *heights])
    return {
        **estimated_quality(receiver, frozen_share, start_s, end_s),
        **layer_metrics(video, start_s, end_s),
        **_delays_of_stats(receiver, start_s, end_s),
        "frames_per_second": sum(decoded) / (end_s - start_s) if decoded and end_s > start_s else None,
        "freeze_count": metrics["stats_freeze_count"],
        "total_freezes_duration_s": frozen_s,
        "frozen_share": frozen_share,
        "frame_height_mean": float(np.mean(shown)) if len(shown) else None,
        "quality_switch_count": float(sum((np.diff(values) != 0).sum() for values in heights)) if len(shown) else None,
    }


def _delays_of_stats(receiver: StatsReports, start_s: float, end_s: float) -> Values:
    """The measures of the end-to-end delays that a page reports; undefined without them."""
    series = _series(receiver.of("rendered-frame"), "endToEndDelay")
    if not series:
        return {}
    times_s, delays_s = series[0]
    within = (times_s >= start_s) & (times_s <= end_s)
    return delay_metrics(np.rint(1e6 * times_s[within]), 1e3 * delays_s[within])


def delay_metrics(rendered_us: ArrayLike, delays_ms: Array) -> Values:
    """The measures of the end-to-end delays of frames with these rendering times, both of shape [n]. NaN is an unknown
    delay; undefined if none is known.
    """
    known = delays_ms[np.isfinite(delays_ms)]
    if not len(known):
        return {}
    p50, p95 = np.percentile(known, [50, 95])
    return {
        "delay_factor": mean_delay_factor(rendered_us, delays_ms),
        "end_to_end_delay_ms_p50": float(p50),
        "end_to_end_delay_ms_p95": float(p95),
    }


def estimated_quality(receiver: StatsReports, frozen_share: float | None, start_s: float, end_s: float) -> Values:
    """The measures of the picture by its bitrate, for a call without VMAF."""
    video = receiver.of("inbound-rtp", "video")
    quality = _video_quality(video, start_s, min(end_s, _last_report_s(video)))
    return {
        "viewer_quality": None if quality is None or frozen_share is None else quality * (1 - frozen_share),
        "video_quality": quality,
    }


def _series(objects: Sequence[StatsObject], name: str) -> list[tuple[Array, Array]]:
    return [stats.series(name) for stats in objects if name in stats.numbers]


def _last_report_s(objects: Sequence[StatsObject]) -> float:
    """The time of the last report. A call that was cut off has no report for its last second."""
    return max((float(times[-1]) for times, _ in _series(objects, "bytesReceived")), default=0.0)


def _video_quality(video: Sequence[StatsObject], start_s: float, end_s: float) -> float | None:
    """Mean estimated VMAF over the time in which streams are not frozen, in steps of 1 s; 0 if no frame is shown, None
    if unknown.
    """
    known, moving_s, weighted_s = False, 0.0, 0.0
    for stream in video:
        times, received = stream.series("bytesReceived")
        decoded_at, decoded = stream.series("framesDecoded")
        seconds = np.arange(max(start_s, times[0]), end_s + _ROUNDING_S, 1.0) if len(times) else np.zeros(0)
        if len(seconds) < 2 or not len(decoded_at):
            continue
        known = True
        shown = np.diff(np.interp(seconds, decoded_at, decoded)) > 0
        weights = np.where(shown, np.clip(1.0 - _frozen_s(stream, seconds), 0.0, 1.0), 0.0)
        moving_s += float(weights.sum())
        weighted_s += float(estimate_vmaf(8 * np.diff(np.interp(seconds, times, received))) @ weights)
    return None if not known else weighted_s / moving_s if moving_s > 0 else 0.0


def _frozen_s(stream: StatsObject, seconds: Array) -> Array:
    """The frozen time between each pair of consecutive times. Reports count a freeze after it has ended."""
    ends, total = stream.series("totalFreezesDuration")
    if not len(ends):
        return np.zeros(len(seconds) - 1)
    before = np.concatenate([total[:1], total[:-1]])
    begins = ends - np.maximum(total - before, 0.0)
    instants = np.maximum.accumulate(np.column_stack([begins, ends]).ravel())
    return np.maximum(np.diff(np.interp(seconds, instants, np.column_stack([before, total]).ravel())), 0.0)


def _last_freeze_s(video: Sequence[StatsObject]) -> float:
    """The time from the last decoded frame to the last report, if at least 1 s; getStats counts a freeze only when a
    frame ends it.
    """
    waits = (times[-1] - times[np.argmax(decoded == decoded[-1])] for times, decoded in _series(video, "framesDecoded"))
    last_s = float(min(waits, default=0.0))
    return last_s if last_s >= _LEAST_LAST_FREEZE_S else 0.0
