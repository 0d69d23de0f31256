"""Detects calls that were disturbed by this machine, not by the path or a controller."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque

import numpy as np

from weir_calls.link.child_process import run_this_thread_in_real_time
from weir_calls.link.log import DELAY_ERROR_BOUNDS_MS, LinkLog
from weir_eval.webrtc_stats import StatsReports

LARGEST_LINK_LAG_MS = 2.0
LARGEST_WAKE_UP_LAG_MS = 20.0
SMALLEST_SOURCE_FRAME_RATE = 0.9
"""As a share of the nominal rate."""
LONGEST_S = 10.0
_LARGEST_CPU_LIMITED_SHARE = 0.01
# The frames that a report counts in a second vary by one or two.
_LARGEST_SLOW_SOURCE_SHARE = 0.1
# Time for camera and encoder to start up.
_SETTLING_S = 2.0
_INTERVAL_S = 0.02
# One hour.
_MOST_SAMPLES = 180_000
_POLL_S = 0.5
_US = 1e6


def disturbances(
    sender: StatsReports, link: LinkLog, frames_per_second: float, start_us: float, end_us: float
) -> list[str]:
    """Describes the disturbances of a call between two times, each with its measured value.

    Args:
        sender: getStats of the sender.
        link: log of the forward link.
        frames_per_second: nominal rate of the source.
        start_us: start of the call.
        end_us: end of the call.
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
            f"the source had under {SMALLEST_SOURCE_FRAME_RATE * frames_per_second:g} frames per second for "
            f"{slow:.0%} of the call"
        )
    lag_ms = link_lag_ms(link.between(start_us, end_us))
    if lag_ms is not None and lag_ms > LARGEST_LINK_LAG_MS:
        found.append(f"the link was {lag_ms:.1f} ms late (95th percentile)")
    return found


def late_wake_ups(lag_ms_p99: float | None) -> list[str]:
    """Describes late wake-ups of the call's processes, from the 99th percentile of `WakeUpLag`."""
    if lag_ms_p99 is None or lag_ms_p99 <= LARGEST_WAKE_UP_LAG_MS:
        return []
    return [f"the machine was too busy: processes came to run {lag_ms_p99:.0f} ms late (99th percentile)"]


def link_lag_ms(link: LinkLog) -> float | None:
    """95th percentile of the delay error of packets on the link, interpolated within a bin of the log; None without a
    packet.
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
    """The largest share of the time, over the video streams, in which the CPU limited the quality."""
    shares = [0.0]
    for stream in sender.of("outbound-rtp", "video"):
        times, reasons = stream.texts.get("qualityLimitationReason", ([], []))
        limited_s = sum(
            max(0.0, min(until, end_s) - max(since, start_s))
            # Senders may omit the reason.
            for since, until, reason in zip(times, [*times[1:], end_s], reasons, strict=False)
            if reason == "cpu"
        )
        shares.append(limited_s / (end_s - start_s))
    return max(shares)


def _slow_source_share(sender: StatsReports, slowest: float, start_s: float, end_s: float) -> float:
    """The largest share of reports, over the sources, with fewer frames per second than `slowest`."""
    shares = [0.0]
    for source in sender.of("media-source", "video"):
        times, values = source.series("framesPerSecond")
        within = values[(times >= start_s) & (times <= end_s)]
        if len(within):
            shares.append(float(np.mean(within < slowest)))
    return max(shares)


class WakeUpLag:
    """Measures how late a thread with the priority of a call's processes wakes up from short sleeps."""

    def __init__(self) -> None:
        self._lags_ms: deque[float] = deque(maxlen=_MOST_SAMPLES)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Starts the thread."""
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread if it was started."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    @property
    def p99_ms(self) -> float | None:
        """99th percentile; None without a sample."""
        ordered = sorted(self._lags_ms)
        return ordered[int(0.99 * len(ordered))] if ordered else None

    def _watch(self) -> None:
        run_this_thread_in_real_time()
        while not self._stop.is_set():
            due_s = time.monotonic() + _INTERVAL_S
            time.sleep(_INTERVAL_S)
            self._lags_ms.append(1000 * max(0.0, time.monotonic() - due_s))


class Watchdog:
    """Detects a part of the call that has stopped or hangs: each part sends something every second."""

    def __init__(self) -> None:
        self._fed_s: dict[str, float] = {}

    def feed(self, name: str) -> None:
        """Notes that a part has just sent something; the part is watched from the first call on."""
        self._fed_s[name] = time.monotonic()

    async def expired(self) -> str:
        """Waits until a part has sent nothing for LONGEST_S; returns a description."""
        while True:
            before_s = time.monotonic()
            await asyncio.sleep(_POLL_S)
            slept_s = time.monotonic() - before_s
            if slept_s > 2 * _POLL_S:
                # This process was stopped or got no CPU time; messages sent meanwhile are still queued.
                self._fed_s = {name: fed_s + slept_s for name, fed_s in self._fed_s.items()}
            for name, fed_s in self._fed_s.items():
                if time.monotonic() - fed_s > LONGEST_S:
                    return f"{name}: sent nothing for {LONGEST_S:g} s"
