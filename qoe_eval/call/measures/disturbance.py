"""Whether this machine, rather than the path or a controller, shaped a call: then its measures say nothing."""

from __future__ import annotations

import numpy as np

from weir.qoe_eval.call.logs.link_log import DELAY_ERROR_BOUNDS_MS, LinkLog
from weir.qoe_eval.call.logs.webrtc_stats import StatsReports

LARGEST_LINK_LAG_MS = 2.0
LARGEST_WAKE_UP_LAG_MS = 20.0
SMALLEST_SOURCE_FRAME_RATE = 0.9
"""Of the nominal one."""
_LARGEST_CPU_LIMITED_SHARE = 0.01
# A report counts the frames of a second, give or take one or two; now and then that is few.
_LARGEST_SLOW_SOURCE_SHARE = 0.1
# A camera and an encoder may take this long to come to speed.
_SETTLING_S = 2.0
_US = 1e6


def disturbances(
    sender: StatsReports, link: LinkLog, frames_per_second: float, start_us: float, end_us: float
) -> list[str]:
    """What disturbed a call between two times, each in words with its number; empty when nothing did.

    Args:
        sender: getStats of the sender.
        link: log of the forward link.
        frames_per_second: what the source should give.
        start_us: when the call began.
        end_us: when it ended.
    """
    found = []
    start_s, end_s = start_us / _US + _SETTLING_S, end_us / _US
    if end_s <= start_s:
        return []
    share = _cpu_limited_share(sender, start_s, end_s)
    if share > _LARGEST_CPU_LIMITED_SHARE:
        found.append(f"the encoder was short of CPU for {share:.0%} of the call")
    slow = _slow_source_share(sender, SMALLEST_SOURCE_FRAME_RATE * frames_per_second, start_s, end_s)
    if slow > _LARGEST_SLOW_SOURCE_SHARE:
        found.append(
            f"the source gave under {SMALLEST_SOURCE_FRAME_RATE * frames_per_second:g} frames per second for "
            f"{slow:.0%} of the call"
        )
    lag_ms = link_lag_ms(link.between(start_us, end_us))
    if lag_ms is not None and lag_ms > LARGEST_LINK_LAG_MS:
        found.append(f"the link was {lag_ms:.1f} ms late (95th percentile)")
    return found


def late_wake_ups(lag_ms_p99: float | None) -> list[str]:
    """Whether processes of the call had to wait for the machine: 99th percentile of `WakeUpLag`."""
    if lag_ms_p99 is None or lag_ms_p99 <= LARGEST_WAKE_UP_LAG_MS:
        return []
    return [f"the machine was too busy: processes came to run {lag_ms_p99:.0f} ms late (99th percentile)"]


def link_lag_ms(link: LinkLog) -> float | None:
    """95th percentile over the packets of the call of how late the link delivered them, ms, interpolated between
    the bounds of the log's counts. Nothing where no packet passed.
    """
    reached = np.cumsum(link.delay_error_ms_counts.sum(axis=0))
    if reached[-1] == 0:
        return None
    wanted = 0.95 * reached[-1]
    bin_ = int(np.searchsorted(reached, wanted))
    low_ms = DELAY_ERROR_BOUNDS_MS[bin_ - 1] if bin_ else 0.0
    if not np.isfinite(DELAY_ERROR_BOUNDS_MS[bin_]):
        return low_ms
    before = reached[bin_ - 1] if bin_ else 0.0
    return float(low_ms + (wanted - before) / (reached[bin_] - before) * (DELAY_ERROR_BOUNDS_MS[bin_] - low_ms))


def _cpu_limited_share(sender: StatsReports, start_s: float, end_s: float) -> float:
    """The largest share of the time, over the video streams, in which CPU limited the quality."""
    shares = [0.0]
    for stream in sender.of("outbound-rtp", "video"):
        times, reasons = stream.texts.get("qualityLimitationReason", ([], []))
        limited_s = sum(
            max(0.0, min(until, end_s) - max(since, start_s))
            # A sender need not tell a reason.
            for since, until, reason in zip(times, [*times[1:], end_s], reasons, strict=False)
            if reason == "cpu"
        )
        shares.append(limited_s / (end_s - start_s))
    return max(shares)


def _slow_source_share(sender: StatsReports, slowest: float, start_s: float, end_s: float) -> float:
    """The share of the reports in which a source gave fewer frames per second."""
    shares = [0.0]
    for source in sender.of("media-source", "video"):
        times, values = source.series("framesPerSecond")
        within = values[(times >= start_s) & (times <= end_s)]
        if len(within):
            shares.append(float(np.mean(within < slowest)))
    return max(shares)
