"""Reads recordings of packets (rtpdump, pcap) as events for the estimator in open loop. Input is untrusted: its size is
bounded, and packets other than RTP are skipped.
"""

# Own code instead of dpkt 1.9.8, which takes twice the time and would shorten this file by a fifth. There nested IP
# headers raise RecursionError, a short MPLS frame IndexError, and a cut last packet counts as whole.
from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from weir_cli.errors import InputError
from weir_cli.files.input import open_file, printable, read_bytes
from weir_logs.event_logs.rtp_packet import RtpPacket, find_abs_send_time, parse_rtp

LARGEST_BYTES = 512 << 20
MOST_PACKETS = 2_000_000
_RTPDUMP = b"#!rtpplay1.0 "
_RTPDUMP_HEADER_BYTES = 16
_LONGEST_FIRST_LINE = 200
PCAPNG = b"\x0a\x0d\x0d\x0a"
# Byte order and ticks per second, by magic.
_PCAP = {
    b"\xd4\xc3\xb2\xa1": ("<", 1_000_000),
    b"\xa1\xb2\xc3\xd4": (">", 1_000_000),
    b"\x4d\x3c\xb2\xa1": ("<", 1_000_000_000),
    b"\xa1\xb2\x3c\x4d": (">", 1_000_000_000),
}
# Length of the link header and offset of its EtherType, by link type; -1: there is none, and IP follows.
_LINKS = {1: (14, 12), 113: (16, 14), 276: (20, 0), 0: (4, -1), 108: (4, -1), 12: (0, -1), 14: (0, -1), 101: (0, -1),
          228: (0, -1), 229: (0, -1)}  # fmt: skip
_VLANS = (0x8100, 0x88A8)
_IPV4, _IPV6 = 0x0800, 0x86DD
_UDP = 17
_UDP_HEADER_BYTES = 8


@dataclass(frozen=True)
class PacketRecording:
    """RTP packets from one sender address to one receiver address, in the order of arrival.

    Attributes:
        left_out: number of RTP packets of other addresses.
        abs_send_time_id: identifier of the header extension abs-send-time; None if there is none.
    """

    packets: list[RtpPacket]
    left_out: int
    abs_send_time_id: int | None

    def event_lines(self) -> bytes:
        """Events in the form that `weir-sim open-loop` reads."""
        return b"".join(
            json.dumps(one.event(self.abs_send_time_id), separators=(",", ":")).encode() + b"\n" for one in self.packets
        )


def is_packet_file(path: Path) -> bool:
    """True for a file that begins like an rtpdump or a capture; False also for pipes and unreadable files."""
    try:
        with open_file(path) as file:
            start = file.read(len(_RTPDUMP))
    except OSError:
        return False
    return start == _RTPDUMP or start[:4] in _PCAP or start[:4] == PCAPNG


def read_packet_file(path: Path, abs_send_time_id: int | None = None) -> PacketRecording:
    """Reads a recording. Detects the identifier of abs-send-time if it is None.

    Raises:
        InputError: the file cannot be read, has another format, or has no RTP.
    """
    source = printable(path)
    data = read_bytes(path, LARGEST_BYTES)
    if len(data) > LARGEST_BYTES:
        raise InputError(f"{source}: over {LARGEST_BYTES >> 20} MiB; give a shorter recording")
    if data.startswith(PCAPNG):
        raise InputError(f"{source}: pcapng; convert it: editcap -F pcap FILE.pcapng FILE.pcap")
    found = list(_rtpdump(data, source) if data.startswith(_RTPDUMP) else _pcap(data, source))
    sizes: Counter[bytes] = Counter()
    for address, packet in found:
        sizes[address] += packet.payload_bytes
    if not sizes:
        raise InputError(f"{source}: no RTP packets in it")
    largest = max(sizes, key=lambda one: sizes[one])
    packets = sorted((packet for address, packet in found if address == largest), key=lambda one: one.time_us)
    identifier = find_abs_send_time(packets) if abs_send_time_id is None else abs_send_time_id
    return PacketRecording(packets, len(found) - len(packets), identifier)


def _rtpdump(data: bytes, source: str) -> Iterator[tuple[bytes, RtpPacket]]:
    end = data.find(b"\n", 0, _LONGEST_FIRST_LINE)
    if end < 0 or len(data) < end + 1 + _RTPDUMP_HEADER_BYTES:
        raise InputError(f"{source}: an rtpdump without its header")
    place = end + 1 + _RTPDUMP_HEADER_BYTES
    count = 0
    while place + 8 <= len(data):
        length, packet_length, offset_ms = struct.unpack_from(">HHI", data, place)
        # `length` includes the header of 8 bytes; `packet_length` is 0 for RTCP.
        if length < 8 or place + length > len(data):
            break
        packet = parse_rtp(data[place + 8 : place + length], 1000 * offset_ms, packet_length) if packet_length else None
        if packet is not None:
            count = _next_count(count, source)
            yield b"", packet
        place += length


def _pcap(data: bytes, source: str) -> Iterator[tuple[bytes, RtpPacket]]:
    if data[:4] not in _PCAP or len(data) < 24:
        raise InputError(f"{source}: neither an rtpdump nor a capture (pcap)")
    order, ticks = _PCAP[data[:4]]
    link = struct.unpack_from(f"{order}I", data, 20)[0] & 0x0FFFFFFF
    if link not in _LINKS:
        raise InputError(f"{source}: a capture of link type {link}; those of Ethernet, Linux and IP are read")
    place, count = 24, 0
    while place + 16 <= len(data):
        seconds, fraction, captured = struct.unpack_from(f"{order}III", data, place)
        place += 16
        if place + captured > len(data):
            break
        found = _udp(data[place : place + captured], link)
        place += captured
        if found is None:
            continue
        address, payload, missing = found
        packet = parse_rtp(payload, 1_000_000 * seconds + fraction * 1_000_000 // ticks, len(payload) + missing)
        if packet is not None:
            count = _next_count(count, source)
            yield address, packet


def _next_count(count: int, source: str) -> int:
    if count >= MOST_PACKETS:
        raise InputError(f"{source}: over {MOST_PACKETS:,} RTP packets; give a shorter recording")
    return count + 1


def _udp(frame: bytes, link: int) -> tuple[bytes, bytes, int] | None:
    """Addresses and ports, the captured part of the payload, and the number of missing bytes; None if it is not UDP."""
    header, type_place = _LINKS[link]
    if len(frame) < header:
        return None
    if type_place >= 0:
        kind = int.from_bytes(frame[type_place : type_place + 2], "big")
        while kind in _VLANS and len(frame) >= header + 4:
            kind = int.from_bytes(frame[header + 2 : header + 4], "big")
            header += 4
        if kind not in (_IPV4, _IPV6):
            return None
    packet = frame[header:]
    version = packet[0] >> 4 if packet else 0
    if version == 4 and len(packet) >= 20:
        ip_bytes, is_whole = 4 * (packet[0] & 0x0F), int.from_bytes(packet[6:8], "big") & 0x3FFF == 0
        protocol, addresses = packet[9], packet[12:20]
    elif version == 6 and len(packet) >= 40:
        ip_bytes, is_whole, protocol, addresses = 40, True, packet[6], packet[8:40]
    else:
        return None
    if protocol != _UDP or not is_whole or ip_bytes < 20 or len(packet) < ip_bytes + _UDP_HEADER_BYTES:
        return None
    ports, length = packet[ip_bytes : ip_bytes + 4], int.from_bytes(packet[ip_bytes + 4 : ip_bytes + 6], "big")
    if length < _UDP_HEADER_BYTES:
        return None
    payload = packet[ip_bytes + _UDP_HEADER_BYTES : ip_bytes + length]
    return addresses + ports, payload, length - _UDP_HEADER_BYTES - len(payload)
