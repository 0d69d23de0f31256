"""Parses RTP packets of a recording as events for the estimator in open loop."""

# Own code instead of dpkt 1.9.8, which reads neither header extensions nor padding.
from __future__ import annotations

import json
import struct
from dataclasses import dataclass

_ONE_BYTE_PROFILE = 0xBEDE
_TWO_BYTE_PROFILE = 0x1000
_RTCP_TYPES = range(192, 224)


@dataclass(frozen=True, slots=True)
class RtpPacket:
    """An RTP packet (RFC 3550); sizes in bytes.

    ``abs_send_time``: 24 bits, 6.18 fixed-point seconds; None if the packet lacks it, or before it is found among the
    header extensions. ``extension_data``: the header extensions as they are, of the kind ``extension_profile``.
    """

    time_us: int
    ssrc: int
    sequence_number: int
    payload_type: int
    rtp_timestamp: int
    header_bytes: int
    payload_bytes: int
    padding_bytes: int
    abs_send_time: int | None = None
    extension_profile: int = 0
    extension_data: bytes = b""

    def event_line(self) -> bytes:
        """The event `received` of weir-sim open-loop, as a line of JSON."""
        event: dict[str, int | str] = {
            "type": "received", "time_us": self.time_us, "ssrc": self.ssrc, "sequence_number": self.sequence_number,
            "payload_type": self.payload_type, "rtp_timestamp": self.rtp_timestamp, "header_bytes": self.header_bytes,
            "payload_bytes": self.payload_bytes, "padding_bytes": self.padding_bytes,
        }  # fmt: skip
        if self.abs_send_time is not None:
            event["abs_send_time"] = self.abs_send_time
        return json.dumps(event, separators=(",", ":")).encode() + b"\n"

    def extensions(self) -> dict[int, bytes]:
        """The header extensions by identifier (RFC 8285)."""
        return _extensions(self.extension_profile, self.extension_data)


def parse_rtp(data: bytes, time_us: int, length: int | None = None) -> RtpPacket | None:
    """Parses a packet; None for RTCP and other data. `length`: that of the whole packet, if `data` is truncated."""
    length = len(data) if length is None else max(length, len(data))
    if len(data) < 12 or data[0] >> 6 != 2 or data[1] in _RTCP_TYPES:
        return None
    header_bytes = 12 + 4 * (data[0] & 0x0F)
    profile, extension_data = 0, b""
    if data[0] & 0x10:
        if len(data) < header_bytes + 4:
            return None
        profile, words = struct.unpack_from(">HH", data, header_bytes)
        first = header_bytes + 4
        header_bytes = first + 4 * words
        extension_data = data[first:header_bytes]
    if header_bytes > length:
        return None
    padding_bytes = data[-1] if data[0] & 0x20 and len(data) == length else 0
    if padding_bytes > length - header_bytes:
        return None
    sequence_number, timestamp, ssrc = struct.unpack_from(">HII", data, 2)
    return RtpPacket(
        time_us, ssrc, sequence_number, data[1] & 0x7F, timestamp, header_bytes, length - header_bytes - padding_bytes,
        padding_bytes, None, profile, extension_data,
    )  # fmt: skip


def _extensions(profile: int, data: bytes) -> dict[int, bytes]:
    one_byte = profile == _ONE_BYTE_PROFILE
    if not one_byte and profile & 0xFFF0 != _TWO_BYTE_PROFILE:
        return {}
    found: dict[int, bytes] = {}
    place = 0
    while place < len(data):
        identifier = data[place] >> 4 if one_byte else data[place]
        if data[place] == 0:
            place += 1
            continue
        # Identifier 15 ends the extensions, RFC 8285 section 4.2.
        if (one_byte and identifier == 15) or (not one_byte and place + 1 >= len(data)):
            break
        size, begin = ((data[place] & 0x0F) + 1, place + 1) if one_byte else (data[place + 1], place + 2)
        value = data[begin : begin + size]
        if len(value) == size:
            found.setdefault(identifier, value)
        place = begin + size
    return found
