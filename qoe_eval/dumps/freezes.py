"""Freezes of a dump's video: when, and how long.

A browser counts a freeze when the next frame is shown, with its length. Where it counts none (Firefox, older versions),
or the freeze has no end, reports between which no frame was decoded tell it.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weir.qoe_eval.call.webrtc_stats import Array, StatsObject, StatsReports, carried_bytes

# Those of libwebrtc: a gap between frames of this many mean ones, and of so much more than one.
_FREEZE_FRAMES = 3.0
_FREEZE_MORE_S = 0.15
# An outgoing stream that stops for less is often a still picture's.
_LEAST_STOP_S = 2.0
_LEAST_FRAMES_PER_S = 2.0
_BEFORE_S = 10.0
_NEAR_S = 1.0
MOST_OF_STREAM = 200
"""Freezes of one stream that are looked at, the longest."""
_SCREEN = "screenshare"


@dataclass(frozen=True)
class Freeze:
    """A freeze of an incoming stream, or a stop of an outgoing one.

    Attributes:
        stream: the stream; of several outgoing layers the largest.
        start_s: since 1970.
        error_s: of the start, from the interval between reports.
        duration_s: of all `count` freezes that one interval of the reports has.
        count: number of freezes.
        is_open: it lasts to the end of the stream's reports.
        is_counted: the browser counted it.
    """

    stream: StatsObject
    start_s: float
    duration_s: float
    error_s: float
    count: int = 1
    is_open: bool = False
    is_counted: bool = True

    @property
    def end_s(self) -> float:
        """Its end, since 1970."""
        return self.start_s + self.duration_s

    @property
    def is_outgoing(self) -> bool:
        """True for a stream that this browser sends."""
        return self.stream.type == "outbound-rtp"


def find_freezes(reports: StatsReports) -> tuple[list[Freeze], int]:
    """The freezes of a connection's incoming video and the stops of its outgoing video, in the order of time; then the
    number of those beyond the longest MOST_OF_STREAM of a stream.
    """
    found: list[Freeze] = []
    more = 0
    for stream in incoming_video(reports):
        counter = counter_of(reports, stream)
        counted, others = _counted(stream, counter)
        stalls = [] if stream.text("contentType") == _SCREEN else _stalls(stream, *_decoded(stream))
        if "totalFreezesDuration" in counter.numbers:
            apart = _apart(stalls, counted)
        else:
            counted, apart = _apart(counted, stalls), stalls
        found += [*counted, *apart[:MOST_OF_STREAM]]
        more += others + len(apart[MOST_OF_STREAM:])
    sent = [stream for stream in reports.of("outbound-rtp", "video") if stream.text("contentType") != _SCREEN]
    if sent:
        stops = _stalls(max(sent, key=carried_bytes), *_frames_of_all(sent))
        found += [stop for stop in stops if stop.duration_s >= _LEAST_STOP_S][:MOST_OF_STREAM]
    return sorted(found, key=lambda one: one.start_s), more


def incoming_video(reports: StatsReports) -> list[StatsObject]:
    """The incoming streams of video, of which some versions do not write the kind."""
    incoming = reports.of("inbound-rtp")
    return [one for one in incoming if one.kind == "video" or (not one.kind and "framesDecoded" in one.numbers)]


def counter_of(reports: StatsReports, stream: StatsObject) -> StatsObject:
    """The object that counts the freezes of a stream: itself, or in older versions its track."""
    if "freezeCount" in stream.numbers:
        return stream
    tracks = [track for track in reports.of("track") if "freezeCount" in track.numbers]
    named = [track for track in tracks if track.id == stream.text("trackId")]
    if not named and len(tracks) == 1 and len(incoming_video(reports)) == 1:
        return tracks[0]
    return named[0] if named else stream


def earlier_freezes(counter: StatsObject) -> tuple[int, float | None]:
    """Number and duration, in seconds, of the freezes that were counted before the first report."""
    (_, counts), (_, durations_s) = counter.series("freezeCount"), counter.series("totalFreezesDuration")
    return int(counts[0]) if len(counts) else 0, float(durations_s[0]) if len(durations_s) else None


def _counted(stream: StatsObject, counter: StatsObject) -> tuple[list[Freeze], int]:
    times, counts = counter.series("freezeCount")
    places = np.flatnonzero(np.diff(counts) > 0)
    if not len(places):
        return [], 0
    numbers = np.diff(counts)[places]
    befores, afters = times[places], times[places + 1]
    duration_times, durations = counter.series("totalFreezesDuration")
    lengths = np.zeros(len(places))
    if len(duration_times):
        lengths = np.interp(afters, duration_times, durations) - np.interp(befores, duration_times, durations)
    frame_times, frames = stream.series("framesDecoded")
    shown = frame_times[1:][np.diff(frames) > 0]
    longest = np.sort(np.argsort(-lengths, kind="stable")[:MOST_OF_STREAM])
    found = [
        _placed(stream, float(befores[i]), float(afters[i]), max(0.0, float(lengths[i])), int(numbers[i]), shown)
        for i in longest
    ]
    return found, int(numbers.sum()) - sum(one.count for one in found)


def _placed(stream: StatsObject, before_s: float, after_s: float, length_s: float, number: int, shown: Array) -> Freeze:
    """A freeze that was counted between two reports. `shown`: the ends of intervals with frames."""
    # The end is in this interval. The start is in the last interval before it that had frames, or in this one.
    earliest, latest = before_s, after_s
    if place := int(np.searchsorted(shown, before_s, side="right")):
        last_s = float(shown[place - 1])
        earliest = max(earliest, last_s - (after_s - before_s) + length_s)
        latest = min(latest, last_s + length_s) if last_s < before_s else latest
    end_s = (earliest + latest) / 2 if earliest <= latest else after_s
    return Freeze(stream, end_s - length_s, length_s, max(0.0, latest - earliest) / 2, number)


def _stalls(stream: StatsObject, times: Array, frames: Array) -> list[Freeze]:
    """The times without a frame, after some with frames."""
    steps, spans = np.diff(frames), np.diff(times)
    grown = np.concatenate([[0.0], np.cumsum(steps.clip(0))])
    found = []
    index = 0
    while index < len(steps):
        first = index
        index += 1
        if steps[first] > 0 or first == 0:
            continue
        while index < len(steps) and steps[index] <= 0:
            index += 1
        earlier = min(first - 1, int(np.searchsorted(times, times[first] - _BEFORE_S)))
        per_s = float((grown[first] - grown[earlier]) / (times[first] - times[earlier]))
        if per_s < _LEAST_FRAMES_PER_S:
            continue
        is_open = index >= len(steps)
        start_s = times[first] - _without_frames(steps[first - 1], spans[first - 1], per_s)
        end_s = times[-1] if is_open else times[index] + _without_frames(steps[index], spans[index], per_s)
        if end_s - start_s > max(_FREEZE_FRAMES / per_s, 1 / per_s + _FREEZE_MORE_S):
            length_s = float(end_s - start_s)
            error_s = float(spans[first - 1]) / 2
            found.append(Freeze(stream, float(start_s), length_s, error_s, is_open=is_open, is_counted=False))
    return found


def _without_frames(frames: float, span_s: float, per_s: float) -> float:
    """The part of an interval at the edge of a stall in which there was no frame either."""
    return max(0.0, float(span_s) - float(frames) / per_s)


def _decoded(stream: StatsObject) -> tuple[Array, Array]:
    """Times and frames of an incoming stream; the oldest legacy statistics have only the frames a second."""
    if "framesDecoded" in stream.numbers:
        return stream.series("framesDecoded")
    times, per_s = stream.series("framesPerSecond")
    return times, np.cumsum(per_s * np.diff(times, prepend=times[:1]))


def _frames_of_all(streams: Sequence[StatsObject]) -> tuple[Array, Array]:
    """Times and frames of several layers together: one may stop while another goes on."""
    series = [found for one in streams if len((found := one.series("framesEncoded"))[0]) > 1]
    if not series:
        return np.zeros(0), np.zeros(0)
    times = max((times for times, _ in series), key=len)
    return times, np.sum([np.interp(times, *one) for one in series], axis=0)


def _apart(stalls: Sequence[Freeze], counted: Sequence[Freeze]) -> list[Freeze]:
    """The stalls that no counted freeze is at, or near."""
    starts = sorted(one.start_s for one in counted)
    latest_ends = list(itertools.accumulate((one.end_s for one in sorted(counted, key=lambda o: o.start_s)), max))
    found = []
    for one in stalls:
        place = bisect.bisect(starts, one.end_s + _NEAR_S)
        if not place or latest_ends[place - 1] < one.start_s - _NEAR_S:
            found.append(one)
    return found
