"""Derives episodes of a call from its logs: freezes and long queues with their causes.

The link's log and Weir's estimates have all inputs of the rules. The sender's getStats have one report per second: the
target of a controller at the sender is interpolated between them, a key frame applies to its whole second, and a
frame's time in the pacer is the mean of its second. They lack probes and the encoder's output, so that traffic above
the target is attributed to `encoder` unless it is retransmitted or near a key frame.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from weir_calls.call import logs
from weir_calls.call.media.received_frames import ReceivedFrame, capture_times_us, read_index, unwrap_numbers
from weir_calls.call.plan import CallSettings
from weir_calls.link.log import LinkLog, read_link_log
from weir_eval.measures.causes import find_episodes
from weir_eval.measures.flow_series import Array
from weir_eval.measures.observation import UNLIMITED_BPS, Frames, Observation
from weir_eval.measures.viewer import find_freezes
from weir_eval.records.record import Episode
from weir_eval.webrtc_stats import StatsReports
from weir_traces.schema.links import NoLoss, PolicerLoss


def call_episodes(
    settings: CallSettings, sender: StatsReports, forward: LinkLog, started_us: int, ended_us: int
) -> list[Episode]:
    """The episodes of a call, in s since it was connected and the scenario began; none without the link's log.

    Args:
        settings: settings of the call; its folder has the other logs.
        sender: getStats of the sender.
        forward: log of the forward link.
        started_us: start of the call.
        ended_us: end of the call.

    Raises:
        InputError: a log cannot be read, or is too large for a call.
    """
    link = forward.between(started_us, ended_us)
    if len(link.time_us) < 2:
        return []
    index = read_index(settings.out / logs.FRAME_LOG)
    rendered = [frame for frame in index if started_us <= frame.render_time_us <= ended_us]
    freezes = find_freezes([frame.render_time_us for frame in rendered], ended_us)
    return find_episodes(
        _observe(settings, link, sender, rendered, started_us),
        [replace(freeze, start_us=freeze.start_us - started_us) for freeze in freezes],
    )


def _observe(
    settings: CallSettings, link: LinkLog, sender: StatsReports, rendered: list[ReceivedFrame], started_us: int
) -> Observation:
    scenario, interval_s = settings.scenario, float(np.median(link.interval_s))
    forward_s, return_s = (
        link_spec.mean_one_way_delay_ms(settings.duration_s) / 1e3 for link_spec in (scenario.forward, scenario.reverse)
    )
    others_bps = 8 * np.nan_to_num(link.cross_traffic_bytes) / interval_s
    queue_growth = np.diff(np.nan_to_num(link.queue_bytes), prepend=0.0)
    entered_bps = 8 * (np.nan_to_num(link.carried_bytes) + queue_growth) / interval_s
    back = read_link_log(settings.out / logs.LINK_LOG, "reverse").between(started_us, link.time_us[-1])
    target_bps, estimate_bps = _rates(settings, link, sender, back)
    key_frames = _per_second(sender, "keyFramesEncoded", link.time_us)
    left_s = (link.time_us[-1] - link.time_us) / 1e6
    return Observation(
        interval_s=interval_s,
        start_s=0.0,
        round_trip_s=forward_s + return_s,
        one_way_delay_s=forward_s,
        capacity_bps=np.nan_to_num(link.capacity_bps, nan=UNLIMITED_BPS),
        queueing_delay_s=np.where(np.isnan(link.queueing_delay_ms), left_s, link.queueing_delay_ms / 1e3),
        other_flows_bps=others_bps,
        target_bps=target_bps,
        estimate_bps=estimate_bps,
        feedback_age_s=np.maximum(0.0, _feedback_age_s(link.time_us, back) - return_s),
        sent_bps=np.maximum(0.0, entered_bps - others_bps),
        retransmitted_bps=8 * _per_second(sender, "retransmittedBytesSent", link.time_us),
        probe_bps=np.zeros(len(link.time_us)),
        backlog_bits=np.zeros(len(link.time_us)),
        sends_key_frame=key_frames > 0,
        lost=link.lost_packets,
        lost_at_queue=_dropped_by_queue(settings, link),
        frames=_frames(rendered, sender, started_us),
    )


def _rates(settings: CallSettings, link: LinkLog, sender: StatsReports, back: LinkLog) -> tuple[Array, Array | None]:
    """The sender's target and the receiver's estimate at the end of each interval of the link's log."""
    times_us, values = logs.read_estimates(settings.out / logs.ESTIMATES)
    if settings.decided_by_libwebrtc or settings.controller == "shadow" or not len(times_us):
        pair = sender.selected_pair()
        at_s, rates = pair.series("availableOutgoingBitrate") if pair else (np.zeros(0), np.zeros(0))
        return (np.interp(link.time_us, 1e6 * at_s, rates) if len(rates) else np.zeros(len(link.time_us))), None
    estimates = _latest_value(link.time_us, times_us, values)
    if settings.decided_at_sender:
        return np.nan_to_num(estimates), None
    known = np.isfinite(back.one_way_delay_ms_mean)
    delay_ms = np.interp(times_us, back.time_us[known], back.one_way_delay_ms_mean[known]) if known.any() else 0.0
    # An estimate sent while the return path delivers nothing arrives with the next packet that it delivers.
    delivered_us = back.time_us[known]
    arrival_us = times_us + 1e3 * delay_ms
    after = np.searchsorted(delivered_us, times_us)
    gap_us = (
        delivered_us[np.minimum(after, len(delivered_us) - 1)] - times_us if known.any() else np.zeros(len(times_us))
    )
    arrival_us = np.where(gap_us > 3e5, times_us + gap_us, arrival_us)
    target = _latest_value(link.time_us, np.maximum.accumulate(arrival_us), values)
    return np.where(np.isnan(target), values[0], target), estimates


def _latest_value(at_us: Array, times_us: Array, values: Array) -> Array:
    """The latest value at each time; NaN before the first."""
    index = np.searchsorted(times_us, at_us, side="right") - 1
    return np.where(index >= 0, values[np.maximum(index, 0)], np.nan)


def _feedback_age_s(at_us: Array, back: LinkLog) -> Array:
    """The time since the newest packet that the return path has delivered was sent, s; 0 before the first."""
    delivered = np.nan_to_num(back.packets) > 0
    times_us, delay_us = back.time_us[delivered], 1e3 * np.nan_to_num(back.one_way_delay_ms_mean[delivered])
    sent_us = _latest_value(at_us, times_us, times_us - delay_us) if len(times_us) else np.full(len(at_us), np.nan)
    return np.where(np.isnan(sent_us), 0.0, (at_us - sent_us) / 1e6)


def _per_second(sender: StatsReports, name: str, at_us: Array) -> Array:
    """The growth per second of a counter, summed over outgoing video, at each time; 0 if unknown."""
    total = np.zeros(len(at_us))
    for stream in sender.of("outbound-rtp", "video"):
        ends_s, rates = stream.rate(name)
        if len(ends_s):
            index = np.searchsorted(1e6 * ends_s, at_us)
            total += np.where(index < len(rates), rates[np.minimum(index, len(rates) - 1)], 0.0)
    return total


def _dropped_by_queue(settings: CallSettings, link: LinkLog) -> Array:
    """Queue drops: all drops in the log, or 0 with a loss model, whose drops the log does not distinguish."""
    alone = isinstance(settings.scenario.forward.loss, NoLoss | PolicerLoss)
    return np.nan_to_num(link.dropped_packets) if alone else np.zeros(len(link.time_us))


def _frames(rendered: list[ReceivedFrame], sender: StatsReports, started_us: int) -> Frames:
    """The rendered frames, and one without rendering time for each gap in their numbers."""
    rows: list[tuple[float, float]] = []
    last: int | None = None
    known_us = zip(rendered, capture_times_us(rendered), unwrap_numbers(rendered), strict=True)
    for frame, captured_us, number in known_us:
        at_us = frame.render_time_us if captured_us is None else captured_us
        if number is not None:
            if last is not None and number > last + 1:
                rows.append(((rows[-1][0] + at_us) / 2, np.nan))
            last = number
        rows.append((at_us, frame.render_time_us))
    times_us: Array = np.array(rows, dtype=np.float64).reshape(-1, 2)
    delays_s, packets = (_per_second(sender, name, times_us[:, 0]) for name in ("totalPacketSendDelay", "packetsSent"))
    captured_s, shown_s = (times_us.T - started_us) / 1e6
    return Frames(
        captured_s=captured_s,
        sent_s=captured_s + delays_s / np.maximum(packets, 1.0),
        shown_s=shown_s,
        bytes=np.zeros(len(rows)),
        key_frame=np.zeros(len(rows), dtype=np.bool_),
    )
