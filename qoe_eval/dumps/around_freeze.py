"""Compares the time just before and in a freeze with the time before it."""

from __future__ import annotations

import numpy as np

from weir.qoe_eval.call.webrtc_stats import Array, StatsObject, StatsReports
from weir.qoe_eval.dumps.freeze import Freeze

Change = tuple[float, float]
"""A number before the freeze, and at the worst moment."""

# Two samples or more of any dump are within these.
_BEFORE_S = 12.0
_JUST_BEFORE_S = 3.0
_AFTER_S = 2.5
_FALLEN = 0.6
_FEWER = 0.87
_RISEN = 1.6
_LEAST_RISE_MS = 60.0
_LEAST_RISE_OF_JITTER_MS = 20.0
_LEAST_UNDECODED = 5
# Loss is that of so much time, unless reports are farther apart.
_LOSS_S = 2.5
# A longer interval of the reports shows no rate at the freeze.
_LONG_INTERVALS, _LONG_S = 3.0, 2.0
# Share of the time between two frames: a decoder that takes longer, on average, stops now and then.
_SLOW_DECODING = 0.6
# The picture has another size, not just other rounding.
_OTHER_SIZE = 0.05
# One lost packet of fewer is many percent.
_LEAST_PACKETS = 30
_LEAST_GAP_S = 0.7


def has_fallen(levels: Change) -> bool:
    """True where the second is far below the first."""
    return levels[1] < _FALLEN * levels[0]


def pair_with(reports: StatsReports, name: str) -> StatsObject | None:
    """The selected candidate pair if it has this number, else another that has."""
    pair = reports.selected_pair()
    if pair is not None and name in pair.numbers:
        return pair
    return next((one for one in reports.of("candidate-pair") if name in one.numbers), None)


class AroundFreeze:
    """Numbers of one freeze, from the reports around it."""

    def __init__(self, freeze: Freeze) -> None:
        self._freeze, self._stream = freeze, freeze.stream
        self._times = self._stream.series("bytesSent" if freeze.is_outgoing else "bytesReceived")[0]
        self._step_s = float(np.median(np.diff(self._times))) if len(self._times) > 1 else 1.0
        self._just_before_s = freeze.start_s - max(_JUST_BEFORE_S, 1.5 * self._step_s)
        self._before_s = self._just_before_s - max(_BEFORE_S, 4 * self._step_s)
        self._after_s = freeze.end_s + max(_AFTER_S, 1.1 * self._step_s)

    def levels(self, one: StatsObject, name: str, scale: float) -> Change | None:
        """The usual value before, and the lowest from just before to the end of the freeze."""
        return self._levels(*one.series(name), scale)

    def fall(self, one: StatsObject, name: str, scale: float) -> Change | None:
        """The same, where it fell."""
        levels = self.levels(one, name, scale)
        return levels if levels and has_fallen(levels) else None

    def rates(self, name: str) -> Change | None:
        """The usual rate before, and the lowest, in kbps."""
        return self._growth(self._stream, name, 8e-3)

    def fewer(self, one: StatsObject, name: str) -> Change | None:
        """The usual growth a second before, and the lowest, where that is lower."""
        levels = self._growth(one, name, 1.0)
        return levels if levels and levels[1] < _FEWER * levels[0] else None

    def _growth(self, one: StatsObject, name: str, scale: float) -> Change | None:
        times, values = one.counter(name)
        spans = np.diff(times)
        kept = spans <= max(_LONG_INTERVALS * self._step_s, self._step_s + _LONG_S)
        return self._levels(times[1:][kept], (np.diff(values) / spans)[kept], scale, self._step_s)

    def _levels(self, times: Array, values: Array, scale: float, span_s: float = 0.0) -> Change | None:
        earlier = values[(times > self._before_s) & (times <= self._just_before_s + span_s)]
        during = values[(times > self._just_before_s) & (times - span_s < self._freeze.end_s)]
        if not len(earlier):
            earlier = values[times <= self._freeze.start_s]
        if not len(earlier) or not len(during):
            return None
        return scale * float(np.percentile(earlier, 70)), scale * float(during.min())

    def jitter_rise(self, one: StatsObject | None) -> Change | None:
        """The jitter of a stream or report, in ms, where it rose."""
        return self._rise(one, "jitter", _LEAST_RISE_OF_JITTER_MS)

    def _rise(self, one: StatsObject | None, name: str, least_ms: float) -> Change | None:
        """The usual time before, and the longest, in ms, where it is far above."""
        times, values = one.series(name) if one else (np.zeros(0), np.zeros(0))
        # Zero is a value that is not known yet.
        times, values = times[values > 0], values[values > 0]
        earlier = values[(times > self._before_s) & (times <= self._just_before_s)]
        if not len(earlier):
            earlier = values[times <= self._just_before_s]
        during = values[(times > self._just_before_s) & (times <= self._after_s)]
        if not len(earlier) or not len(during):
            return None
        before, high = 1e3 * float(np.median(earlier)), 1e3 * float(during.max())
        return (before, high) if high > max(_RISEN * before, before + least_ms) else None

    def round_trip(self, reports: StatsReports) -> tuple[Change | None, bool]:
        """The rise, and whether there are round trips at all."""
        pair = pair_with(reports, "currentRoundTripTime")
        sources = [(pair, "currentRoundTripTime")] if pair else []
        for kind in ("remote-inbound-rtp", "remote-outbound-rtp"):
            sources += [(one, "roundTripTime") for one in reports.of(kind) if "roundTripTime" in one.numbers][:2]
        rises = [self._rise(one, name, _LEAST_RISE_MS) for one, name in sources]
        return max((one for one in rises if one), key=lambda one: one[1], default=None), bool(sources)

    def without(self, name: str) -> tuple[float, list[tuple[float, float]]]:
        """Seconds of the reports at the freeze between which the counter stood, and these intervals."""
        times, values = self._stream.counter(name)
        stood = np.flatnonzero(np.diff(values) <= 0)
        spans = [(float(times[i]), float(times[i + 1])) for i in stood]
        margin_s = 0.5 * self._step_s
        start_s, end_s = self._freeze.start_s - margin_s, self._freeze.end_s + margin_s
        spans = [(a, b) for a, b in spans if a >= start_s - self._step_s and b <= end_s + self._step_s]
        return sum(b - a for a, b in spans), spans

    def lost_of_received(self) -> float | None:
        """Packets of an incoming stream that were lost, 0 to 1: the worst of the time just before and in it."""
        times, received = self._stream.counter("packetsReceived")
        lost_times, lost = self._stream.series("packetsLost")
        # All reports between which there is some of that time.
        first = max(0, int(np.searchsorted(times, self._freeze.start_s - _JUST_BEFORE_S, side="right")) - 1)
        last = int(np.searchsorted(times, self._freeze.end_s + (_AFTER_S if self._step_s < _AFTER_S else 0.0))) + 1
        if not len(lost) or len(times[first:last]) < 2:
            return None
        counts = np.column_stack([np.interp(times[first:last], lost_times, lost), received[first:last]])
        span = min(max(1, int(_LOSS_S / self._step_s)), len(counts) - 1)
        newly_lost, newly_received = (counts[span:] - counts[:-span]).clip(0).T
        ratios = newly_lost / np.maximum(newly_lost + newly_received, _LEAST_PACKETS)
        return float(ratios.max())

    def lost_of_sent(self, remote: StatsObject | None) -> float | None:
        """Packets of an outgoing stream that were lost, 0 to 1, as the other end reports."""
        if remote is None:
            return None
        times, ratios = remote.series("fractionLost")
        during = ratios[(times > self._just_before_s) & (times <= self._after_s)]
        if len(during):
            return float(during.max())
        lost, sent = remote.growth("packetsLost", *self._window()), self._stream.growth("packetsSent", *self._window())
        return min(1.0, lost / sent) if lost and sent else None

    def decode_rise(self) -> Change | None:
        """Decode time of a frame in ms, where it rose to most of the time between frames."""
        frames, (times, spent) = self._stream.counter("framesDecoded")[1], self._stream.counter("totalDecodeTime")
        if len(frames) != len(spent) or len(frames) < 3:
            return None
        decoded = np.diff(frames)
        kept = decoded > 0
        of_frame = np.diff(spent)[kept] / decoded[kept]
        ends = times[1:][kept]
        earlier = of_frame[(ends > self._before_s) & (ends <= self._just_before_s)]
        during = of_frame[(ends > self._just_before_s) & (ends <= self._after_s)]
        if not len(earlier) or not len(during):
            return None
        before, high = 1e3 * float(np.median(earlier)), 1e3 * float(during.max())
        between_ms = 1e3 / float(np.percentile(decoded[kept] / np.diff(times)[kept], 70))
        return (before, high) if high > max(_RISEN * before, _SLOW_DECODING * between_ms) else None

    def another(self, one: StatsObject, name: str) -> Change | None:
        """The number in the last report before the freeze, and in the first after it, where they differ."""
        times, values = one.series(name)
        before = values[times <= self._freeze.start_s - max(self._freeze.error_s, 0.5 * self._step_s)]
        after = values[times >= self._freeze.end_s]
        if not len(before) or not len(after):
            return None
        found = float(before[-1]), float(after[0])
        return found if abs(found[1] - found[0]) > _OTHER_SIZE * found[0] > 0 else None

    def undecoded(self, track: StatsObject | None) -> int:
        """Frames that came and were not decoded, above those that always are."""
        window = self._window()
        holder = self._stream if "framesReceived" in self._stream.numbers else track
        if holder is None:
            return 0
        came, decoded = holder.growth("framesReceived", *window), self._stream.growth("framesDecoded", *window)
        missing = int(came - decoded) if came is not None and decoded is not None else 0
        dropped = int(holder.growth("framesDropped", *window) or 0)
        found = max(missing, dropped)
        return found if found >= max(_LEAST_UNDECODED, 0.2 * (came or 0)) else 0

    def grown(self, name: str) -> int:
        """The growth of a counter of the stream at the freeze."""
        return int(self._stream.growth(name, *self._window()) or 0)

    def reports_gap_s(self) -> float | None:
        """The longest time between reports at the freeze, where it is far above the usual."""
        spans = np.diff(self._times)
        near = (self._times[1:] > self._freeze.start_s - 1) & (self._times[:-1] < self._freeze.end_s + 1)
        longest = float(spans[near].max()) if near.any() else 0.0
        return longest if longest > self._step_s + max(_LEAST_GAP_S, 0.7 * self._step_s) else None

    def text(self, one: StatsObject, name: str) -> str:
        """The last text up to the end of the freeze; one that limits, from just before it on, before none."""
        times, texts = one.texts.get(name, ([], []))
        index = int(np.searchsorted(times, self._just_before_s, side="right"))
        during = texts[max(0, index - 1) : int(np.searchsorted(times, self._freeze.end_s, side="right"))]
        return next((text for text in reversed(during) if text != "none"), "")

    def stands(self, one: StatsObject, name: str) -> bool:
        """True where a counter that grew before does not grow in the freeze."""
        times, values = one.series(name)
        grown = one.growth(name, self._before_s, self._just_before_s)
        inside = values[(times >= self._freeze.start_s) & (times <= self._freeze.end_s)]
        return bool(grown) and len(inside) > 1 and bool(inside[-1] <= inside[0])

    def _window(self) -> tuple[float, float]:
        """From the report before the freeze to the first after it."""
        earlier, later = (
            self._times[self._times <= self._just_before_s + self._step_s],
            self._times[self._times >= self._freeze.end_s],
        )
        start_s = float(earlier[-1]) if len(earlier) else self._freeze.start_s - self._step_s
        return start_s, float(later[min(1, len(later) - 1)]) if len(later) else self._freeze.end_s
