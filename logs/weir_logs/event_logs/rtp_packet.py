"""Parses RTP packets of a recording as events for the estimator in open loop."""

# Own code instead of dpkt 1.9.8, which reads neither header extensions nor padding.
from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

_ONE_BYTE_PROFILE = 0xBEDE
_TWO_BYTE_PROFILE = 0x1000
_RTCP_TYPES = range(192, 224)
_ABS_SEND_TIME_BYTES = 3
_ABS_SEND_TIME_PER_S = 1 << 18
_ABS_SEND_TIME_PERIOD_S = 64.0
# Largest difference of the time between two packets by the sender's clock and by arrival.
_MOST_DIFFERENCE_S = 1.0
_LEAST_AGREEING = 0.9
_LEAST_ADVANCES = 0.1


@dataclass(frozen=True)
class RtpPacket:
    """An RTP packet (RFC 3550) and its header extensions (RFC 8285) by identifier; sizes in bytes."""

    time_us: int
    ssrc: int
    sequence_number: int
    payload_type: int
    rtp_timestamp: int
    header_bytes: int
    payload_bytes: int
    padding_bytes: int
    extensions: Mapping[int, bytes] = field(default_factory=dict)

    def event(self, abs_send_time_id: int | None) -> dict[str, int | str]:
        """The event `received` of weir-sim open-loop."""
        event: dict[str, int | str] = {
            "type": "received", "time_us": self.time_us, "ssrc": self.ssrc, "sequence_number": self.sequence_number,
            "payload_type": self.payload_type, "rtp_timestamp": self.rtp_timestamp, "header_bytes": self.header_bytes,
            "payload_bytes": self.payload_bytes, "padding_bytes": self.padding_bytes,
        }  # fmt: skip
        if (sent := self.abs_send_time(abs_send_time_id)) is not None:
            event["abs_send_time"] = sent
        return event

    def abs_send_time(self, identifier: int | None) -> int | None:
        """24 bits, 6.18 fixed-point seconds; None if the packet lacks it."""
        value = self.extensions.get(identifier) if identifier is not None else None
        return int.from_bytes(value, "big") if value is not None and len(value) == _ABS_SEND_TIME_BYTES else None


def encode_abs_send_time(time_s: float) -> bytes:
    """The extension's value for a time in s."""
    return (round(_ABS_SEND_TIME_PER_S * time_s) & 0xFFFFFF).to_bytes(_ABS_SEND_TIME_BYTES, "big")


def parse_rtp(data: bytes, time_us: int, length: int | None = None) -> RtpPacket | None:
    """Parses a packet; None for RTCP and other data. `length`: that of the whole packet, if `data` is truncated."""
    length = len(data) if length is None else max(length, len(data))
    if len(data) < 12 or data[0] >> 6 != 2 or data[1] in _RTCP_TYPES:
        return None
    header_bytes = 12 + 4 * (data[0] & 0x0F)
    extensions: dict[int, bytes] = {}
    if data[0] & 0x10:
        if len(data) < header_bytes + 4:
            return None
        profile, words = struct.unpack_from(">HH", data, header_bytes)
        first = header_bytes + 4
        header_bytes = first + 4 * words
        extensions = _extensions(profile, data[first:header_bytes])
    if header_bytes > length:
        return None
    padding_bytes = data[-1] if data[0] & 0x20 and len(data) == length else 0
    if padding_bytes > length - header_bytes:
        return None
    sequence_number, timestamp, ssrc = struct.unpack_from(">HII", data, 2)
    return RtpPacket(
        time_us, ssrc, sequence_number, data[1] & 0x7F, timestamp, header_bytes, length - header_bytes - padding_bytes,
        padding_bytes, extensions,
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


def find_abs_send_time(packets: Sequence[RtpPacket]) -> int | None:
    """The identifier of abs-send-time: the extension of three bytes that advances with the time of arrival."""
    candidates = Counter(
        identifier for one in packets for identifier, value in one.extensions.items() if len(value) == 3
    )
    for identifier, _ in candidates.most_common():
        agreeing = total = advancing = 0
        for elapsed_s, sent_s in _elapsed(packets, identifier):
            total += 1
            agreeing += abs(sent_s - elapsed_s) < _MOST_DIFFERENCE_S
            advancing += sent_s > 0
        if total and agreeing >= _LEAST_AGREEING * total and advancing >= _LEAST_ADVANCES * total:
            return identifier
    return None


def _elapsed(packets: Sequence[RtpPacket], identifier: int) -> Iterator[tuple[float, float]]:
    """The times between consecutive packets with the extension, by arrival and by the extension, in s, below 32 s."""
    last: tuple[int, int] | None = None
    for one in packets:
        sent = one.abs_send_time(identifier)
        if sent is None:
            continue
        if last is not None:
            elapsed_s = 1e-6 * (one.time_us - last[0])
            sent_s = (sent - last[1]) / _ABS_SEND_TIME_PER_S
            sent_s -= _ABS_SEND_TIME_PERIOD_S * round(sent_s / _ABS_SEND_TIME_PERIOD_S)
            if abs(elapsed_s) < _ABS_SEND_TIME_PERIOD_S / 2:
                yield elapsed_s, sent_s
        last = (one.time_us, sent)
