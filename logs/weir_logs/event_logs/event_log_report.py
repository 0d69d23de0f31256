"""The report of an RTC event log: its numbers, then the log over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from weir_cli.files.input import printable
from weir_cli.files.output import begin_page, write_text
from weir_eval.report.page_blocks import Section, Text
from weir_eval.report.page_table import Cell, Row, Table
from weir_eval.report.page_template import render_page
from weir_logs.event_logs.event_log import EventLog, parse_event_log
from weir_logs.event_logs.event_log_charts import log_lead, log_over_time, queueing_delay_ms, received_bytes
from weir_logs.event_logs.event_log_file import read_event_log

# The index of the detector's states.
_OVERUSING = 2
_NAMES = {
    "target_kbps": "Target, mean, kbps",
    "acknowledged_kbps": "Acknowledged, kbps",
    "sent_kbps": "Sent, kbps",
    "received_kbps": "Received, kbps",
    "lost_percent": "Lost, by feedback, %",
    "delay_ms_p95": "One-way delay above its least, p95, ms",
    "round_trip_ms": "Round trip, mean, ms",
    "probes": "Probes",
    "probes_failed": "Probes failed",
    "overuse_percent": "Over-use, % of time",
}


def write_event_log_report(path: Path, out: Path) -> tuple[dict[str, Any], Path]:
    """Writes `report.html` into a folder, which is made if need be; returns what `describe_log` has, and the page.

    Raises:
        InputError: the log cannot be read, or the page not be written.
        MissingComponent: weir-event-log is not there.
    """
    page, name = begin_page(out), printable(path.name)
    log = parse_event_log(read_event_log(path).lines(), name)
    described = describe_log(log)
    rows = [Row([Cell(_NAMES[key], kind="text"), _shown(value)]) for key, value in described.items() if key in _NAMES]
    numbers = Section("numbers", "Numbers", [Table(["", "Value"], rows)])
    sections = [numbers, log_over_time("Over time", log, name)]
    write_text(
        page,
        render_page(
            "Weir: an RTC event log", [Text(_result_text(described), "verdict"), log_lead(log, name)], sections
        ),
    )
    return described, page


def _result_text(described: dict[str, Any]) -> str:
    """The main numbers that the log has, in a sentence."""
    texts = {
        "target_kbps": "mean target {} kbps",
        "acknowledged_kbps": "acknowledged {} kbps",
        "received_kbps": "received {} kbps",
        "lost_percent": "lost {} %",
        "delay_ms_p95": "one-way delay up to {} ms above its least (p95)",
        "overuse_percent": "over-use {} % of the time",
    }
    found = [text.format(_shown(described[key])) for key, text in texts.items() if described[key] is not None]
    return f"{'; '.join(found) or 'The log has neither targets nor packets'}.".capitalize()


def describe_log(log: EventLog) -> dict[str, Any]:
    """For scripts: the length of the log and the numbers of its table; None where the log does not have it."""
    duration_s = log.duration_s
    arrived = np.isfinite(log.reports["received_s"])
    _, delays_ms = queueing_delay_ms(log)
    numbers = {
        "target_kbps": time_mean(*log.target(), log.duration_s, 1e-3),
        "acknowledged_kbps": _rate(log.reports["size_bytes"][arrived], duration_s),
        "sent_kbps": _rate(log.of("sent", "size_bytes")[1], duration_s),
        "received_kbps": _rate(received_bytes(log)[1], duration_s),
        "lost_percent": 100 * float(1 - arrived.mean()) if len(arrived) else None,
        "delay_ms_p95": float(np.percentile(delays_ms, 95)) if len(delays_ms) else None,
        "round_trip_ms": _mean(1e-3 * log.of("round_trip", "round_trip_us")[1]),
        "probes": len(log.of("probe_cluster", "id")[0]),
        "probes_failed": len(log.of("probe_failure", "id")[0]),
        "overuse_percent": _overuse_percent(log),
    }
    shown = {key: None if value is None else round(value, 2) for key, value in numbers.items()}
    return {"duration_s": round(log.duration_s, 3), "feedback": log.feedback, **shown}


def _overuse_percent(log: EventLog) -> float | None:
    times, states = log.of("delay_based", "state")
    return time_mean(times, (states == _OVERUSING).astype(float), log.duration_s, 100)


def time_mean(times: Any, values: Any, end_s: float, scale: float) -> float | None:
    """The mean of values that hold until the next, in time."""
    spans = np.diff(np.append(times, max(end_s, times[-1]))) if len(times) else np.empty(0)
    total = float(spans.sum())
    return scale * float((spans * values).sum()) / total if total > 0 else None


def _rate(size_bytes: Any, duration_s: float) -> float | None:
    return 8e-3 * float(np.sum(size_bytes)) / duration_s if duration_s > 0 and np.size(size_bytes) else None


def _mean(values: Any) -> float | None:
    return float(values.mean()) if len(values) else None


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"
