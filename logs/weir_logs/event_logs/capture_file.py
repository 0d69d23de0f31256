"""Reads the packets of a capture, pcap or pcapng, one after the other: no more than one of them is in memory."""

# Own code instead of dpkt 1.9.8, which takes twice the time. There a cut last packet counts as whole.
from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

from weir_cli.errors import InputError

PCAPNG = b"\x0a\x0d\x0d\x0a"
# Byte order and ticks per second, by magic.
PCAP = {
    b"\xd4\xc3\xb2\xa1": ("<", 1_000_000),
    b"\xa1\xb2\xc3\xd4": (">", 1_000_000),
    b"\x4d\x3c\xb2\xa1": ("<", 1_000_000_000),
    b"\xa1\xb2\x3c\x4d": (">", 1_000_000_000),
}
# The largest snapshot length of capturing programs is 262,144 bytes.
_LARGEST_PACKET_BYTES = 1 << 19
_MOST_INTERFACES = 4096
_LATEST_US = 1 << 53
_SECTION, _INTERFACE, _OLD_PACKET, _PACKET = 0x0A0D0D0A, 1, 2, 6
_IF_TSRESOL, _IF_TSOFFSET = 9, 14

Captured = tuple[int, int, bytes]
"""The link type, the time in us, and the captured bytes of a packet."""


def captured_packets(file: BinaryIO, source: str) -> Iterator[Captured]:
    """The packets of a capture, from its begin to its end or to the first damage.

    Raises:
        InputError: it is no capture, or its times are absurd.
    """
    magic = file.read(4)
    file.seek(0)
    if magic == PCAPNG:
        return _pcapng(file, source)
    if magic in PCAP:
        return _pcap(file, source)
    raise InputError(f"{source}: neither an rtpdump nor a capture (pcap, pcapng)")


def _pcap(file: BinaryIO, source: str) -> Iterator[Captured]:
    head = file.read(24)
    if len(head) < 24:
        raise InputError(f"{source}: a capture without its header")
    order, ticks = PCAP[head[:4]]
    link = struct.unpack_from(f"{order}I", head, 20)[0] & 0x0FFFFFFF
    record = struct.Struct(f"{order}IIII")
    while len(head := file.read(record.size)) == record.size:
        seconds, fraction, captured, _ = record.unpack(head)
        if captured > _LARGEST_PACKET_BYTES or len(data := file.read(captured)) < captured:
            return
        yield link, 1_000_000 * seconds + fraction * 1_000_000 // ticks, data


def _pcapng(file: BinaryIO, source: str) -> Iterator[Captured]:
    """Blocks of the types Enhanced Packet and Packet (obsolete); those of Simple Packet have no times."""
    order = "<"
    interfaces: list[tuple[int, int, int]] = []
    while len(head := file.read(8)) == 8:
        if head[:4] == PCAPNG:
            magic = file.read(4)
            file.seek(-4, 1)
            order = ">" if magic == b"\x1a\x2b\x3c\x4d" else "<"
            interfaces = []
        kind, length = struct.unpack(f"{order}II", head)
        if length < 12 or length % 4:
            return
        if kind not in (_INTERFACE, _OLD_PACKET, _PACKET) or length > _LARGEST_PACKET_BYTES:
            file.seek(length - 8, 1)
            continue
        body = file.read(length - 8)
        if len(body) < length - 8:
            return
        if kind == _INTERFACE and length >= 20:
            if len(interfaces) == _MOST_INTERFACES:
                raise InputError(f"{source}: over {_MOST_INTERFACES} interfaces; filter the capture")
            interfaces.append(_interface(body[:-4], order))
        elif kind != _INTERFACE and length >= 32:
            index = struct.unpack_from(f"{order}{'I' if kind == _PACKET else 'H'}", body)[0]
            high, low, captured = struct.unpack_from(f"{order}III", body, 4)
            if index < len(interfaces) and captured <= length - 32:
                link, ticks, offset_s = interfaces[index]
                time_us = 1_000_000 * offset_s + (high << 32 | low) * 1_000_000 // ticks
                if not 0 <= time_us < _LATEST_US:
                    raise InputError(f"{source}: a packet at {time_us / 1e6:.4g} s since 1970; repair the capture")
                yield link, time_us, body[20 : 20 + captured]


def _interface(body: bytes, order: str) -> tuple[int, int, int]:
    """The link type, the ticks per second and the offset in s of an interface, from its description."""
    link, ticks, offset_s, place = struct.unpack_from(f"{order}H", body)[0], 1_000_000, 0, 8
    while place + 4 <= len(body):
        code, size = struct.unpack_from(f"{order}HH", body, place)
        value = body[place + 4 : place + 4 + size]
        if code == _IF_TSRESOL and len(value) == 1:
            ticks = 1 << (value[0] & 0x7F) if value[0] & 0x80 else 10 ** value[0]
        elif code == _IF_TSOFFSET and len(value) == 8:
            offset_s = struct.unpack(f"{order}q", value)[0]
        place += 4 + size + -size % 4
    return link, ticks, offset_s
