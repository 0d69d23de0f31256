"""Reads reports copied from Firefox's `about:webrtc`: one ("Copy Report"), or a connection's history."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from weir_eval.json_lines import number
from weir_logs.dumps.dump import DumpBuilder, DumpedConnection, StatsDump, short
from weir_logs.dumps.stats_names import standard_members

# In lower case, as older versions wrote RTP instead of Rtp.
_LISTS = {
    "inboundrtpstreamstats": "inbound-rtp", "outboundrtpstreamstats": "outbound-rtp",
    "remoteinboundrtpstreamstats": "remote-inbound-rtp", "remoteoutboundrtpstreamstats": "remote-outbound-rtp",
    "icecandidatepairstats": "candidate-pair", "codecstats": "codec", "mediasourcestats": "media-source",
}  # fmt: skip
_ID_OF_ESTIMATE = "estimate"


def is_firefox(data: Any) -> bool:
    """True for one report, a history, or a list of reports."""
    return any(True for _ in _reports(data))


def parse_firefox(data: Any, source: str) -> StatsDump:
    """The connections of the reports, each in the order of time.

    Raises:
        InputError: the reports have too many values.
    """
    builder = DumpBuilder("about:webrtc", source)
    builder.user_agent = "Firefox"
    for report in sorted(_reports(data), key=lambda report: number(report.get("timestamp")) or 0.0):
        name = report["pcid"]
        found, url = re.search(r"id=(\d+)", name), re.search(r"url=([^)\s]+)", name)
        connection = builder.connection(name, found[1] if found else short(name), short(url[1] if url else ""))
        if connection is not None:
            _read_report(connection, report, builder)
    return builder.dump()


def _reports(data: Any) -> list[Mapping[str, Any]]:
    listed = data.get("reports", [data]) if isinstance(data, Mapping) else data
    known = [report for report in listed if isinstance(report, Mapping)] if isinstance(listed, list) else []
    return [report for report in known if isinstance(report.get("pcid"), str)]


def _read_report(connection: DumpedConnection, report: Mapping[str, Any], builder: DumpBuilder) -> None:
    of_all = number(report.get("timestamp"), lowest=0)
    for key, entries in report.items():
        kind_of_object = _LISTS.get(key.lower())
        for entry in entries if kind_of_object and isinstance(entries, list) else []:
            if not isinstance(entry, Mapping) or not isinstance(entry.get("id"), str):
                continue
            builder.take(len(entry))
            time_ms = number(entry.get("timestamp"), lowest=1) or of_all
            if time_ms is not None:
                members = standard_members(entry["id"], {**entry, "type": kind_of_object})
                connection.reports.add_object(time_ms / 1e3, entry["id"], members)
    estimates = report.get("bandwidthEstimations")
    if of_all is not None and isinstance(estimates, list) and estimates and isinstance(estimates[0], Mapping):
        estimate, rtt_ms = estimates[0], number(estimates[0].get("rttMs"), lowest=0)
        # Firefox labels these as bytes; they are libwebrtc's bits per second.
        members = {
            "type": "candidate-pair",
            "availableOutgoingBitrate": estimate.get("sendBandwidthBps"),
            "availableIncomingBitrate": estimate.get("receiveBandwidthBps"),
            "currentRoundTripTime": None if rtt_ms is None else rtt_ms / 1e3,
        }
        connection.reports.add_object(of_all / 1e3, _ID_OF_ESTIMATE, members)
