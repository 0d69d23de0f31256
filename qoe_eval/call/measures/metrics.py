"""From the raw logs of a call to its measures (`metric_table.py` says what each means).

Measured is the whole call: from the first rendered frame to the end, its ramp-up included.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from weir.errors import InputError
from weir.files.output import write_text
from weir.qoe_eval.call.logs import file_names
from weir.qoe_eval.call.logs.link_log import LinkLog, read_link_log
from weir.qoe_eval.call.logs.webrtc_stats import StatsObject, StatsReports, read_stats_log
from weir.qoe_eval.call.media.ffmpeg import FfmpegFailed
from weir.qoe_eval.call.media.received_frames import ReceivedFrame, capture_times_us, read_index, unwrap_numbers
from weir.qoe_eval.call.media.recording import make_recording
from weir.qoe_eval.call.media.vmaf import MODEL, measure_vmaf
from weir.qoe_eval.call.media.y4m import Y4m
from weir.qoe_eval.measures.table import MEASURES
from weir.qoe_eval.measures.viewer import find_freezes
from weir.traces.schema.values_over_time import DelayOverTime

VMAF_FRAMES = "vmaf.json"
# A delay out of these bounds is a clock that was mapped wrongly, not a delay.
_DELAY_BOUNDS_US = (-50_000, 60_000_000)

Values = dict[str, float | None]


@dataclass(frozen=True)
class CallMeasures:
    """`metrics`: every measure of calls, None where a call does not define it. `about`: from when to when was
    measured, what became of the frames, and `problems`: why something could not be measured.
    """

    metrics: Values
    about: dict[str, Any] = field(default_factory=dict)


def measure(
    folder: Path,
    source: Path | None = None,
    base_one_way_delay_ms: float | DelayOverTime | None = None,
    started_us: int | None = None,
    ended_us: int | None = None,
    vmaf_every: int = 1,
    raw_frames: Path | None = None,
) -> CallMeasures:
    """Measures a call; writes `recording.mp4` and `vmaf.json` into its folder when the received frames are there.

    Whatever a killed call left is measured: a log that is missing or torn leaves its measures undefined.

    Args:
        folder: where the raw logs of the call are.
        source: the y4m that was sent; without it there is no VMAF.
        base_one_way_delay_ms: of the link, forward, without its queue; it may change over the scenario.
        started_us: CLOCK_MONOTONIC when the call was connected and the scenario began; by default what the link's log
            says, else the first frame.
        ended_us: when it ended; by default the last entry of the link's log or the last frame, what is later.
        vmaf_every: VMAF of every n-th rendered frame.
        raw_frames: where the received frames are; by default in the folder, under their name.

    Raises:
        InputError: a log cannot be read, or is larger than any call's.
        MissingComponent: ffmpeg is not installed.
    """
    frames = read_index(folder / file_names.FRAME_LOG)
    link = read_link_log(folder / file_names.LINK_LOG, "forward")
    receiver = read_stats_log(folder / file_names.RECEIVER_STATS)
    if started_us is None and link.scenario_start_us is not None:
        started_us = round(link.scenario_start_us)
    if ended_us is None:
        ended_us = max([*(round(t) for t in link.time_us[-1:]), *(f.render_time_us for f in frames[-1:])], default=0)
    frames = [f for f in frames if (started_us or 0) <= f.render_time_us <= ended_us]
    start_us = frames[0].render_time_us if frames else (started_us if started_us is not None else ended_us)
    metrics: Values = dict.fromkeys(MEASURES.of("call"))
    about: dict[str, Any] = {"media_start_us": start_us, "end_us": ended_us, "problems": []}
    metrics |= _frame_metrics(frames, started_us, start_us, ended_us)
    metrics |= _link_metrics(link.between(start_us, ended_us), base_one_way_delay_ms)
    zero_us = start_us if started_us is None else started_us
    metrics |= _stats_metrics(receiver, zero_us / 1e6, start_us / 1e6, ended_us / 1e6)
    about["frames"] = _what_became_of(frames)
    try:
        metrics |= _picture_metrics(
            folder, raw_frames or folder / file_names.FRAMES, source, frames, start_us, ended_us, vmaf_every
        )
    except (InputError, FfmpegFailed) as error:
        about["problems"].append(str(error))
    MEASURES.check(metrics)
    return CallMeasures({name: _finite(value) for name, value in metrics.items()}, about)


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
        "time_to_first_frame_ms": (start_us - started_us) / 1e3 if started_us is not None else None,
    }


def end_to_end_delays_ms(frames: Sequence[ReceivedFrame]) -> list[float | None]:
    """Rendering time less capture time of every frame; nothing where the capture time is not known."""
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


def _stats_metrics(receiver: StatsReports, zero_s: float, start_s: float, end_s: float) -> Values:
    # The last report is what there is of the end: a call that was cut has none for its last second.
    inbound = receiver.of("inbound-rtp")
    last_s = max((float(times[-1]) for o in inbound if len(times := o.series("bytesReceived")[0])), default=0.0)
    end_s = min(end_s, last_s)
    video = [o for o in inbound if o.kind == "video"]

    def growth(objects: Sequence[StatsObject], name: str) -> float | None:
        known = [found for o in objects if (found := o.growth(name, start_s, end_s, zero_s)) is not None]
        return sum(known) if known else None

    counted = receiver.freeze_counters()
    received = growth(inbound, "bytesReceived")
    quantisers, decoded = growth(video, "qpSum"), growth(video, "framesDecoded")
    return {
        "received_bitrate_bps": 8 * received / (end_s - start_s) if received is not None and end_s > start_s else None,
        "qp_mean": quantisers / decoded if quantisers is not None and decoded else None,
        "stats_freeze_count": growth(counted, "freezeCount"),
        "stats_total_freezes_duration_s": growth(counted, "totalFreezesDuration"),
    }


def _picture_metrics(
    folder: Path,
    path: Path,
    source: Path | None,
    frames: Sequence[ReceivedFrame],
    start_us: int,
    end_us: int,
    every: int,
) -> Values:
    if not path.is_file() or not any(frame.position is not None for frame in frames):
        return {}
    with Y4m(path) as received:
        make_recording(received, frames, start_us, end_us, folder / file_names.RECORDING)
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
            found = measure_vmaf(received, sent, [numbers for _, numbers in compared], every)
    if found is None:
        return {}
    values = [[compared[index][0], round(value, 2)] for index, value in found.frames]
    text = json.dumps({"model": MODEL, "every": every, "frames": values}, separators=(",", ":"))
    write_text(folder / VMAF_FRAMES, text + "\n")
    return {"vmaf_mean": found.mean, "vmaf_p5": found.p5}


def _what_became_of(frames: Sequence[ReceivedFrame]) -> dict[str, int]:
    """How many were rendered, had no readable number, could not be written by the peer; and, of the source's frames
    between the first and the last, how many never came.
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
