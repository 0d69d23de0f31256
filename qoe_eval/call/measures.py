"""Measures of a call from its logs, over the whole call: from the first rendered frame to the end, with its ramp-up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weir.errors import InputError, MissingComponent
from weir.files.output import write_text
from weir.qoe_eval.call import logs
from weir.qoe_eval.call.media.ffmpeg import MODEL, FfmpegFailed, make_recording, measure_vmaf
from weir.qoe_eval.call.media.received_frames import ReceivedFrame, capture_times_us, read_index, unwrap_numbers
from weir.qoe_eval.call.media.source_speech import source_speech_path
from weir.qoe_eval.call.media.visqol import VisqolFailed, measure_speech
from weir.qoe_eval.call.media.y4m import Y4m
from weir.qoe_eval.call.score import call_score
from weir.qoe_eval.call.webrtc_stats import StatsObject, StatsReports, read_stats_log
from weir.qoe_eval.link.log import LinkLog, read_link_log
from weir.qoe_eval.measures.table import MEASURES
from weir.qoe_eval.measures.viewer import estimate_vmaf, find_freezes
from weir.traces.schema.values_over_time import DelayOverTime

VMAF_FRAMES = "vmaf.json"
CALL_MEASURES = MEASURES.of("call")
# Reports of getStats come about as often.
_LEAST_LAST_FREEZE_S = 1.0
# A delay out of these bounds is an error of the clock mapping.
_DELAY_BOUNDS_US = (-50_000, 60_000_000)

Values = dict[str, float | None]


@dataclass(frozen=True)
class CallMeasures:
    """`metrics`: every measure of a call, None where it is undefined. `start_us`, `end_us`: the measured time.
    `frames`: counts of what became of them. `problems`: why something could not be measured.
    """

    metrics: Values
    start_us: int
    end_us: int
    frames: dict[str, int]
    problems: list[str]


def measure(
    folder: Path,
    started_us: int | None,
    end_us: int,
    source: Path | None = None,
    base_one_way_delay_ms: float | DelayOverTime | None = None,
    raw_frames: Path | None = None,
    sender: StatsReports | None = None,
    *,
    logs_frames: bool = True,
) -> CallMeasures:
    """Measures a call; writes `recording.mp4` and `vmaf.json` into its folder if the received frames are there.

    A missing or torn log, as a killed call leaves, leaves its measures undefined. Times are CLOCK_MONOTONIC.

    Args:
        folder: the logs.
        started_us: the call was connected and the scenario began; None: it never began.
        end_us: the call ended.
        source: the y4m that was sent; without it there is no VMAF.
        base_one_way_delay_ms: of the forward link without its queue.
        raw_frames: the received frames; by default in the folder.
        sender: getStats of the sender.
        logs_frames: False: rendered frames are known from the receiver's getStats alone.

    Raises:
        InputError: a log cannot be read, or is larger than that of any call.
        MissingComponent: ffmpeg is not installed.
    """
    frames = [
        frame for frame in read_index(folder / logs.FRAME_LOG) if (started_us or 0) <= frame.render_time_us <= end_us
    ]
    link = read_link_log(folder / logs.LINK_LOG, "forward")
    receiver = read_stats_log(folder / logs.RECEIVER_STATS)
    start_us = frames[0].render_time_us if frames else end_us if started_us is None else started_us
    metrics: Values = dict.fromkeys(CALL_MEASURES)
    if logs_frames:
        metrics |= _frame_metrics(frames, started_us, start_us, end_us)
    metrics |= _link_metrics(link.between(start_us, end_us), base_one_way_delay_ms)
    zero_us = start_us if started_us is None else started_us
    metrics |= _stats_metrics(receiver, sender or StatsReports(), zero_us / 1e6, start_us / 1e6, end_us / 1e6)
    if not logs_frames:
        metrics |= _frame_metrics_of_stats(receiver, metrics, start_us / 1e6, end_us / 1e6)
    problems = []
    try:
        metrics |= _picture_metrics(folder, raw_frames or folder / logs.FRAMES, source, frames, (start_us, end_us))
    except (InputError, FfmpegFailed) as error:
        problems.append(str(error))
    try:
        metrics |= _speech_metrics(folder / logs.RECEIVED_AUDIO)
    except (InputError, MissingComponent, VisqolFailed) as error:
        problems.append(str(error))
    CALL_MEASURES.check(metrics)
    finite = {name: _finite(value) for name, value in metrics.items()}
    finite["call_score"] = call_score(finite, (end_us - start_us) / 1e6)
    return CallMeasures(finite, start_us, end_us, _frame_counts(frames), problems)


def _frame_metrics(frames: Sequence[ReceivedFrame], started_us: int | None, start_us: int, end_us: int) -> Values:
    duration_s = (end_us - start_us) / 1e6
    if duration_s <= 0:
        return {}
    if not frames:
        return {"frames_per_second": 0.0, "frozen_share": 1.0}
    freezes = find_freezes([frame.render_time_us for frame in frames], end_us)
    frozen_s = sum(freeze.duration_us for freeze in freezes) / 1e6
    delays_ms = end_to_end_delays_ms(frames)
    known = [delay for delay in delays_ms if delay is not None]
    heights = [frame.height for frame in frames if frame.height]
    p50, p95 = np.percentile(known, [50, 95]) if known else (None, None)
    return {
        "frames_per_second": len(frames) / duration_s,
        "freeze_count": float(len(freezes)),
        "total_freezes_duration_s": frozen_s,
        "frozen_share": frozen_s / duration_s,
        "end_to_end_delay_ms_p50": p50,
        "end_to_end_delay_ms_p95": p95,
        "frame_height_mean": float(np.mean(heights)) if heights else None,
        "quality_switch_count": float(sum(a != b for a, b in pairwise(heights))),
        "time_to_first_frame_ms": (start_us - started_us) / 1e3 if started_us is not None else None,
    }


def _frame_metrics_of_stats(receiver: StatsReports, metrics: Values, start_s: float, end_s: float) -> Values:
    video, duration_s = receiver.of("inbound-rtp", "video"), end_s - start_s
    heights = [value for stream in video for value in stream.series("frameHeight")[1]]
    frozen_s, frozen_share = metrics["stats_total_freezes_duration_s"], None
    if frozen_s is not None and duration_s > 0:
        frozen_s = min(frozen_s + _last_freeze_s(video), duration_s)
        frozen_share = frozen_s / duration_s
    quality = _video_quality(video, start_s, end_s)
    return {
        "viewer_quality": None if quality is None or frozen_share is None else quality * (1 - frozen_share),
        "video_quality": quality,
        "freeze_count": metrics["stats_freeze_count"],
        "total_freezes_duration_s": frozen_s,
        "frozen_share": frozen_share,
        "frame_height_mean": float(np.mean(heights)) if heights else None,
        "quality_switch_count": float(sum(a != b for a, b in pairwise(heights))) if heights else None,
    }


def _video_quality(video: Sequence[StatsObject], start_s: float, end_s: float) -> float | None:
    """Mean over the whole seconds in which frames were decoded; None without such a second."""
    seconds = np.arange(start_s, end_s, 1.0)
    received, decoded = np.zeros((2, max(0, len(seconds) - 1)))
    for stream in video:
        for name, growth in (("bytesReceived", received), ("framesDecoded", decoded)):
            times, values = stream.series(name)
            if len(times):
                growth += np.diff(np.interp(seconds, times, values, left=0.0))
    moving = decoded > 0
    return float(estimate_vmaf(8 * received[moving]).mean()) if moving.any() else None


def _last_freeze_s(video: Sequence[StatsObject]) -> float:
    """From the last decoded frame to the last report, if that is a second or more; getStats counts a freeze only when a
    frame ends it.
    """
    ends = []
    for times, decoded in (stream.series("framesDecoded") for stream in video):
        if len(times):
            ends.append(float(times[-1] - times[np.argmax(decoded == decoded[-1])]))
    last_s = min(ends, default=0.0)
    return last_s if last_s >= _LEAST_LAST_FREEZE_S else 0.0


def end_to_end_delays_ms(frames: Sequence[ReceivedFrame]) -> list[float | None]:
    """Rendering time less capture time of every frame; None where the capture time is unknown."""
    low, high = _DELAY_BOUNDS_US
    delays = []
    for frame, captured_us in zip(frames, capture_times_us(frames), strict=True):
        delay_us = frame.render_time_us - captured_us if captured_us is not None else None
        delays.append(delay_us / 1e3 if delay_us is not None and low <= delay_us <= high else None)
    return delays


def _link_metrics(link: LinkLog, base_one_way_delay_ms: float | DelayOverTime | None) -> Values:
    seconds = float(link.interval_s.sum())
    packets, lost = float(np.nansum(link.packets)), float(link.lost_packets.sum())
    if seconds <= 0 or packets + lost <= 0:
        return {}
    delay_ms = link.one_way_delay_percentile_ms(95)
    if isinstance(base_one_way_delay_ms, DelayOverTime):
        base_ms = base_one_way_delay_ms.at(np.maximum(0.0, np.nan_to_num(link.scenario_time_s)))
    else:
        base_ms = np.full(len(link.time_us), np.nan if base_one_way_delay_ms is None else base_one_way_delay_ms)
    queueing_ms = link.one_way_delay_percentile_ms(95, base_ms)
    return {
        "p95_queueing_delay_ms": None if queueing_ms is None else max(0.0, queueing_ms),
        "network_delay_ms_p95": delay_ms,
        "loss_ratio": lost / (packets + lost),
        "receive_rate_bps": 8 * float(np.nansum(link.bytes)) / seconds,
        "utilisation": link.utilisation,
    }


def _stats_metrics(receiver: StatsReports, sender: StatsReports, zero_s: float, start_s: float, end_s: float) -> Values:
    # Up to the last report: a call that was cut has none for its last second.
    inbound = receiver.of("inbound-rtp")
    last_s = max((float(times[-1]) for o in inbound if len(times := o.series("bytesReceived")[0])), default=0.0)
    end_s = min(end_s, last_s)
    video, audio = ([o for o in inbound if o.kind == kind] for kind in ("video", "audio"))
    sent = sender.of("outbound-rtp", "video")

    def growth(objects: Sequence[StatsObject], name: str) -> float | None:
        known = [found for o in objects if (found := o.growth(name, start_s, end_s, zero_s)) is not None]
        return sum(known) if known else None

    def ratio(objects: Sequence[StatsObject], name: str, of: str, scale: float = 1.0) -> float | None:
        value, whole = growth(objects, name), growth(objects, of)
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


def _audio_ahead_ms(
    audio: Sequence[StatsObject], video: Sequence[StatsObject], start_s: float, end_s: float
) -> NDArray[np.float64]:
    """The playout time of audio less that of video, in the sender's clock, in each report that has both."""
    if not audio or not video:
        return np.zeros(0)
    (heard_s, heard_ms), (shown_s, shown_ms) = (o[0].series("estimatedPlayoutTimestamp") for o in (audio, video))
    times_s, heard, shown = np.intersect1d(heard_s, shown_s, return_indices=True)
    within = (times_s >= start_s) & (times_s <= end_s)
    return np.asarray(heard_ms[heard] - shown_ms[shown])[within]


def _picture_metrics(
    folder: Path, path: Path, source: Path | None, frames: Sequence[ReceivedFrame], span_us: tuple[int, int]
) -> Values:
    if not path.is_file() or not any(frame.position is not None for frame in frames):
        return {}
    with Y4m(path) as received:
        make_recording(received, frames, span_us, folder / logs.RECORDING)
        if source is None:
            return {}
        with Y4m(source) as sent:
            compared = [
                (frame.render_time_us, (frame.position, frame.frame_number))
                for frame in frames
                if frame.position is not None
                and frame.position < len(received)
                and frame.frame_number is not None
                and frame.frame_number < len(sent)
            ]
            vmaf = measure_vmaf(received, sent, [numbers for _, numbers in compared])
    if vmaf is None:
        return {}
    values = [[compared[index][0], round(value, 2)] for index, value in vmaf.frames]
    text = json.dumps({"model": MODEL, "frames": values}, separators=(",", ":"))
    write_text(folder / VMAF_FRAMES, text + "\n")
    return {"vmaf_mean": vmaf.mean, "vmaf_p5": vmaf.p5}


def _speech_metrics(received: Path) -> Values:
    if not received.is_file():
        return {}
    scores = measure_speech(received, source_speech_path())
    return {"visqol_mean": float(np.mean(scores)), "visqol_min": min(scores)} if scores else {}


def _frame_counts(frames: Sequence[ReceivedFrame]) -> dict[str, int]:
    """Frames that were rendered, had no readable number, could not be written by the peer; and frames of the source
    between the first and the last that never arrived.
    """
    numbers = [number for number in unwrap_numbers(frames) if number is not None]
    without_number = len(frames) - len(numbers)
    expected = max(numbers) - min(numbers) + 1 if numbers else 0
    return {
        "rendered": len(frames),
        "without_number": without_number,
        "not_written": sum(frame.position is None for frame in frames),
        "never_came": max(0, expected - len(set(numbers)) - without_number),
    }


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and np.isfinite(value) else None
