"""Statistics of received packets, with the methods of OpenNetLab's class of this name."""

from __future__ import annotations

from itertools import takewhile

from alphartc_gym.utils.packet_info import PacketInfo

_SEQUENCE_NUMBERS = 1 << 16


class PacketRecord:
    """Rate, delay and loss of the packets received lately, in order of arrival.

    An interval, in ms, ends with the latest packet: while nothing arrives, all values stay as they are. 0 is the time
    since `reset` or `clear`. Unlike in the original, sequence numbers may wrap.

    Attributes:
        packet_list: a dict for each packet since `reset` or `clear`: `timestamp` and `delay` in ms (the first packet's
            is the base delay), `payload_byte`, `loss_count` of its stream directly before it, `bandwidth_prediction`.
        min_seen_delay: lowest delay so far, ms.
    """

    def __init__(self, base_delay_ms: float = 200) -> None:
        self.base_delay_ms = base_delay_ms
        self.reset()

    def reset(self) -> None:
        """Forgets everything: another run begins."""
        self.packet_list: list[dict[str, float]] = []
        self.min_seen_delay = self.base_delay_ms
        # The latest of each SSRC.
        self._last_numbers: dict[int, int] = {}
        self._offset_ms: float | None = None
        # Arrival of the latest packet before those of the list.
        self._begin_ms: float | None = None

    def clear(self) -> None:
        """Forgets the packets; the run goes on."""
        if self.packet_list:
            self._begin_ms = self.packet_list[-1]["timestamp"]
        self.packet_list = []

    @property
    def packet_num(self) -> int:
        """Packets since `reset` or `clear`."""
        return len(self.packet_list)

    def on_receive(self, packet_info: PacketInfo) -> None:
        """Adds a packet; all its fields but the payload type must be set."""
        one_way_ms = packet_info.receive_timestamp - packet_info.send_timestamp
        if self._offset_ms is None:
            self._offset_ms = self.base_delay_ms - one_way_ms
        delay_ms = one_way_ms + self._offset_ms
        self.min_seen_delay = min(self.min_seen_delay, delay_ms)
        self.packet_list.append(
            {
                "timestamp": packet_info.receive_timestamp,
                "delay": delay_ms,
                "payload_byte": packet_info.payload_size,
                "loss_count": self._lost_before(packet_info.ssrc, packet_info.sequence_number),
                "bandwidth_prediction": packet_info.bandwidth_prediction,
            }
        )

    def calculate_average_delay(self, interval: float = 0) -> float:
        """Mean delay above the base delay, ms; 0 without packets."""
        delays_ms = self._latest("delay", interval)
        return sum(delays_ms) / len(delays_ms) - self.base_delay_ms if delays_ms else 0.0

    def calculate_loss_ratio(self, interval: float = 0) -> float:
        """Lost of sent packets, 0 to 1; 0 without packets."""
        losses = self._latest("loss_count", interval)
        return sum(losses) / (sum(losses) + len(losses)) if losses else 0.0

    def calculate_receiving_rate(self, interval: float = 0) -> float:
        """Rate of payloads, bit/s; 0 without packets."""
        sizes = self._latest("payload_byte", interval)
        if not sizes:
            return 0.0
        begin_ms = self.packet_list[0]["timestamp"] if self._begin_ms is None else self._begin_ms
        duration_ms = interval or self.packet_list[-1]["timestamp"] - begin_ms
        return 8000 * sum(sizes) / duration_ms if duration_ms > 0 else 0.0

    def calculate_latest_prediction(self) -> float:
        """The latest packet's `bandwidth_prediction`; 0 without packets."""
        return self.packet_list[-1]["bandwidth_prediction"] if self.packet_list else 0.0

    def _latest(self, field: str, interval_ms: float) -> list[float]:
        """A field of the packets of the interval, the latest first."""
        if not self.packet_list or not interval_ms:
            return [packet[field] for packet in self.packet_list]
        begin_ms = self.packet_list[-1]["timestamp"] - interval_ms
        latest = takewhile(lambda packet: packet["timestamp"] > begin_ms, reversed(self.packet_list))
        return [packet[field] for packet in latest]

    def _lost_before(self, ssrc: int, number: int) -> int:
        ahead = (number - self._last_numbers.get(ssrc, number - 1)) % _SEQUENCE_NUMBERS
        if ahead >= _SEQUENCE_NUMBERS // 2:
            return 0
        self._last_numbers[ssrc] = number
        return max(ahead - 1, 0)
