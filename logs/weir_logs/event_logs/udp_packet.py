"""Takes UDP payloads out of the frames of a capture."""

# Own code instead of dpkt 1.9.8, where nested IP headers raise RecursionError, and a short MPLS frame IndexError.
from __future__ import annotations

# Length of the link header and offset of its EtherType, by link type; -1: there is none, and IP follows.
LINKS = {1: (14, 12), 113: (16, 14), 276: (20, 0), 0: (4, -1), 108: (4, -1), 12: (0, -1), 14: (0, -1), 101: (0, -1),
          228: (0, -1), 229: (0, -1)}  # fmt: skip
_VLANS = (0x8100, 0x88A8)
_IPV4, _IPV6 = 0x0800, 0x86DD
_UDP = 17
_UDP_HEADER_BYTES = 8


def udp_payload(frame: bytes, link: int) -> tuple[bytes, bytes, int] | None:
    """Addresses and ports, the captured part of the payload, and the number of missing bytes; None if it is not UDP."""
    header, type_place = LINKS[link]
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
