"""Weir in a custom receiver: feeds the shipped model the packets of four seconds, prints the rates of the REMBs.

python examples/python/example.py
"""

import sys
from typing import NamedTuple

import weir


class Packet(NamedTuple):
    """A packet from a socket."""

    arrival_us: int
    sequence_number: int
    abs_send_time: int


def received_packets() -> list[Packet]:
    """1,200 bytes every 4 ms, 25 ms after they were sent."""
    sent = range(0, 4_000_000, 4_000)
    return [Packet(us + 25_000, i, (us << 18) // 1_000_000 & 0xFFFFFF) for i, us in enumerate(sent)]


def send(_remb: bytes, estimate: weir.Estimate) -> None:
    """Stands for a socket."""
    print(f"{estimate.at_time_us} us: {estimate.target_rate_bps} bit/s, {estimate.reason}")


def main() -> None:
    """Prints a line for each REMB."""
    packets = received_packets()
    # README
    try:
        estimator = weir.BandwidthEstimator(weir.Model.shipped(), objective="latency")
    except OSError as error:
        sys.exit(f"no estimator: {error}")
    for packet in packets:
        estimator.on_packet(
            arrival_time_us=packet.arrival_us,
            ssrc=1,
            sequence_number=packet.sequence_number,
            abs_send_time=packet.abs_send_time,
            payload_bytes=1188,
        )
        if estimator.next_timeout_us > packet.arrival_us:
            continue  # in a call a timer calls, also without packets
        estimator.on_timeout(packet.arrival_us)  # returns the estimate when it has changed
        if estimator.remb_due:
            send(estimator.remb(sender_ssrc=2), estimator.latest)
    # README


if __name__ == "__main__":
    main()
