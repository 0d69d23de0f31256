"""The header extension abs-send-time: its value, and its identifier, found in one pass by the values."""

from __future__ import annotations

from dataclasses import dataclass

from weir_logs.event_logs.rtp_packet import RtpPacket

_BYTES = 3
_PER_S = 1 << 18
_PERIOD_S = 64.0
# Largest difference of the time between two packets by the sender's clock and by arrival.
_MOST_DIFFERENCE_S = 1.0
_LEAST_AGREEING = 0.9
_LEAST_ADVANCES = 0.1


def encode_abs_send_time(time_s: float) -> int:
    """The extension's value for a time in s."""
    return round(_PER_S * time_s) & 0xFFFFFF


def decode_abs_send_time(value: bytes | None) -> int | None:
    """24 bits, 6.18 fixed-point seconds; None for a missing extension, and for those of another size."""
    return int.from_bytes(value, "big") if value is not None and len(value) == _BYTES else None


@dataclass
class _Candidate:
    """The values of an extension so far: the last one, and pairs that agree with the time of arrival."""

    last_us: int
    last: int
    count: int = 1
    pairs: int = 0
    agreeing: int = 0
    advancing: int = 0

    def add(self, time_us: int, sent: int) -> None:
        elapsed_s = 1e-6 * (time_us - self.last_us)
        sent_s = (sent - self.last) / _PER_S
        sent_s -= _PERIOD_S * round(sent_s / _PERIOD_S)
        if abs(elapsed_s) < _PERIOD_S / 2:
            self.pairs += 1
            self.agreeing += abs(sent_s - elapsed_s) < _MOST_DIFFERENCE_S
            self.advancing += sent_s > 0
        self.last_us, self.last, self.count = time_us, sent, self.count + 1

    def advances(self) -> bool:
        """True if the values advance with the time of arrival."""
        return (
            self.pairs > 0
            and self.agreeing >= _LEAST_AGREEING * self.pairs
            and self.advancing >= _LEAST_ADVANCES * self.pairs
        )


class AbsSendTimeFinder:
    """Finds the identifier of abs-send-time: the extension of three bytes that advances with the time of arrival."""

    def __init__(self) -> None:
        self._candidates: dict[int, _Candidate] = {}

    def add(self, packet: RtpPacket) -> None:
        """Takes the extensions of the next packet."""
        for identifier, value in packet.extensions().items():
            sent = decode_abs_send_time(value)
            if sent is None:
                continue
            if (candidate := self._candidates.get(identifier)) is None:
                self._candidates[identifier] = _Candidate(packet.time_us, sent)
            else:
                candidate.add(packet.time_us, sent)

    def identifier(self) -> int | None:
        """The identifier, of several that advance the most frequent; None if none does."""
        advancing = {key: one.count for key, one in self._candidates.items() if one.advances()}
        return max(advancing, key=lambda key: advancing[key], default=None)
