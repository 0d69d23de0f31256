"""Reconstructs received packets from feedback, to run a receiver's estimator on a log without received packets.

Arrival times are shifted from the receiver's clock to that of the log, assuming that the fastest feedback took no time.
Lost packets are gaps in the sequence numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from weir_logs.event_logs.abs_send_time import encode_abs_send_time
from weir_logs.event_logs.event_log import EventLog
from weir_logs.event_logs.rtp_packet import RtpPacket

_RTP_HEADER_BYTES = 20
_VIDEO_CLOCK_HZ = 90_000
_PAYLOAD_TYPE = 96


def reported_packet_lines(log: EventLog) -> Iterator[bytes]:
    """Events in the form that `weir-sim open-loop` reads, in the order of arrival; none without feedback."""
    reports = log.reports
    if not reports or not len(reports["sent_s"]):
        return
    order = np.argsort(reports["sent_s"], kind="stable")
    sent_s, received_s, sizes = (reports[name][order] for name in ("sent_s", "received_s", "size_bytes"))
    to_log_s = log.begin_s + float(np.nanmin(reports["time_s"] - reports["received_s"], initial=np.inf))
    for index in np.argsort(received_s, kind="stable"):
        if not np.isfinite(received_s[index]):
            continue
        yield RtpPacket(
            time_us=round(1e6 * (received_s[index] + to_log_s)),
            ssrc=1,
            sequence_number=int(index) & 0xFFFF,
            payload_type=_PAYLOAD_TYPE,
            rtp_timestamp=round(_VIDEO_CLOCK_HZ * sent_s[index]) & 0xFFFFFFFF,
            header_bytes=_RTP_HEADER_BYTES,
            payload_bytes=max(int(sizes[index]) - _RTP_HEADER_BYTES, 1),
            padding_bytes=0,
            abs_send_time=encode_abs_send_time(sent_s[index]),
        ).event_line()
