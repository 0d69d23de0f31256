"""Weir in a receiver of one's own: loads a model, hands it the packets of four seconds, prints what it would announce.

python examples/python/example.py trainer/models/weir.onnx
"""

import sys
from pathlib import Path
from typing import NamedTuple

import weir


class Packet(NamedTuple):
    """What a socket would give."""

    arrival_us: int
    sequence_number: int
    abs_send_time: int


def received_packets() -> list[Packet]:
    """1,200 bytes every 4 ms, 25 ms after they were sent."""
    sent = range(0, 4_000_000, 4_000)
    return [Packet(us + 25_000, i, (us << 18) // 1_000_000 & 0xFFFFFF) for i, us in enumerate(sent)]


def main() -> None:
    """Prints an estimate a line."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_file():
        print(f"usage: {sys.argv[0]} MODEL", file=sys.stderr)
        sys.exit(2)
    model = Path(sys.argv[1]).read_bytes()
    packets = received_packets()
    # README
    try:
        estimator = weir.BandwidthEstimator(model=model, objective="latency")
    except ValueError as error:
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
        if estimate := estimator.on_timeout(packet.arrival_us):  # the estimate has changed
            print(f"{estimate.at_time_us} us: {estimate.target_rate_bps} bit/s, {estimate.reason}")
    # README


if __name__ == "__main__":
    main()
