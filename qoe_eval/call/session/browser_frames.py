"""What a browser tells of the frames that it decoded, as lines of the index that a receiving weir-peer writes."""

from __future__ import annotations

from typing import Any

from weir.qoe_eval.call.logs.json_lines import integer, number
from weir.qoe_eval.call.media.received_frames import VIDEO_CLOCK_HZ
from weir.qoe_eval.call.processes.json_lines_process import Message

_HIGHEST_RTP_TIMESTAMP = 0xFFFFFFFF


class BrowserFrames:
    """Joins the frames of the page with the times of the sender's reports: a page knows no capture times. The pictures
    stay in the browser, so that there are neither frame numbers nor a recording.
    """

    def __init__(self) -> None:
        self._capture_time_us = 0
        self._rtp_timestamp: int | None = None

    def on_sender_report(self, message: Message) -> None:
        """`sender_report` of a weir-peer: what its RTP timestamp means on this machine's monotonic clock."""
        rtp_timestamp = integer(message.get("rtp_timestamp"), highest=_HIGHEST_RTP_TIMESTAMP)
        capture_time_us = integer(message.get("capture_time_us"))
        if rtp_timestamp is not None and capture_time_us is not None:
            self._rtp_timestamp, self._capture_time_us = rtp_timestamp, capture_time_us

    def lines(self, message: Message, clock_offset_us: int) -> list[dict[str, Any]]:
        """`frames` of the page, each a line; those without a time are passed over.

        Args:
            message: `frames` is a list of objects with `time_ms`, `rtp_timestamp`, `width` and `height`.
            clock_offset_us: monotonic time less the page's.
        """
        found = message.get("frames")
        return [
            {
                "frame_number": None,
                "capture_time_us": self._captured_us(frame.get("rtp_timestamp")),
                "render_time_us": round(1000 * time_ms) + clock_offset_us,
                "rtp_timestamp": frame.get("rtp_timestamp"),
                "width": frame.get("width"),
                "height": frame.get("height"),
                "written": False,
            }
            for frame in (found if isinstance(found, list) else [])
            if isinstance(frame, dict) and (time_ms := number(frame.get("time_ms"))) is not None
        ]

    def _captured_us(self, value: Any) -> int | None:
        rtp_timestamp = integer(value, highest=_HIGHEST_RTP_TIMESTAMP)
        if rtp_timestamp is None or self._rtp_timestamp is None:
            return None
        # Signed: a frame may be older than the report.
        ticks = (rtp_timestamp - self._rtp_timestamp + 0x80000000) % 0x100000000 - 0x80000000
        return self._capture_time_us + round(ticks * 1e6 / VIDEO_CLOCK_HZ)
