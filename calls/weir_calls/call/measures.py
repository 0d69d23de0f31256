"""Measures of a call from its logs, from the first rendered frame to the end, including the ramp-up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from weir_calls.call import logs
from weir_calls.call.call_stages import call_stages
from weir_calls.call.media.ffmpeg import MODEL, make_recording
from weir_calls.call.media.progress import OnShare, ignore_share, part_of
from weir_calls.call.media.quality import concealment_quality, picture_quality, speech_quality
from weir_calls.call.media.received_frames import ReceivedFrame, capture_times_us, read_index, unwrap_numbers
from weir_calls.call.media.y4m import Y4m
from weir_calls.call.stats_measures import (
    Values,
    delay_metrics,
    estimated_quality,
    frame_metrics_of_stats,
    stats_metrics,
)
from weir_calls.link.log import LinkLog, read_link_log
from weir_cli.errors import ComponentFailed, InputError, MissingComponent
from weir_cli.files.output import write_text
from weir_eval.measures.call_quality import call_quality
from weir_eval.measures.call_score import call_score
from weir_eval.measures.delay_stages import stage_measures
from weir_eval.measures.metrics import finite
from weir_eval.measures.table import MEASURES
from weir_eval.measures.viewer import find_freezes
from weir_eval.webrtc_stats import StatsReports, read_stats_log
from weir_traces.schema.values_over_time import DelayOverTime

VMAF_FRAMES = "vmaf.json"
CALL_MEASURES = MEASURES.of("call")
# A delay outside these bounds is an error of the clock mapping.
_DELAY_BOUNDS_US = (-50_000, 60_000_000)


@dataclass(frozen=True)
class CallMeasures:
    """`metrics`: every measure of a call, None if undefined. `start_us`, `end_us`: the measured interval.
    `frames`: counts of frames by outcome. `problems`: why measurements failed.
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
    quality: bool = True,
    on_share: OnShare = ignore_share,
) -> CallMeasures:
    """Measures a call; writes `recording.mp4` and `vmaf.json` into its folder if the received frames are there.

    A missing or truncated log, for example of a killed call, leaves its measures undefined. Times are CLOCK_MONOTONIC.

    Args:
        folder: the folder of the logs.
        started_us: time at which the call was connected and the scenario began; None: it never began.
        end_us: end of the call.
        source: the y4m that was sent; without it there is no VMAF.
        base_one_way_delay_ms: delay of the forward link without its queue.
        raw_frames: the received frames; by default in the folder.
        sender: getStats of the sender.
        logs_frames: False: only the receiver's getStats describe rendered frames.
        quality: False: skip VMAF, `recording.mp4`, ViSQOL and PLCMOS.
        on_share: receives the progress, 0 to 1, on any thread.

    Raises:
        InputError: a log cannot be read, or is too large for a call.
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
    metrics |= stage_measures(call_stages(frames, receiver, sender or StatsReports()))
    metrics |= stats_metrics(receiver, sender or StatsReports(), zero_us / 1e6, start_us / 1e6, end_us / 1e6)
    if not logs_frames:
        metrics |= frame_metrics_of_stats(receiver, metrics, start_us / 1e6, end_us / 1e6)
        received_bps, achievable_bps = metrics["received_bitrate_bps"], link.between(start_us, end_us).achievable_bps
        if received_bps is not None and achievable_bps:
            metrics["media_share"] = received_bps / achievable_bps
    problems: list[str] = []
    if quality:
        metrics |= _quality_metrics(
            folder, raw_frames or folder / logs.FRAMES, source, frames, (start_us, end_us), problems, on_share
        )
    if metrics["vmaf_mean"] is None and metrics["video_quality"] is None:
        metrics |= estimated_quality(receiver, metrics["frozen_share"], start_us / 1e6, end_us / 1e6)
    CALL_MEASURES.check(metrics)
    measured = finite(metrics)
    measured["call_quality"] = call_quality(measured)
    measured["call_score"] = call_score(measured, (end_us - start_us) / 1e6)
    return CallMeasures(measured, start_us, end_us, _frame_counts(frames), problems)


def _frame_metrics(frames: Sequence[ReceivedFrame], started_us: int | None, start_us: int, end_us: int) -> Values:
    duration_s = (end_us - start_us) / 1e6
    if duration_s <= 0:
        return {}
    if not frames:
        return {"frames_per_second": 0.0, "frozen_share": 1.0}
    rendered_us = [frame.render_time_us for frame in frames]
    freezes = find_freezes(rendered_us, end_us)
    frozen_s = sum(freeze.duration_us for freeze in freezes) / 1e6
    delays_ms = np.array(end_to_end_delays_ms(frames), dtype=np.float64)
    heights = [frame.height for frame in frames if frame.height]
    return {
        "frames_per_second": len(frames) / duration_s,
        "freeze_count": float(len(freezes)),
        "total_freezes_duration_s": frozen_s,
        "frozen_share": frozen_s / duration_s,
        **delay_metrics(rendered_us, delays_ms),
        "frame_height_mean": float(np.mean(heights)) if heights else None,
        "quality_switch_count": float(sum(a != b for a, b in pairwise(heights))),
        "time_to_first_frame_ms": (start_us - started_us) / 1e3 if started_us is not None else None,
    }


def end_to_end_delays_ms(frames: Sequence[ReceivedFrame]) -> list[float | None]:
    """Rendering time minus capture time of every frame; None if the capture time is unknown or implausible."""
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


def _quality_metrics(
    folder: Path,
    path: Path,
    source: Path | None,
    frames: Sequence[ReceivedFrame],
    span_us: tuple[int, int],
    problems: list[str],
    on_share: OnShare,
) -> Values:
    """Quality of picture and audio; adds the reasons for missing measures to `problems`."""
    metrics: Values = {}
    try:
        metrics |= _picture_metrics(folder, path, source, frames, span_us, part_of(on_share, 0.0, 0.6))
    except (InputError, ComponentFailed) as error:
        problems.append(str(error))
    audio = folder / logs.RECEIVED_AUDIO
    of_speech = partial(speech_quality, on_share=part_of(on_share, 0.6, 1.0))
    for audio_quality in (of_speech, concealment_quality) if audio.is_file() else ():
        try:
            metrics |= audio_quality(audio)
        except (InputError, MissingComponent, ComponentFailed) as error:
            problems += {str(error)} - {*problems}
    return metrics


def _picture_metrics(
    folder: Path,
    path: Path,
    source: Path | None,
    frames: Sequence[ReceivedFrame],
    span_us: tuple[int, int],
    on_share: OnShare,
) -> Values:
    if not path.is_file() or not any(frame.position is not None for frame in frames):
        return {}
    with Y4m(path) as received:
        make_recording(received, frames, span_us, folder / logs.RECORDING, part_of(on_share, 0.0, 0.3))
        found = picture_quality(received, source, frames, part_of(on_share, 0.3, 1.0)) if source else None
    if found is None:
        return {}
    values = [[time_us, round(value, 2)] for time_us, value in found.frames]
    text = json.dumps({"model": MODEL, "frames": values}, separators=(",", ":"))
    write_text(folder / VMAF_FRAMES, text + "\n")
    return dict(found.metrics)


def _frame_counts(frames: Sequence[ReceivedFrame]) -> dict[str, int]:
    """Counts frames that were rendered, had no readable number or could not be written by the peer, and frames of the
    source between the first and the last that never arrived.
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
