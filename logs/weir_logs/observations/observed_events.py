"""The packets and the observations of an observed connection, as the events of an RTC event log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from weir_cli.errors import InputError
from weir_cli.files.input import printable
from weir_eval.json_lines import integer, read_objects
from weir_logs.event_logs.event_file import EventFile
from weir_logs.event_logs.event_log import parse_event_log
from weir_logs.event_logs.whatif import Recording
from weir_logs.observations.observation_log import MOST_LOG_LINES

_LATEST_US = 1 << 61
_LARGEST_ID = 10**15
_LARGEST_PACKET = 65535


def read_observed_events(path: Path) -> EventFile:
    """The events of a log, for `parse_event_log` and for `weir-sim open-loop`. Lines with wrong values are skipped.

    Raises:
        InputError: it cannot be read, is too large, or has no packets.
    """
    body = EventFile(map(_line, _events(path)))
    begin_us, end_us, sent = _LATEST_US, 0, False
    for text in body.lines():
        event = json.loads(text)
        begin_us, end_us = min(begin_us, event["time_us"]), max(end_us, event["time_us"])
        sent = sent or event["type"] == "sent"
    if not sent:
        raise InputError(
            f"{printable(path)}: has Weir's targets, which `weir report` shows, but no packets, which other "
            "controllers need; let the host log packets"
        )
    head = {"type": "log", "begin_us": begin_us, "end_us": end_us, "feedback": "transport-cc"}
    return EventFile(chain([_line(head)], body.lines()))


def read_observed_recording(path: Path) -> Recording:
    """Reads a log for `weir whatif`. Raises InputError as `read_observed_events`."""
    name, events = printable(path.name), read_observed_events(path)
    return Recording(name, events, parse_event_log(events.lines(), name))


def _line(event: dict[str, Any]) -> bytes:
    return json.dumps(event, separators=(",", ":")).encode() + b"\n"


def _events(path: Path) -> Iterator[dict[str, Any]]:
    for event in read_objects(path, MOST_LOG_LINES):
        time_us = integer(event.get("time_us"), _LATEST_US)
        if time_us is None:
            continue
        if event.get("type") == "observation":
            kept = {key: event.get(key) for key in ("other_bps", "weir_bps", "in_charge")}
            yield {"type": "observation", "time_us": time_us, **kept}
        elif event.get("type") == "sent":
            size, identifier = integer(event.get("size_bytes"), _LARGEST_PACKET), integer(event.get("id"), _LARGEST_ID)
            if size is not None and identifier is not None:
                audio = "audio" if event.get("kind") == "audio" else "video"
                yield {"type": "sent", "time_us": time_us, "size_bytes": size, "kind": audio, "id": identifier}
        elif event.get("type") == "feedback" and isinstance(event.get("packets"), list):
            packets = [_report(one) for one in event["packets"]]
            if None not in packets:
                yield {"type": "feedback", "time_us": time_us, "packets": packets}


def _report(report: Any) -> list[int | None] | None:
    """A pair of a packet's id and its time of arrival in us, which is None if it is reported lost; None for anything
    else.
    """
    if not isinstance(report, list) or len(report) != 2:
        return None
    identifier, received_us = integer(report[0], _LARGEST_ID), integer(report[1], _LATEST_US)
    if identifier is None or (received_us is None and report[1] is not None):
        return None
    return [identifier, received_us]
