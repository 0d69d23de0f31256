"""Reads recordings of packets (rtpdump, pcap, pcapng) as events for the estimator in open loop.

Input is untrusted: the file and its number of packets are bounded, and packets other than RTP are skipped. It is read
in several passes, so that the memory is 32 bytes per packet, whatever the packets contain.
"""

from __future__ import annotations

import struct
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np

from weir_cli.errors import InputError
from weir_cli.files.input import open_file, printable, why
from weir_logs.event_logs.abs_send_time import AbsSendTimeFinder, decode_abs_send_time
from weir_logs.event_logs.capture_file import PCAP, PCAPNG, captured_packets
from weir_logs.event_logs.rtp_packet import RtpPacket, parse_rtp
from weir_logs.event_logs.udp_packet import LINKS, udp_payload

LARGEST_BYTES = 512 << 20
MOST_PACKETS = 2_000_000
_MOST_ADDRESSES = 100_000
_RTPDUMP = b"#!rtpplay1.0 "
_RTPDUMP_HEADER_BYTES = 16
_LONGEST_FIRST_LINE = 200
# The numbers of a packet and their types, as in the module array.
_NUMBERS = {
    "time_us": "q", "ssrc": "I", "sequence_number": "H", "payload_type": "B", "rtp_timestamp": "I",
    "header_bytes": "I", "payload_bytes": "I", "padding_bytes": "B",
}  # fmt: skip
_NO_TIME = -1


@dataclass
class PacketRecording:
    """RTP packets from one sender address to one receiver address.

    Attributes:
        left_out: number of RTP packets of other addresses.
        abs_send_time_id: identifier of the header extension abs-send-time; None if there is none.
    """

    left_out: int = 0
    abs_send_time_id: int | None = None
    _numbers: dict[str, array[int]] = field(default_factory=lambda: {key: array(of) for key, of in _NUMBERS.items()})
    _abs_send_times: array[int] = field(default_factory=lambda: array("i"))

    def __len__(self) -> int:
        return len(self._abs_send_times)

    def append(self, packet: RtpPacket) -> None:
        """Adds a packet, without its extensions."""
        for name, numbers in self._numbers.items():
            numbers.append(getattr(packet, name))
        self._abs_send_times.append(_NO_TIME)

    def set_abs_send_time(self, index: int, value: int) -> None:
        """Adds the extension to a packet, in the order of `append`."""
        self._abs_send_times[index] = value

    def packets(self) -> Iterator[RtpPacket]:
        """The packets in the order of arrival."""
        for index in np.argsort(np.array(self._numbers["time_us"]), kind="stable"):
            sent = self._abs_send_times[index]
            values = {name: numbers[index] for name, numbers in self._numbers.items()}
            yield RtpPacket(**values, abs_send_time=None if sent == _NO_TIME else sent)

    def span_us(self) -> tuple[int, int]:
        """The times of the first and the last packet."""
        return min(self._numbers["time_us"]), max(self._numbers["time_us"])


def is_packet_file(path: Path) -> bool:
    """True for a file that begins like an rtpdump or a capture; False also for pipes and unreadable files."""
    start = _start(path)
    return start == _RTPDUMP or start[:4] in PCAP or start[:4] == PCAPNG


def is_gzip(path: Path) -> bool:
    """True for a compressed file; False also for pipes and unreadable files."""
    return _start(path).startswith(b"\x1f\x8b")


def _start(path: Path) -> bytes:
    try:
        with open_file(path) as file:
            return file.read(len(_RTPDUMP))
    except OSError:
        return b""


def read_packet_file(path: Path, abs_send_time_id: int | None = None) -> PacketRecording:
    """Reads a recording. Detects the identifier of abs-send-time if it is None.

    Raises:
        InputError: the file cannot be read, has another format, or has no RTP.
    """
    source = printable(path)
    try:
        with open_file(path) as file:
            if file.seek(0, 2) > LARGEST_BYTES:
                raise InputError(f"{source}: over {LARGEST_BYTES >> 20} MiB; give a shorter recording")
            return _read(file, source, abs_send_time_id)
    except OSError as error:
        raise InputError(f"{source}: cannot be read ({why(error)})") from None


def _read(file: BinaryIO, source: str, abs_send_time_id: int | None) -> PacketRecording:
    sizes: Counter[bytes] = Counter()
    for address, packet in _rtp_packets(file, source):
        sizes[address] += packet.payload_bytes
        if len(sizes) > _MOST_ADDRESSES:
            raise InputError(f"{source}: packets between over {_MOST_ADDRESSES:,} addresses; filter the capture")
    if not sizes:
        raise InputError(f"{source}: no RTP packets in it")
    largest = max(sizes, key=lambda address: sizes[address])
    recording, finder = PacketRecording(), AbsSendTimeFinder()
    for address, packet in _rtp_packets(file, source):
        if address != largest:
            recording.left_out += 1
            continue
        recording.append(packet)
        if abs_send_time_id is None:
            finder.add(packet)
    identifier = finder.identifier() if abs_send_time_id is None else abs_send_time_id
    recording.abs_send_time_id = identifier
    if identifier is None:
        return recording
    kept = (packet for address, packet in _rtp_packets(file, source) if address == largest)
    for index, packet in zip(range(len(recording)), kept, strict=False):
        sent = decode_abs_send_time(packet.extensions().get(identifier))
        if sent is not None:
            recording.set_abs_send_time(index, sent)
    return recording


def _rtp_packets(file: BinaryIO, source: str) -> Iterator[tuple[bytes, RtpPacket]]:
    """Addresses and packets, from the begin of the file."""
    file.seek(0)
    is_rtpdump = file.read(len(_RTPDUMP)) == _RTPDUMP
    file.seek(0)
    packets = _rtpdump(file, source) if is_rtpdump else _captured(file, source)
    for count, found in enumerate(packets):
        if count == MOST_PACKETS:
            raise InputError(f"{source}: over {MOST_PACKETS:,} RTP packets; give a shorter recording")
        yield found


def _rtpdump(file: BinaryIO, source: str) -> Iterator[tuple[bytes, RtpPacket]]:
    if not file.readline(_LONGEST_FIRST_LINE).endswith(b"\n") or len(file.read(_RTPDUMP_HEADER_BYTES)) < 16:
        raise InputError(f"{source}: an rtpdump without its header")
    while len(head := file.read(8)) == 8:
        length, packet_length, offset_ms = struct.unpack(">HHI", head)
        # `length` includes the header of 8 bytes; `packet_length` is 0 for RTCP.
        if length < 8 or len(data := file.read(length - 8)) < length - 8:
            return
        packet = parse_rtp(data, 1000 * offset_ms, packet_length) if packet_length else None
        if packet is not None:
            yield b"", packet


def _captured(file: BinaryIO, source: str) -> Iterator[tuple[bytes, RtpPacket]]:
    other_link: int | None = None
    is_known = False
    for link, time_us, frame in captured_packets(file, source):
        if link not in LINKS:
            other_link = link
            continue
        is_known = True
        found = udp_payload(frame, link)
        if found is None:
            continue
        address, payload, missing = found
        packet = parse_rtp(payload, time_us, len(payload) + missing)
        if packet is not None:
            yield address, packet
    if other_link is not None and not is_known:
        raise InputError(f"{source}: a capture of link type {other_link}; those of Ethernet, Linux and IP are read")
