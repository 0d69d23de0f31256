"""Relates the statistics objects of a dump: streams, reports about them, and their senders."""

from __future__ import annotations

from collections.abc import Iterable

from weir_eval.webrtc_stats import StatsObject, StatsReports

ABSENT = StatsObject("", "")
"""Stands for an object that a dump does not have; it has no numbers and texts."""


def find_sender(
    stream: StatsObject, reports: StatsReports, all_reports: Iterable[StatsReports]
) -> tuple[StatsObject, StatsReports]:
    """The sending stream, in this or another connection of the dump, and that connection's reports; empty if absent."""
    if stream.type == "outbound-rtp":
        return stream, reports
    for candidate in all_reports:
        for found in candidate.of("outbound-rtp"):
            if stream.ssrc and found.ssrc == stream.ssrc:
                return found, candidate
    return ABSENT, StatsReports()


def find_report(stream: StatsObject, reports: StatsReports) -> StatsObject:
    """The remote endpoint's report about an outgoing stream: by SSRC, else any."""
    found = reports.of("remote-inbound-rtp") if stream.type == "outbound-rtp" else []
    return next((report for report in found if report.ssrc == stream.ssrc), next(iter(found), ABSENT))


def sent_streams(reports: StatsReports) -> dict[str, StatsObject]:
    """The outgoing stream of each remote-inbound-rtp report, by the report's ID; matched by SSRC, else by kind."""
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
