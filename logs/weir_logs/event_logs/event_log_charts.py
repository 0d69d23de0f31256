"""The time series of an RTC event log, and the words about it on its pages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from weir_eval.measures.flow_series import Array
from weir_eval.report.chart_rows import Chart, Line, bin_width_s, binned, chart, line, row, thinned
from weir_eval.report.display import PALETTE
from weir_eval.report.page_blocks import Charts, Section, Text, note
from weir_logs.event_logs.event_log import EventLog

_BIN_S = 0.5
_STATES = ("under-use", "normal", "over-use")


def log_lead(log: EventLog, name: str) -> Text:
    """The lead of a page: the file, its length, and who made the feedback."""
    feedback = f", feedback by {log.feedback}" if log.feedback else ""
    return Text(f"{name}: {log.duration_s:,.1f} s{feedback}.", "note")


def log_over_time(title: str, log: EventLog, name: str, targets: Sequence[Line] = ()) -> Section:
    """The section with the chart. `targets`: further lines of the rates."""
    about = note(
        "**logged target** is what the sender’s congestion control decided; **acknowledged** what has arrived, by "
        "feedback; the delay is the difference of two clocks, above its least in the log. A click in the legend hides "
        "or shows a line."
    )
    return Section("time", title, [about, Charts([event_log_chart(log, name, targets)])])


def event_log_chart(log: EventLog, name: str, targets: Sequence[Line] = ()) -> Chart:
    """Rates, delay, round trip, loss, detector, probes: of what the log has. `targets`: further lines of the rates."""
    duration_s = max(1.0, log.duration_s)
    reports = log.reports
    arrived = np.isfinite(reports["received_s"])
    rates = [
        target_line("logged target", *log.target(), duration_s),
        *targets,
        _kbps("delay-based", *log.of("delay_based", "bitrate_bps"), step=True, dash="dot"),
        _rate("acknowledged", reports["time_s"][arrived], reports["size_bytes"][arrived], duration_s),
        _rate("sent", *log.of("sent", "size_bytes"), duration_s),
        _kbps("REMB received", *log.of("remb_received", "bitrate_bps"), step=True, dash="dash"),
        _rate("received", *received_bytes(log), duration_s),
        _kbps("REMB sent", *log.of("remb_sent", "bitrate_bps"), step=True, dash="dash"),
    ]
    delays = [_mean("one way, above its least", *queueing_delay_ms(log), duration_s, "ms")]
    times, round_trips_us = log.of("round_trip", "round_trip_us")
    delays.append(_mean("round trip", times, 1e-3 * round_trips_us, duration_s, "ms"))
    times, fraction = log.of("loss_based", "fraction_lost")
    losses = [
        _mean("by feedback", reports["time_s"], 100.0 * ~arrived, duration_s, "%"),
        line("by receiver reports", "", *thinned(times, 100 * fraction), unit="%", step=True, decimals=1),
    ]
    state = line("detector", "", *log.of("delay_based", "state"), step=True)
    limited = line("application-limited", "", *log.of("application_limited", "begins"), step=True)
    rows = [
        row("Rate, kbps", rates, share=2.2),
        row("Delay, ms", delays),
        row("Lost, %", losses, share=0.8),
        row("Detector", [state], share=0.7, ticks=_STATES),
        row("Probes, kbps", _probes(log), share=0.9),
        row("Limited", [limited], share=0.5, ticks=("by path", "by media")),
    ]
    # A colour means one line: few logs have more lines than there are colours.
    for place, drawn in enumerate(chain.from_iterable(found["lines"] for found in rows if found)):
        drawn["colour"] = f"--series-{1 + place % PALETTE}"
    return chart(name, "", duration_s, rows)


def queueing_delay_ms(log: EventLog) -> tuple[Array, Array]:
    """Send times and one-way delays above the least of the log, of the packets that arrived; by the two clocks."""
    delays_s = log.reports["received_s"] - log.reports["sent_s"]
    arrived = np.isfinite(delays_s)
    if not arrived.any():
        return np.empty(0), np.empty(0)
    return log.reports["sent_s"][arrived], 1e3 * (delays_s[arrived] - delays_s[arrived].min())


def received_bytes(log: EventLog) -> tuple[Array, Array]:
    """Times of the packets received, and their sizes: header, payload and padding."""
    times, payload = log.of("received", "payload_bytes")
    rest = (log.of("received", name)[1] for name in ("header_bytes", "padding_bytes"))
    return times, payload + sum(rest)


def _probes(log: EventLog) -> list[Line]:
    requested_times, requested = log.of("probe_cluster", "bitrate_bps")
    _, identifiers = log.of("probe_cluster", "id")
    rates = dict(zip(identifiers, requested, strict=True))
    failed_times, failed = log.of("probe_failure", "id")
    failed_rates = np.array([rates.get(identifier, np.nan) for identifier in failed])
    return [
        _kbps("asked", requested_times, requested, marks=True),
        _kbps("result", *log.of("probe_success", "bitrate_bps"), marks=True),
        _kbps("failed", failed_times, failed_rates, marks=True),
    ]


def target_line(name: str, times_s: Array, bps: Array, end_s: float) -> Line:
    """The targets of a controller, each in force until the next, the last until the end."""
    times_s, bps = np.append(times_s, np.maximum(times_s[-1:], end_s)), np.append(bps, bps[-1:])
    return _kbps(name, times_s, bps, step=True)


def _kbps(name: str, times_s: Array, bps: Array, **style: Any) -> Line:
    return line(name, "", *thinned(times_s, 1e-3 * bps), unit="kbps", **style)


def _rate(name: str, times: Array, size_bytes: Array, duration_s: float) -> Line:
    kbps = 8e-3 * size_bytes / bin_width_s(duration_s, _BIN_S)
    return line(name, "", *binned(times, kbps, duration_s, _BIN_S, "sum"), unit="kbps")


def _mean(name: str, times: Array, values: Array, duration_s: float, unit: str) -> Line:
    return line(name, "", *binned(times, values, duration_s, _BIN_S, "mean"), unit=unit, decimals=1)
