"""Which statistics objects of a dump belong together: streams, reports about them, and their senders."""

from __future__ import annotations

from collections.abc import Iterable

from weir.qoe_eval.call.webrtc_stats import StatsObject, StatsReports

ABSENT = StatsObject("", "")
"""In the place of an object that a dump does not have: without numbers and texts."""


def find_sender(
    stream: StatsObject, reports: StatsReports, everything: Iterable[StatsReports]
) -> tuple[StatsObject, StatsReports]:
    """The sending stream, of this or another connection of the dump, and its connection's reports; or empty ones."""
    if stream.type == "outbound-rtp":
        return stream, reports
    for one in everything:
        for found in one.of("outbound-rtp"):
            if stream.ssrc and found.ssrc == stream.ssrc:
                return found, one
    return ABSENT, StatsReports()


def find_report(stream: StatsObject, reports: StatsReports) -> StatsObject:
    """The other end's report about an outgoing stream: by its SSRC, else any."""
    found = reports.of("remote-inbound-rtp") if stream.type == "outbound-rtp" else []
    return next((one for one in found if one.ssrc == stream.ssrc), next(iter(found), ABSENT))


def sent_streams(reports: StatsReports) -> dict[str, StatsObject]:
    """The outgoing stream of each remote-inbound-rtp report, by the report's id: by its SSRC, else by its kind."""
    of_ssrc: dict[str, StatsObject] = {}
    of_kind: dict[str, StatsObject] = {}
    for stream in reports.of("outbound-rtp"):
        of_ssrc.setdefault(stream.ssrc, stream)
        of_kind.setdefault(stream.kind, stream)
    found = {
        report.id: of_ssrc.get(report.ssrc) if report.ssrc in of_ssrc and report.ssrc else of_kind.get(report.kind)
        for report in reports.of("remote-inbound-rtp")
    }
    return {identifier: stream for identifier, stream in found.items() if stream is not None}
