"""Display names of a connection's streams, shared by sentences, charts and tables."""

from __future__ import annotations

from collections import Counter

from weir_eval.webrtc_stats import StatsReports


def stream_names(reports: StatsReports) -> dict[str, str]:
    """Names by ID, such as "video in", with a number if there are several."""
    names = {}
    for kind_of_object, direction in (("outbound-rtp", "out"), ("inbound-rtp", "in")):
        streams = reports.of(kind_of_object)
        counts = Counter(stream.kind for stream in streams)
        seen: Counter[str] = Counter()
        for stream in streams:
            seen[stream.kind] += 1
            number = f" {seen[stream.kind]}" if counts[stream.kind] > 1 else ""
            names[stream.id] = f"{stream.kind or 'media'} {direction}{number}"
    return names
