"""A received packet, as `PacketRecord` takes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class PacketInfo:
    """Fields of a received packet, which agents copy from the dict that a step returns; times in ms, sizes in bytes,
    `bandwidth_prediction` (the rate in force) in bit/s.
    """

    payload_type: Any = None
    sequence_number: Any = None  # 16 bits
    send_timestamp: Any = None
    ssrc: Any = None
    padding_length: Any = None
    header_length: Any = None
    receive_timestamp: Any = None
    payload_size: Any = None
    bandwidth_prediction: Any = None
