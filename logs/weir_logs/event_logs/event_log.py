"""The events of an RTC event log as columns of numbers."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from weir_cli.errors import InputError
from weir_eval.json_lines import number
from weir_eval.measures.flow_series import Array
from weir_traces.bounds import MAX_DURATION_S

MOST_EVENTS = 4_000_000
_STATES = ("underusing", "normal", "overusing")
# The numbers to keep from each type of event.
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "loss_based": ("bitrate_bps", "fraction_lost"),
    "delay_based": ("bitrate_bps", "state"),
    "scream": ("bitrate_bps", "queue_delay_ms"),
    "application_limited": ("begins",),
    "remb_received": ("bitrate_bps",),
    "remb_sent": ("bitrate_bps",),
    "probe_cluster": ("id", "bitrate_bps"),
    "probe_success": ("id", "bitrate_bps"),
    "probe_failure": ("id",),
    "sent": ("size_bytes", "id"),
    "round_trip": ("round_trip_us",),
    "received": ("header_bytes", "payload_bytes", "padding_bytes"),
    "observation": ("other_bps", "weir_bps", "in_charge"),
}


@dataclass
class EventLog:
    """A log. Times are in s since its first event; missing numbers are NaN.

    Attributes:
        begin_s: time of the first event, on the log's clock.
        duration_s: time from the first event to the last.
        feedback: "transport-cc" or "ccfb".
        columns: for each type of event its times, as `time_s`, and its numbers, shape [n] each.
        reports: for each packet in feedback: `time_s` of the feedback, `sent_s`, `size_bytes`, and `received_s`
            on the receiver's clock, NaN if it is reported lost; shape [n] each.
    """

    begin_s: float
    duration_s: float
    feedback: str
    columns: dict[str, dict[str, Array]] = field(default_factory=dict)
    reports: dict[str, Array] = field(default_factory=dict)

    def of(self, kind: str, name: str) -> tuple[Array, Array]:
        """Times and values of a number of one type; empty if the log has none."""
        columns = self.columns.get(kind)
        return (columns["time_s"], columns[name]) if columns else (np.empty(0), np.empty(0))

    def target(self) -> tuple[Array, Array]:
        """Times and values, in bit/s, of the sender's target: GCC's, else SCReAM's, else that of the estimator in
        charge of an observed connection; empty without any.
        """
        for kind in ("loss_based", "scream"):
            if len((found := self.of(kind, "bitrate_bps"))[0]):
                return found
        times_s, other_bps = self.of("observation", "other_bps")
        _, weir_in_charge = self.of("observation", "in_charge")
        bps = np.where(weir_in_charge > 0, self.of("observation", "weir_bps")[1], other_bps)
        return times_s[np.isfinite(bps)], bps[np.isfinite(bps)]


def parse_event_log(lines: Iterable[bytes], source: str) -> EventLog:
    """Parses the JSON lines of `read_event_log`.

    Raises:
        InputError: there are over MOST_EVENTS events, or the log is longer than a day, as with one wrong time: rows
            of 100 ms would fill the memory.
    """
    # Arrays of 8 bytes per number: lists of Python's numbers take 32.
    collected = {kind: array("d") for kind in _COLUMNS}
    reports = array("d")
    begin_us = end_us = 0.0
    feedback = ""
    for count, event_text in enumerate(lines):
        if count == MOST_EVENTS:
            raise InputError(f"{source}: over {MOST_EVENTS:,} events; save a log of a shorter call")
        event = json.loads(event_text)
        kind = event["type"]
        if kind == "log":
            begin_us, end_us, feedback = event["begin_us"], event["end_us"], event["feedback"]
        elif kind == "feedback":
            for identifier, received_us in event["packets"]:
                reports.extend((event["time_us"], identifier, np.nan if received_us is None else received_us))
        elif kind in _COLUMNS:
            collected[kind].extend((event["time_us"], *_numbers(event, _COLUMNS[kind])))
    log = EventLog(begin_s=1e-6 * begin_us, duration_s=1e-6 * (end_us - begin_us), feedback=feedback)
    if log.duration_s > MAX_DURATION_S:
        hours = log.duration_s / 3600
        raise InputError(f"{source}: {hours:,.0f} hours from its first event to its last; give a log of a day at most")
    for kind, names in _COLUMNS.items():
        if collected[kind]:
            table = np.array(collected[kind]).reshape(-1, 1 + len(names)).T
            log.columns[kind] = {"time_s": 1e-6 * (table[0] - begin_us), **dict(zip(names, table[1:], strict=True))}
    log.reports = _reports(log, np.array(reports).reshape(-1, 3).T, begin_us)
    return log


def _numbers(event: Mapping[str, object], names: Iterable[str]) -> list[float]:
    found = []
    for name in names:
        value = event.get(name)
        if isinstance(value, bool):
            value = int(value)
        if name == "in_charge":
            value = int(value == "weir")
        if name == "state":
            value = _STATES.index(value) if value in _STATES else 1
        checked = number(value)
        found.append(np.nan if checked is None else checked)
    return found


def _reports(log: EventLog, table: Array, begin_us: float) -> dict[str, Array]:
    if "sent" not in log.columns or not table.size:
        return {name: np.empty(0) for name in ("time_s", "sent_s", "size_bytes", "received_s")}
    sent = log.columns["sent"]
    known = np.isfinite(sent["id"])
    order = np.argsort(sent["id"][known], kind="stable")
    identifiers = sent["id"][known][order]
    if not len(identifiers):
        return _reports(log, np.empty((3, 0)), begin_us)
    place = np.clip(np.searchsorted(identifiers, table[1]), 0, len(identifiers) - 1)
    found = identifiers[place] == table[1]
    row = order[place[found]]
    return {
        "time_s": 1e-6 * (table[0][found] - begin_us),
        "sent_s": sent["time_s"][known][row],
        "size_bytes": sent["size_bytes"][known][row],
        "received_s": 1e-6 * (table[2][found] - begin_us),
    }
