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
    found = [b"#!rtpplay1.0 127.0.0.1/5004\n" + bytes(16)]
    for arrival_s, packet in packets:
        found.append(struct.pack(">HHI", 8 + len(packet), len(packet), int(1000 * arrival_s)) + packet)
    return b"".join(found)


def frames(packets, link=1, other=()):
    """Pairs of arrival time in us and frame; `other`: packets to another port."""
    captured = sorted(
        [*((*packet, 5004) for packet in packets), *((*packet, 6000) for packet in other)], key=lambda entry: entry[0]
    )
    for arrival_s, packet, port in captured:
        udp = struct.pack(">HHHH", 4000, port, 8 + len(packet), 0) + packet
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, b"\x0a\0\0\1", b"\x0a\0\0\2") + udp
        yield int(1e6 * arrival_s), (bytes(12) + b"\x08\x00" if link == 1 else b"") + ip


def pcap(packets, order="<", link=1, other=()):
    """The bytes of a capture; `other`: pairs to another port."""
    found = [struct.pack(f"{order}IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, link)]
    for time_us, frame in frames(packets, link, other):
        found.append(struct.pack(f"{order}IIII", *divmod(time_us, 1_000_000), len(frame), len(frame)) + frame)
    return b"".join(found)


def pcapng(packets, order="<", link=1, resolution=None, offset_s=None):
    """The bytes of a capture of one interface: 10 to the power of minus `resolution` s, or 2 if its high bit is set."""

    def block(kind, body):
        body += bytes(-len(body) % 4)
        length = struct.pack(f"{order}I", 12 + len(body))
        return struct.pack(f"{order}I", kind) + length + body + length

    options, ticks = b"", 1_000_000
    if resolution is not None:
        ticks = 1 << (resolution & 0x7F) if resolution & 0x80 else 10**resolution
        options += struct.pack(f"{order}HHB3x", 9, 1, resolution)
    if offset_s is not None:
        options += struct.pack(f"{order}HHq", 14, 8, offset_s)
    found = [
        block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1)),
        block(1, struct.pack(f"{order}HHI", link, 0, 0) + options),
        block(4, bytes(4)),
    ]
    for time_us, frame in frames(packets, link):
        high, low = divmod((time_us - 1_000_000 * (offset_s or 0)) * ticks // 1_000_000, 1 << 32)
        found.append(block(6, struct.pack(f"{order}IIIII", 0, high, low, len(frame), len(frame)) + frame))
    return b"".join(found)
