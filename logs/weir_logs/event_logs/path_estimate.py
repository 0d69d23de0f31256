"""Estimates the path from an RTC event log, as a scenario.

1. The base delay is the minimum time from sending to arrival of a packet, by two clocks that drift apart, minus the
   time that this packet took on the link. Arrival minus base delay is when a packet left the link (`link_estimate`).
2. Losses are those of the queue, of a policer, or random (`loss_estimate`).
3. If the target is far above the sent rate, the video is at its limit; else its limit is the highest sent rate, and at
   least 2.5 Mbps. There is audio if seconds contain the small packets of Opus.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weir_cli.errors import InputError
from weir_eval.measures.flow_series import Array
from weir_eval.runs.call_media import DEFAULT_MAX_BITRATE_BPS
from weir_logs.event_logs.clock_drift import least_delay_s
from weir_logs.event_logs.delay_steps import base_steps_s
from weir_logs.event_logs.event_log import EventLog
from weir_logs.event_logs.link_estimate import BIN_S, LinkEstimate, Packets, estimate_link, least_service_s
from weir_logs.event_logs.loss_estimate import estimate_loss
from weir_logs.event_logs.open_loop import DEFAULT_MIN_BPS, Targets, logged_targets
from weir_traces.bounds import MAX_DURATION_S
from weir_traces.schema.media import media_of
from weir_traces.schema.scenario import Scenario

_LEAST_PACKETS = 100
_LEAST_DURATION_S = 5.0
_LEAST_OUTAGE_S = 2.0
# The ratio of the sent rate to that of video alone, due to headers and audio.
_OVERHEAD = 1.08
# The video is at its limit if the target is this many times above the highest sent rate for at least this many seconds.
_LIMITED_RATIO = 1.25
_LEAST_LIMITED_S = 5
_LEAST_PAUSE_S = 1.0
_LARGEST_AUDIO_BYTES = 400
# Opus packets per second: usual and least number; then the bytes of RTP, UDP and IP headers.
_AUDIO_PACKETS = 50
_LEAST_AUDIO_PACKETS = 25
_AUDIO_HEADER_BYTES = 52
_ROOM_BPS = 300e3
_LEAST_VIDEO_BPS = 50e3


@dataclass(frozen=True)
class PathEstimate:
    """A path as a scenario with the call's video, and measures of the logged call.

    Attributes:
        filled_share: share of the time, 0 to 1, in which capacity is measured; elsewhere it is bounded from below.
        receive_rate_bps: mean rate acknowledged by feedback.
        network_delay_ms_p95: one-way delay of the packets.
    """

    scenario: Scenario
    filled_share: float
    receive_rate_bps: float
    network_delay_ms_p95: float


def estimate_path(log: EventLog, name: str, missing_bytes: int = 0) -> PathEstimate:
    """Estimates the path of the sent packets as a scenario called `name`. `missing_bytes`: bytes of each packet that
    the log does not count: SRTP's tag in logs of virtual calls.

    Raises:
        InputError: feedback reports too few packets, or the log is too long.
    """
    packets, round_trip_s = _packets(log, missing_bytes)
    received = packets.received()
    times_s = log.of("sent", "id")[0]
    duration_s = float(times_s.max()) - log.reports["sent_s"].min() if len(packets.sent_s) else 0.0
    if len(received.sent_s) < _LEAST_PACKETS or duration_s < _LEAST_DURATION_S:
        raise InputError(
            f"{name}: feedback about {len(received.sent_s)} packets in {duration_s:.0f} s; a path is estimated from at "
            f"least {_LEAST_PACKETS} in {_LEAST_DURATION_S:g} s"
        )
    if np.ptp(times_s) > MAX_DURATION_S:
        raise InputError(f"{name}: {np.ptp(times_s):,.0f} s; a path is estimated from at most {MAX_DURATION_S:,g} s")
    steps_s = base_steps_s(packets.sent_s, packets.left_s - packets.sent_s)
    step_s = steps_s[packets.sent_s.astype(int)]
    packets = packets.later(-step_s)
    serialization_s = least_service_s(packets.received(), duration_s)
    packets = packets.later(serialization_s)
    received = packets.received()
    link = _until_its_end(estimate_link(received, duration_s), received)
    loss = estimate_loss(packets, float(link.rates_bps.mean()))
    one_way_s = max(round_trip_s - serialization_s, 0.0) / 2
    scenario = Scenario.make(
        name=name,
        description=f"Estimated from an RTC event log; its link was filled {link.filled.mean():.0%} of the time",
        duration_s=round(duration_s, 3),
        forward={
            "capacity": {
                "times_s": [round(BIN_S * index, 3) for index in range(len(link.rates_bps))],
                "rates_bps": link.rates_bps.round().tolist(),
            },
            "one_way_delay_ms": _delay_ms(one_way_s, steps_s),
            "queue": {"bytes": loss.queue_bytes},
            "queue_discipline": loss.queue_discipline,
            "loss": loss.loss,
            "jitter": link.jitter(),
        },
        flows=[_flow(log, packets)],
    )
    return PathEstimate(
        scenario,
        float(link.filled.mean()),
        float(received.bits.sum() / duration_s),
        1e3 * (one_way_s + float(np.nanpercentile(packets.left_s - packets.sent_s + step_s, 95))),
    )


def _delay_ms(one_way_s: float, steps_s: Array) -> float | dict[str, list[float]]:
    """The base delay, over time if it has steps."""
    if not steps_s.any():
        return round(1e3 * one_way_s, 3)
    changes = np.flatnonzero(np.diff(steps_s, prepend=np.inf))
    return {
        "times_s": changes.astype(float).tolist(),
        "values_ms": (1e3 * (one_way_s + steps_s[changes])).round(3).tolist(),
    }


def _until_its_end(link: LinkEstimate, received: Packets) -> LinkEstimate:
    """Adds an outage to the end of the log if no packet arrived for long before it."""
    last = int(received.left_s[-1] / BIN_S) + 1
    if (len(link.rates_bps) - last) * BIN_S < _LEAST_OUTAGE_S:
        return link
    is_out = np.arange(len(link.rates_bps)) >= last
    return replace(link, filled=link.filled | is_out, rates_bps=np.where(is_out, 0.0, link.rates_bps))


def _packets(log: EventLog, missing_bytes: int) -> tuple[Packets, float]:
    """The packets in feedback, and the minimum time from sending a packet to its feedback, in s."""
    reports = log.reports
    order = np.argsort(reports["sent_s"], kind="stable")
    sent, received = reports["sent_s"][order], reports["received_s"][order]
    arrived = np.isfinite(received)
    if not arrived.any():
        return Packets(np.empty(0), np.empty(0), np.empty(0)), 0.0
    base_s = least_delay_s(sent[arrived], received[arrived] - sent[arrived], sent)
    round_trip_s = float(np.min(reports["time_s"][order][arrived] - sent[arrived]))
    bits = 8 * (reports["size_bytes"][order] + missing_bytes)
    return Packets(sent - sent[0], received - base_s - sent[0], bits), max(round_trip_s, 0.0)


def _flow(log: EventLog, packets: Packets) -> dict[str, Any]:
    """The call under test: its first target, and its video with pauses and, if the log shows it, the limit."""
    times_s, sizes = log.of("sent", "size_bytes")
    seconds = np.arange(np.floor(times_s.min()), times_s.max() + 1)
    sent_bps = np.histogram(times_s, seconds, weights=8 * sizes)[0]
    most_bps = float(sent_bps.max())
    highest_bps = max(most_bps / _OVERHEAD, DEFAULT_MAX_BITRATE_BPS)
    targets = logged_targets(log)
    start_bps = targets.first_bps()
    if len(targets.bps):
        limited = targets.at(seconds[:-1]) > _LIMITED_RATIO * most_bps
        if limited.sum() >= _LEAST_LIMITED_S:
            highest_bps = max(float(np.percentile(sent_bps[limited], 95)) / _OVERHEAD, _LEAST_VIDEO_BPS)
    since_first = replace(targets, time_s=targets.time_s - log.reports["sent_s"].min())
    return {
        "kind": "rtp",
        "start_rate_bps": min(max(start_bps, DEFAULT_MIN_BPS), highest_bps),
        "media": media_of(
            "video",
            max_rate_bps=round(highest_bps),
            audio_rate_bps=_audio_bps(times_s, sizes),
            video_pauses_s=_video_pauses(packets, since_first),
        ),
    }


def _audio_bps(sent_s: Array, sizes: Array) -> float:
    """The rate of audio payload, in bit/s; 0 if seconds have too few small packets for audio."""
    small = sizes <= _LARGEST_AUDIO_BYTES
    a_second = np.bincount((sent_s[small] - sent_s.min()).astype(int), minlength=int(np.ptp(sent_s)))
    if np.percentile(a_second, 10) < _LEAST_AUDIO_PACKETS:
        return 0.0
    # Median of the smaller half, as packets of slow video may be small, too.
    payload_bytes = max(float(np.percentile(sizes[small], 25)) - _AUDIO_HEADER_BYTES, 0.0)
    return round(8 * _AUDIO_PACKETS * payload_bytes, 1)


def _video_pauses(packets: Packets, targets: Targets) -> list[list[float]]:
    """Intervals [from, to] in which no packet was as large as those of video, although path and target had room. Times
    are those of the packets.
    """
    large = np.flatnonzero(packets.bits > 8 * _LARGEST_AUDIO_BYTES)
    sent_s = packets.sent_s[large]
    late_s = np.nan_to_num(packets.left_s[large] - sent_s, nan=np.inf)
    has_room = targets.at(sent_s) > _ROOM_BPS
    paused = (np.diff(sent_s) > _LEAST_PAUSE_S) & (late_s < _LEAST_PAUSE_S / 2)[:-1] & has_room[:-1]
    return [[float(sent_s[index]), float(sent_s[index + 1])] for index in np.flatnonzero(paused)]
