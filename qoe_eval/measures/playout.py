"""When a receiver of libwebrtc M150 renders the frames of a replay: its jitter buffer, and video that waits for audio.

Four parts, with libwebrtc's constants:

- Capture times map to arrival times by a line that is fitted recursively, and anew after a change of the delay
  (modules/video_coding/timing/timestamp_extrapolator).
- The jitter of frames is what their sizes explain, by a Kalman filter, and the noise beyond it (jitter_estimator).
- A frame is rendered at its mapped time plus the current delay, which late frames raise up to the target: jitter,
  decoding and rendering (timing).
- Audio's delay is the 95th percentile, over half a minute, of the largest delay of each half second (NetEq's
  delay_manager). Each second the least delay of video moves by at most 80 ms towards it (stream_synchronization).

Left out: retransmitted frames count like others, low frame rates scale nothing, audio's playout changes at once.
Encoding, decoding and rendering take constant times.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from weir.qoe_eval.measures.viewer import rendered_frames
from weir.qoe_eval.records.run_record import RunRecord

_ENCODING_MS: Final = 10.0
_DECODING_MS: Final = 6.0
_RENDERING_MS: Final = 10.0
_AUDIO_OUTPUT_MS: Final = 20.0


def end_to_end_delay_ms_p95(record: RunRecord) -> float | None:
    """95th percentile, from capture to rendering, of the frames of the first flow; None without series or frames."""
    series = record.flows[0].series or {}
    frames, path = series.get("frames"), record.series
    if not frames or path is None:
        return None
    shown, complete_us = rendered_frames(frames)
    if not len(shown):
        return None
    capture_us = np.array(frames["capture_time_us"], dtype=np.int64)[shown]
    if "rendered_time_us" in frames:
        return float(np.percentile(complete_us - capture_us, 95)) / 1e3
    sizes = np.array(frames["bytes"])[shown].tolist()
    delays_ms = series.get("one_way_delay_p95_ms") or []
    rendered_us = rendering_times_us(capture_us, complete_us, sizes, delays_ms, path["interval_s"])
    return float(np.percentile(rendered_us - capture_us, 95)) / 1e3


def rendering_times_us(
    capture_us: NDArray[np.int64],
    complete_us: NDArray[np.int64],
    sizes: Sequence[int],
    network_delay_ms: Sequence[float | None],
    interval_s: float,
) -> NDArray[np.int64]:
    """Rendering times of the frames that arrived whole, in their order.

    Args:
        capture_us: their capture times.
        complete_us: when each and all before it were complete; never decreasing.
        sizes: bytes of payload.
        network_delay_ms: one-way delay of the flow's packets in each interval from 0 s on; None or NaN without one.
        interval_s: its length.
    """
    audio_ms = _audio_delay_ms(network_delay_ms, interval_s)
    clock, jitter, sync = _ArrivalClock(), _FrameJitter(), _LipSync()
    current_ms = last_ms = 0.0
    before: tuple[float, float] | None = None
    rendered = np.empty(len(capture_us), dtype=np.int64)
    for index, (capture, complete, size) in enumerate(zip(capture_us / 1e3, complete_us / 1e3, sizes, strict=True)):
        arrival = complete + _ENCODING_MS
        mapped_ms = clock.mapped_ms(capture, arrival)
        variation_ms = None if before is None else (arrival - before[1]) - (capture - before[0])
        before = (capture, arrival)
        jitter_ms = jitter.update(size, variation_ms)
        slot = min(int(complete / 1e3 / interval_s), len(audio_ms) - 1)
        least_ms = sync.least_delay_ms(arrival, current_ms, audio_ms[slot] if slot >= 0 else 0.0)
        current_ms = current_ms or jitter_ms
        target_ms = max(least_ms, jitter_ms + _DECODING_MS + _RENDERING_MS)
        due_ms = mapped_ms + max(current_ms, least_ms)
        decoding_ms = max(arrival, due_ms - _DECODING_MS - _RENDERING_MS)
        late_ms = decoding_ms - (due_ms - _DECODING_MS - _RENDERING_MS)
        current_ms = min(current_ms + late_ms, target_ms)
        last_ms = max(decoding_ms + _DECODING_MS, due_ms, last_ms)
        rendered[index] = round(1e3 * last_ms)
    return rendered


class _ArrivalClock:
    """Recursive least squares of capture time, in RTP ticks, over arrival time."""

    _TICKS_PER_MS = 90.0
    _DRIFT, _LARGEST_ERROR, _ALARM = 6600.0, 7000.0, 60_000.0
    _RESET_AFTER_MS = 10_000.0

    def __init__(self) -> None:
        self._last_ms = -math.inf

    def mapped_ms(self, capture_ms: float, arrival_ms: float) -> float:
        """Takes a frame; returns its arrival time by the line."""
        if arrival_ms - self._last_ms > self._RESET_AFTER_MS:
            self._first = (capture_ms, arrival_ms)
            self._slope, self._offset = self._TICKS_PER_MS, 0.0
            self._p = [1.0, 0.0, 0.0, 1e10]
            self._above = self._below = 0.0
            self._frames = 0
        self._last_ms = arrival_ms
        ticks = (capture_ms - self._first[0]) * self._TICKS_PER_MS
        t = arrival_ms - self._first[1]
        error = ticks - t * self._slope - self._offset
        self._detect_change(error)
        p00, p01, p10, p11 = self._p
        k0, k1 = p00 * t + p01, p10 * t + p11
        scale = 1 + t * k0 + k1
        k0, k1 = k0 / scale, k1 / scale
        self._slope += k0 * error
        self._offset += k1 * error
        self._p = [
            p00 - k0 * (t * p00 + p10), p01 - k0 * (t * p01 + p11),
            p10 - k1 * (t * p00 + p10), p11 - k1 * (t * p01 + p11),
        ]  # fmt: skip
        self._frames += 1
        # Two frames do not make a line, and no line runs backwards.
        if self._frames < 2 or self._slope < 1e-3:
            return arrival_ms
        return self._first[1] + (ticks - self._offset) / self._slope

    def _detect_change(self, error: float) -> None:
        error = min(max(error, -self._LARGEST_ERROR), self._LARGEST_ERROR)
        self._above = max(self._above + error - self._DRIFT, 0.0)
        self._below = min(self._below + error + self._DRIFT, 0.0)
        if max(self._above, -self._below) > self._ALARM:
            self._above = self._below = 0.0
            self._p[3] = 1e10


class _FrameJitter:
    """How much later than the line frames arrive: by their size, and by noise."""

    _SIZE_FILTER, _LARGEST_FILTER = 0.97, 0.9999
    _MOST_SAMPLES = 400
    _SYSTEM_MS = 10.0

    def __init__(self) -> None:
        self._average = self._largest = 500.0
        self._size_variance = 100.0
        self._last_size: int | None = None
        self._ms_per_byte, self._offset_ms = 8 / 512e3, 0.0
        self._p = [1e-4, 0.0, 0.0, 1e2]
        self._noise_ms, self._noise_variance = 0.0, 4.0
        self._samples = 1

    def update(self, size: int, variation_ms: float | None) -> float:
        """Takes a frame and how much longer it took than the one before; returns the jitter."""
        average = self._SIZE_FILTER * self._average + (1 - self._SIZE_FILTER) * size
        if size < average + 2 * math.sqrt(self._size_variance):
            self._average = average
        deviation = size - average
        self._size_variance = max(
            self._SIZE_FILTER * self._size_variance + (1 - self._SIZE_FILTER) * deviation * deviation, 1.0
        )
        self._largest = max(self._LARGEST_FILTER * self._largest, size)
        growth = size - (self._last_size or 0)
        self._last_size = size
        if variation_ms is not None:
            limit_ms = 3.5 * math.sqrt(self._noise_variance) + 0.5
            variation_ms = min(max(variation_ms, -limit_ms), limit_ms)
            # After a much smaller frame, the delay tells of the queue before it.
            if growth > -0.25 * self._largest:
                self._add_noise(variation_ms - self._ms_per_byte * growth - self._offset_ms)
                self._explain_by_size(variation_ms, growth)
        noise_ms = max(1.0, 2.33 * math.sqrt(self._noise_variance) - 30)
        estimate_ms = min(self._ms_per_byte * (self._largest - self._average) + noise_ms, 10_000.0)
        return estimate_ms + self._SYSTEM_MS

    def _add_noise(self, deviation_ms: float) -> None:
        kept = (self._samples - 1) / self._samples
        self._samples = min(self._samples + 1, self._MOST_SAMPLES)
        squared = (deviation_ms - self._noise_ms) ** 2
        self._noise_ms = kept * self._noise_ms + (1 - kept) * deviation_ms
        self._noise_variance = max(kept * self._noise_variance + (1 - kept) * squared, 1.0)

    def _explain_by_size(self, variation_ms: float, growth: float) -> None:
        p00, p01, p10, p11 = self._p
        p00, p11 = p00 + 2.5e-10, p11 + 1e-10
        error = variation_ms - self._ms_per_byte * growth - self._offset_ms
        o0, o1 = p00 * growth + p01, p10 * growth + p11
        noise = max(1.0, (300 * math.exp(-abs(growth) / self._largest) + 1) * math.sqrt(self._noise_variance))
        variance = growth * o0 + o1 + noise
        k0, k1 = o0 / variance, o1 / variance
        self._ms_per_byte = max(1e-6, self._ms_per_byte + k0 * error)
        self._offset_ms += k1 * error
        self._p = [
            (1 - k0 * growth) * p00 - k0 * p10, (1 - k0 * growth) * p01 - k0 * p11,
            (1 - k1) * p10 - k1 * growth * p00, (1 - k1) * p11 - k1 * growth * p01,
        ]  # fmt: skip


class _LipSync:
    """Raises the least delay of video to that of audio, in steps."""

    _PERIOD_MS = 1000.0
    _LARGEST_STEP_MS = 80.0
    _IGNORED_MS = 30.0

    def __init__(self) -> None:
        self._next_ms: float | None = None
        self._ahead_ms = 0.0
        self._least_ms = 0.0

    def least_delay_ms(self, now_ms: float, video_ms: float, audio_ms: float) -> float:
        """The least delay of video, whose delay is `video_ms` now."""
        self._next_ms = self._next_ms or now_ms + self._PERIOD_MS
        while now_ms >= self._next_ms:
            self._next_ms += self._PERIOD_MS
            ahead_ms = audio_ms + _AUDIO_OUTPUT_MS - max(self._least_ms, video_ms)
            self._ahead_ms = (3 * self._ahead_ms + ahead_ms) / 4
            if abs(self._ahead_ms) > self._IGNORED_MS:
                step_ms = min(max(self._ahead_ms / 2, -self._LARGEST_STEP_MS), self._LARGEST_STEP_MS)
                start_ms = max(self._least_ms, video_ms if step_ms > 0 else 0.0)
                self._least_ms = max(0.0, start_ms + step_ms)
                self._ahead_ms = 0.0
        return self._least_ms


def _audio_delay_ms(network_delay_ms: Sequence[float | None], interval_s: float) -> list[float]:
    """NetEq's target delay at the end of each interval."""
    per_slot, window = max(1, round(0.5 / interval_s)), max(1, round(2 / interval_s))
    recent: deque[tuple[int, float]] = deque()
    weights: dict[int, float] = {}
    target_ms, largest_ms, slots = 80.0, 0.0, 0
    delays_ms = []
    for index, delay_ms in enumerate(network_delay_ms):
        if delay_ms is not None and math.isfinite(delay_ms):
            recent.append((index, delay_ms))
            while recent[0][0] <= index - window:
                recent.popleft()
            largest_ms = max(largest_ms, delay_ms - min(value for _, value in recent))
        if (index + 1) % per_slot == 0 and recent:
            slots += 1
            kept = min(0.983, 1 - 2 / (slots + 1))
            weights = {bucket: kept * weight for bucket, weight in weights.items()}
            bucket = min(int(largest_ms / 20), 99)
            weights[bucket] = weights.get(bucket, 0.0) + 1 - kept
            largest_ms, reached, wanted = 0.0, 0.0, 0.95 * sum(weights.values())
            for bucket in sorted(weights):
                reached += weights[bucket]
                if reached >= wanted:
                    break
            target_ms = 20.0 * (bucket + 1)
        delays_ms.append(target_ms)
    return delays_ms
