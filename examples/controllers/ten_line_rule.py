"""The ten-line rule as a Python class: weir replay catalogue --controller ten_line_rule.py:Controller"""


class Controller:
    """Grows while the queue is short, falls below what arrives while it is not."""

    interval_us = 100_000

    def __init__(self, constraints):
        self.min_bps, self.max_bps = constraints["min_bps"], constraints["max_bps"]
        self.target_bps = constraints["start_bps"]
        self.packets, self.received_bytes, self.heard = [], [], False

    def on_packets(self, packets):
        """Receives the packets that have arrived since the last call."""
        self.packets = packets

    def on_timeout(self, now_us):
        """The target rate in bit/s."""
        size = sum(p["header_bytes"] + p["payload_bytes"] + p["padding_bytes"] for p in self.packets)
        self.received_bytes = [*self.received_bytes, size][-3:]
        received_bps = 8e6 * sum(self.received_bytes) / (len(self.received_bytes) * self.interval_us)
        if not self.packets:
            self.target_bps *= 0.6 if self.heard else 1
        elif (queue_us := min(p["queueing_delay_us"] for p in self.packets)) < 15_000:
            self.target_bps = min(1.1 * self.target_bps, 2 * received_bps + 50_000)
        else:
            self.target_bps = received_bps * max(0.3, 1 - (queue_us - 7_500) / 300_000)
        self.heard = self.heard or bool(self.packets)
        self.target_bps = min(max(self.target_bps, self.min_bps), self.max_bps)
        return self.target_bps
