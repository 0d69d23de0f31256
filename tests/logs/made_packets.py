"""Recordings of RTP made by hand: a stream paced at a rate over a path of a capacity."""

import struct

ABS_SEND_TIME = 3


def rtp(number, sent_s, payload_bytes=1000, ssrc=7, extensions=None):
    """An RTP packet with abs-send-time, transport-wide sequence number and playout delay."""
    stamp = int(sent_s * (1 << 18)) & 0xFFFFFF
    if extensions is None:
        extensions = (
            bytes([ABS_SEND_TIME << 4 | 2]) + stamp.to_bytes(3, "big")
            + bytes([1 << 4 | 1]) + struct.pack(">H", number & 0xFFFF) + bytes([5 << 4 | 2, 0, 0, 0])
        )  # fmt: skip
    extensions += bytes(-len(extensions) % 4)
    header = struct.pack(">BBHII", 0x90, 96, number & 0xFFFF, int(sent_s * 90_000) & 0xFFFFFFFF, ssrc)
    return header + struct.pack(">HH", 0xBEDE, len(extensions) // 4) + extensions + bytes(payload_bytes)


def stream(duration_s=20.0, first=65_000, rate_bps=1_000_000, capacity_bps=None, start_s=50.0):
    """Pairs of arrival time in s and packet; sequence numbers and abs-send-time wrap on the way."""
    packets, free_s = [], 0.0
    interval_s = 8 * 1032 / rate_bps
    for index in range(int(duration_s / interval_s)):
        sent_s = start_s + index * interval_s
        packet = rtp(first + index, sent_s)
        free_s = max(free_s, sent_s) + (8 * len(packet) / capacity_bps if capacity_bps else 0.0)
        packets.append((free_s - start_s + 0.02, packet))
    return packets


def rtpdump(packets):
    """The bytes of an rtpdump file."""
    found = b"#!rtpplay1.0 127.0.0.1/5004\n" + bytes(16)
    for arrival_s, packet in packets:
        found += struct.pack(">HHI", 8 + len(packet), len(packet), int(1000 * arrival_s)) + packet
    return found


def pcap(packets, order="<", link=1, other=()):
    """The bytes of a capture; `other`: pairs to another port."""
    found = struct.pack(f"{order}IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, link)
    captured = sorted(
        [*((*packet, 5004) for packet in packets), *((*packet, 6000) for packet in other)], key=lambda entry: entry[0]
    )
    for arrival_s, packet, port in captured:
        udp = struct.pack(">HHHH", 4000, port, 8 + len(packet), 0) + packet
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, b"\x0a\0\0\1", b"\x0a\0\0\2") + udp
        frame = (bytes(12) + b"\x08\x00" if link == 1 else b"") + ip
        seconds, micros = divmod(int(1e6 * arrival_s), 1_000_000)
        found += struct.pack(f"{order}IIII", seconds, micros, len(frame), len(frame)) + frame
    return found
