"""An estimator with the interface of AlphaRTC's challenge, from video's delay and loss.

In OpenNetLab's gym:

    PYTHONPATH=examples/opennetlab python examples/opennetlab/BandwidthEstimator.py catalogue/cellular-3m

In replays and calls:

    weir replay catalogue --controller examples/opennetlab/BandwidthEstimator.py:Estimator --out results
"""

import sys

import alphartc_gym
from alphartc_gym.utils.packet_info import PacketInfo
from alphartc_gym.utils.packet_record import PacketRecord

VIDEO = 126
STEP_MS = 200


class Estimator:
    """Reduces its rate under loss and while a queue waits; grows otherwise."""

    def __init__(self):
        self.record = PacketRecord()
        self.rate_bps = 300_000

    def report_states(self, stats):
        """Receives each packet, in order of arrival."""
        if stats["payload_type"] != VIDEO:
            return
        info = PacketInfo()
        info.payload_type = stats["payload_type"]
        info.ssrc = stats["ssrc"]
        info.sequence_number = stats["sequence_number"]
        info.send_timestamp = stats["send_time_ms"]
        info.receive_timestamp = stats["arrival_time_ms"]
        info.padding_length = stats["padding_length"]
        info.header_length = stats["header_length"]
        info.payload_size = stats["payload_size"]
        info.bandwidth_prediction = self.rate_bps
        self.record.on_receive(info)

    def get_estimated_bandwidth(self):
        """The rate in bit/s, each 200 ms."""
        received_bps = self.record.calculate_receiving_rate(STEP_MS)
        lowest_ms = self.record.min_seen_delay - self.record.base_delay_ms
        queue_ms = self.record.calculate_average_delay(STEP_MS) - lowest_ms
        loss = self.record.calculate_loss_ratio(STEP_MS)
        if not self.record.packet_num:
            self.rate_bps *= 0.8
        elif queue_ms > 40:
            self.rate_bps = 0.85 * received_bps
        elif loss > 0.1:
            self.rate_bps *= 1 - 0.5 * loss
        elif loss < 0.02:
            self.rate_bps = min(1.08 * self.rate_bps, 1.5 * received_bps + 50_000)
        self.rate_bps = min(max(self.rate_bps, 80_000), 20_000_000)
        self.record.clear()
        return int(self.rate_bps)


def run(trace="", duration_ms=60_000):
    """The packets of a run over a trace, as the gym returns them."""
    gym = alphartc_gym.Gym()
    gym.reset(trace_path=trace, report_interval_ms=STEP_MS, duration_time_ms=duration_ms)
    estimator, received, done = Estimator(), [], False
    while not done:
        packets, done = gym.step(estimator.get_estimated_bandwidth())
        for packet in packets:
            estimator.report_states(packet)
        received += packets
    return received


if __name__ == "__main__":
    packets = [packet for packet in run(*sys.argv[1:2]) if packet["payload_type"] == VIDEO]
    delays = sorted(packet["arrival_time_ms"] - packet["send_time_ms"] for packet in packets)
    seconds = packets[-1]["arrival_time_ms"] / 1000
    rate_kbps = 8e-3 * sum(packet["payload_size"] for packet in packets) / seconds
    median_ms, p95_ms = (delays[len(delays) * percent // 100] for percent in (50, 95))
    print(f"{seconds:.0f} s: {rate_kbps:.0f} kbps, one-way delay {median_ms:.0f} ms (median), {p95_ms:.0f} ms (p95)")
