"""Finds the freezes of a dump's video, their times and lengths.

A browser counts a freeze, with its length, when the next frame is shown. If it counts none (Firefox, older versions),
or the freeze has no end, it is found by reports between which no frame was decoded.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence

import numpy as np

from weir_eval.webrtc_stats import Array, StatsObject, StatsReports, carried_bytes
from weir_logs.dumps.freeze import DumpFreeze
from weir_logs.dumps.stalls import find_drops, find_stalls

# Shorter stops of an outgoing stream are often still pictures.
_LEAST_STOP_S = 2.0
_NEAR_S = 1.0
MOST_OF_STREAM = 200
"""The number of freezes examined per stream, the longest first."""
_SCREEN = "screenshare"


def find_dump_freezes(reports: StatsReports) -> tuple[list[DumpFreeze], int]:
    """The freezes of a connection's incoming video, and the stops and drops of its outgoing video, in the order of
    time; then the number of freezes omitted beyond the longest MOST_OF_STREAM of a stream.
    """
    found: list[DumpFreeze] = []
    more = 0
    for stream in incoming_video(reports):
        counter = counter_of(reports, stream)
        counted, others = _counted(stream, counter)
        stalls = [] if stream.text("contentType") == _SCREEN else find_stalls(stream, *_decoded(stream))
        if "totalFreezesDuration" in counter.numbers:
            apart = _apart(stalls, counted)
        else:
            counted, apart = _apart(counted, stalls), stalls
        found += [*counted, *apart[:MOST_OF_STREAM]]
        more += others + len(apart[MOST_OF_STREAM:])
    sent = [stream for stream in reports.of("outbound-rtp", "video") if stream.text("contentType") != _SCREEN]
    if sent:
        largest = max(sent, key=carried_bytes)
        stops = find_stalls(largest, *_of_all(sent, "framesEncoded"))
        stops = [stop for stop in stops if stop.duration_s >= _LEAST_STOP_S]
        drops = find_drops(largest, *_of_all(sent, "targetBitrate"))
        found += [*stops[:MOST_OF_STREAM], *_apart(drops, stops)[:MOST_OF_STREAM]]
    return sorted(found, key=lambda freeze: freeze.start_s), more


def incoming_video(reports: StatsReports) -> list[StatsObject]:
    """The incoming video streams, also in dumps of versions that do not write the kind."""
    incoming = reports.of("inbound-rtp")
    return [
        stream
        for stream in incoming
        if stream.kind == "video" or (not stream.kind and "framesDecoded" in stream.numbers)
    ]


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
    """Number and duration, in seconds, of the freezes counted before the first report."""
    (_, counts), (_, durations_s) = counter.series("freezeCount"), counter.series("totalFreezesDuration")
    return int(counts[0]) if len(counts) else 0, float(durations_s[0]) if len(durations_s) else None


def _counted(stream: StatsObject, counter: StatsObject) -> tuple[list[DumpFreeze], int]:
    times, counts = counter.counter("freezeCount")
    places = np.flatnonzero(np.diff(counts) > 0)
    if not len(places):
        return [], 0
    numbers = np.diff(counts)[places]
    befores, afters = times[places], times[places + 1]
    duration_times, durations = counter.counter("totalFreezesDuration")
    lengths = np.zeros(len(places))
    if len(duration_times):
        lengths = np.interp(afters, duration_times, durations) - np.interp(befores, duration_times, durations)
    frame_times, frames = stream.counter("framesDecoded")
    shown = frame_times[1:][np.diff(frames) > 0]
    longest = np.sort(np.argsort(-lengths, kind="stable")[:MOST_OF_STREAM])
    found = [
        _placed(stream, float(befores[i]), float(afters[i]), max(0.0, float(lengths[i])), int(numbers[i]), shown)
        for i in longest
    ]
    return found, int(numbers.sum()) - sum(freeze.count for freeze in found)


def _placed(
    stream: StatsObject, before_s: float, after_s: float, length_s: float, number: int, shown: Array
) -> DumpFreeze:
    """Estimates the position of a freeze counted between two reports. `shown`: the ends of intervals with frames."""
    # The end is in this interval. The start is in the last interval with frames before it, or in this one.
    earliest, latest = before_s, after_s
    if place := int(np.searchsorted(shown, before_s, side="right")):
        last_s = float(shown[place - 1])
        earliest = max(earliest, last_s - (after_s - before_s) + length_s)
        latest = min(latest, last_s + length_s) if last_s < before_s else latest
    end_s = (earliest + latest) / 2 if earliest <= latest else after_s
    return DumpFreeze(stream, end_s - length_s, length_s, max(0.0, latest - earliest) / 2, number)


def _decoded(stream: StatsObject) -> tuple[Array, Array]:
    """Times and decoded frames of an incoming stream. The oldest legacy statistics have only frames per second."""
    if "framesDecoded" in stream.numbers:
        return stream.counter("framesDecoded")
    times, per_s = stream.series("framesPerSecond")
    return times, np.cumsum(per_s * np.diff(times, prepend=times[:1]))


def _of_all(streams: Sequence[StatsObject], name: str) -> tuple[Array, Array]:
    """Times, and the sum of a number over several layers: one may stop while another continues."""
    read = StatsObject.series if name == "targetBitrate" else StatsObject.counter
    series = [found for stream in streams if len((found := read(stream, name))[0]) > 1]
    if not series:
        return np.zeros(0), np.zeros(0)
    times = max((times for times, _ in series), key=len)
    return times, np.sum([np.interp(times, *points) for points in series], axis=0)


def _apart(stalls: Sequence[DumpFreeze], counted: Sequence[DumpFreeze]) -> list[DumpFreeze]:
    """The stalls that are not near a counted freeze."""
    ordered = sorted(counted, key=lambda freeze: freeze.start_s)
    starts = [freeze.start_s for freeze in ordered]
    latest_ends = list(itertools.accumulate((freeze.end_s for freeze in ordered), max))
    found = []
    for stall in stalls:
        place = bisect.bisect(starts, stall.end_s + _NEAR_S)
        if not place or latest_ends[place - 1] < stall.start_s - _NEAR_S:
            found.append(stall)
    return found
