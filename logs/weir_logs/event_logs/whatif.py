"""The page of `weir whatif`: the targets of controllers on a recording, and its logged target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from weir_cli.errors import InputError
from weir_cli.files.input import printable
from weir_cli.files.output import begin_page, write_text
from weir_eval.report.page_blocks import Section, Text, note
from weir_eval.report.page_table import Block, Cell, Cells, Row, Table
from weir_eval.report.page_template import render_page
from weir_logs.event_logs.event_file import EventFile
from weir_logs.event_logs.event_log import EventLog, parse_event_log
from weir_logs.event_logs.event_log_charts import log_lead, log_over_time, target_line
from weir_logs.event_logs.event_log_file import read_event_log
from weir_logs.event_logs.event_log_report import time_mean
from weir_logs.event_logs.open_loop import STEP_S, OpenLoop, Targets, difference, logged_targets
from weir_logs.event_logs.packet_file import is_gzip, is_packet_file, read_packet_file
from weir_logs.event_logs.reported_packets import reported_packet_lines

_HEADS = (
    "", Cell("Mean", "kbps"), Cell("Lowest", "kbps"), Cell("Highest", "kbps"),
    Cell("Difference of means", "%"), Cell("Difference at a time, median", "%"), Cell("p95", "%"),
)  # fmt: skip
_NOTE = (
    "Open loop: each controller saw the packets and the feedback of the log, which another one’s decisions had shaped. "
    "A target near those decisions is what the controller would have decided; one far from them is what it would have "
    "tried, not what the path would have carried."
)
AT_SENDER = ("gcc", "weir-send", "scream")
AT_RECEIVER = ("weir", "gcc-remb", "rule")
"""The default controllers for recordings of sent packets, and of received packets."""


@dataclass(frozen=True)
class Recording:
    """The events of a file, and their numbers as columns. `note`: for readers, on abs-send-time and omitted packets."""

    name: str
    events: EventFile
    log: EventLog
    note: str = ""

    def lead(self) -> list[Block]:
        """The lead of a page."""
        return [log_lead(self.log, f"{self.name}{'; ' if self.note else ''}{self.note}")]


def read_recording(path: Path, abs_send_time_id: int | None = None) -> Recording:
    """Reads an RTC event log, or an rtpdump or a capture of RTP.

    Raises:
        InputError: it is none of these, or cannot be read.
        MissingComponent: it is an event log, and weir-event-log is missing.
    """
    name = printable(path.name)
    if is_gzip(path):
        raise InputError(f"{printable(path)}: is packed with gzip; unpack it first")
    if not is_packet_file(path):
        events = read_event_log(path)
        return Recording(name, events, parse_event_log(events.lines(), name))
    packets = read_packet_file(path, abs_send_time_id)
    begin_us, end_us = packets.span_us()
    head = f'{{"type":"log","begin_us":{begin_us},"end_us":{end_us},"feedback":""}}\n'.encode()
    found = (
        "no abs-send-time, so delays are unknown"
        if packets.abs_send_time_id is None
        else (f"abs-send-time is extension {packets.abs_send_time_id}")
    )
    others = f"; {packets.left_out:,} packets of other addresses are left out" if packets.left_out else ""
    events = EventFile(packet.event_line() for packet in packets.packets())
    return Recording(name, events, parse_event_log(chain([head], events.lines()), name), found + others)


def run_whatif(recording: Recording, controllers: Sequence[str], settings: OpenLoop) -> list[Targets]:
    """The targets of each controller; times in s since the first event.

    Raises:
        InputError: there are no packets of a controller's side.
        MissingComponent: weir-sim, or a controller in it, is missing.
    """
    events = recording.events
    if set(controllers) - set(AT_SENDER) and not len(recording.log.of("received", "payload_bytes")[0]):
        # Controllers at the sender ignore received packets, and those at the receiver ignore all others.
        events = EventFile(chain(events.lines(), reported_packet_lines(recording.log)))
    found = [settings.run(events, name, recording.name) for name in controllers]
    return [replace(targets, time_s=targets.time_s - recording.log.begin_s) for targets in found]


def write_whatif(recording: Recording, found: Sequence[Targets], out: Path) -> tuple[dict[str, Any], Path]:
    """Writes `report.html` to a folder, which is created if needed; returns the numbers of the table and the page.

    Raises:
        InputError: it cannot be written.
    """
    page, logged = begin_page(out), logged_targets(recording.log)
    described = [
        _numbers(targets, logged, recording.log.duration_s) for targets in (logged, *found) if len(targets.bps)
    ]
    end_s = recording.log.duration_s
    lines = [target_line(f"target of {targets.controller}", targets.time_s, targets.bps, end_s) for targets in found]
    sections = [
        Section("targets", "Targets", [note(_NOTE), Table(_HEADS, [_row(row) for row in described])]),
        log_over_time("Over time", recording.log, recording.name, lines),
    ]
    lead = [Text(_result_text(described), "verdict"), *recording.lead()]
    write_text(page, render_page("Weir: what if", lead, sections))
    return {"file": recording.name, "note": recording.note, "controllers": described}, page


def _result_text(described: Sequence[dict[str, Any]]) -> str:
    """The mean targets in a sentence, and the controller that is closest to the logged target if there is one."""
    means = ", ".join(f"{row['controller']} {row['mean_kbps']:,.0f} kbps" for row in described)
    closest = min(
        (row for row in described if "median_percent" in row), key=lambda row: row["median_percent"], default=None
    )
    if closest is None:
        return f"Mean target: {means}."
    off = f"{closest['median_percent']:.1f} %"
    return f"Mean target: {means}. {closest['controller']} is closest to the logged target: {off} from it (median)."


def _numbers(targets: Targets, logged: Targets, end_s: float) -> dict[str, Any]:
    times = np.arange(targets.time_s[0], max(end_s, targets.time_s[0] + STEP_S), STEP_S)
    kbps = 1e-3 * targets.at(times)
    mean_kbps = time_mean(targets.time_s, targets.bps, end_s, 1e-3)
    numbers = {
        "mean_kbps": float(kbps.mean()) if mean_kbps is None else mean_kbps,
        "lowest_kbps": float(kbps.min()),
        "highest_kbps": float(kbps.max()),
    }
    against = None if targets is logged else difference(targets, logged, end_s)
    found = {} if against is None else vars(against)
    return {"controller": targets.controller, **{key: round(value, 2) for key, value in {**numbers, **found}.items()}}


def _row(described: dict[str, Any]) -> Row:
    keys = ("mean_kbps", "lowest_kbps", "highest_kbps")
    against = ("mean_percent", "median_percent", "p95_percent")
    # The name that the chart's legend has.
    name = "logged target" if described["controller"] == "logged" else f"target of {described['controller']}"
    cells: Cells = [Cell(name, kind="text")]
    cells += [f"{described[key]:,.0f}" for key in keys]
    cells += [f"{described[key]:,.1f}" if key in described else "–" for key in against]
    return Row(cells)
