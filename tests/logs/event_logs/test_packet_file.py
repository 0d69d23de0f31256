"""Recordings of RTP: rtpdump, pcap and pcapng, read right or refused with one message."""

import json
import struct
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_packets import ABS_SEND_TIME, pcap, pcapng, rtp, rtpdump, stream

from weir_cli.errors import InputError
from weir_logs.event_logs import packet_file
from weir_logs.event_logs.packet_file import is_packet_file, read_packet_file
from weir_logs.event_logs.whatif import read_recording

PACKETS = stream(duration_s=20)


@pytest.fixture
def written(tmp_path):
    def write(content):
        path = tmp_path / "recording"
        path.write_bytes(content)
        return path

    return write


@pytest.mark.parametrize(
    "content",
    [rtpdump(PACKETS), pcap(PACKETS), pcap(PACKETS, order=">"), pcap(PACKETS, link=101), pcapng(PACKETS),
     pcapng(PACKETS, order=">", resolution=9), pcapng(PACKETS, link=101, resolution=0x80 | 20, offset_s=-50)],
    ids=["rtpdump", "pcap", "big-endian", "raw-ip", "pcapng", "pcapng-ns", "pcapng-offset"],
)  # fmt: skip
def test_a_recording_is_read(written, content):
    path = written(content)
    assert is_packet_file(path)
    found = read_packet_file(path)
    assert found.abs_send_time_id == ABS_SEND_TIME
    packets = list(found.packets())
    assert len(found) == len(packets) == len(PACKETS)
    assert [packet.sequence_number for packet in packets] == [(65_000 + n) & 0xFFFF for n in range(len(PACKETS))]
    assert {packet.payload_bytes for packet in packets} == {1000}
    times_us = [packet.time_us for packet in packets]
    assert times_us == pytest.approx([1e6 * time_s for time_s, _ in PACKETS], abs=1000)
    assert found.span_us() == (times_us[0], times_us[-1])
    events = [json.loads(packet.event_line()) for packet in packets]
    # 64 s after 0 the clock of 24 bits wraps.
    assert max(event["abs_send_time"] for event in events) > 0.99 * (1 << 24)
    assert events[-1]["abs_send_time"] < events[0]["abs_send_time"]


def test_the_largest_stream_of_addresses_is_taken(written):
    found = read_packet_file(written(pcap(PACKETS, other=PACKETS[::5])))
    assert len(found) == len(PACKETS)
    assert found.left_out == len(PACKETS[::5])


def test_an_extension_that_does_not_advance_is_not_abs_send_time(written):
    packets = [(0.01 * n, rtp(n, 0.0, extensions=bytes([5 << 4 | 2, 0, 0, 9]))) for n in range(300)]
    assert read_packet_file(written(rtpdump(packets))).abs_send_time_id is None


def test_padding_and_csrcs_are_no_payload(written):
    packet = bytearray(rtp(1, 50.0, payload_bytes=100))
    packet[0] |= 0x20
    packet[-1] = 40
    (found,) = read_packet_file(written(rtpdump([(0.0, bytes(packet))]))).packets()
    assert (found.payload_bytes, found.padding_bytes) == (60, 40)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"#!rtpplay1.0 ", "without its header"),
        (pcap([]), "no RTP"),
        (pcap(PACKETS, link=105), "link type 105"),
        (b"\x0a\x0d\x0d\x0a" + bytes(100), "no RTP"),
        (pcapng(PACKETS, link=105), "link type 105"),
        (
            pcapng(PACKETS, offset_s=0).replace(struct.pack("<HHq", 14, 8, 0), struct.pack("<HHq", 14, 8, 1 << 50)),
            "since 1970",
        ),
        (b"some text", "neither"),
    ],
)
def test_what_cannot_be_read_is_one_message(written, content, fault):
    with pytest.raises(InputError, match=fault):
        read_packet_file(written(content))


def peak_bytes(path):
    tracemalloc.start()
    try:
        recording = read_recording(path)
        assert len(recording.log.of("received", "payload_bytes")[0]) > 0
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def two_byte_extensions(number):
    """An RTP packet of 1300 bytes with 255 extensions of three bytes, of which one advances."""
    stamp = int(0.001 * number * (1 << 18)) & 0xFFFFFF
    values = {7: stamp.to_bytes(3, "big")}
    data = b"".join(bytes([key, 3]) + values.get(key, bytes(3)) for key in range(1, 256))
    data += bytes(-len(data) % 4)
    header = struct.pack(">BBHII", 0x90, 96, number & 0xFFFF, 90 * number, 1)
    return header + struct.pack(">HH", 0x1000, len(data) // 4) + data


def test_memory_does_not_grow_with_the_size_of_packets(written):
    count = 600
    path = written(pcap([(0.001 * number, two_byte_extensions(number)) for number in range(count)]))
    assert read_packet_file(path).abs_send_time_id == 7
    # As lists of parsed packets and lines, they took 15 times the file.
    assert peak_bytes(path) < path.stat().st_size


def test_memory_of_small_packets_is_a_small_constant_for_each(written):
    def peak(count):
        packet = rtp(1, 0.0, payload_bytes=0, extensions=b"")
        return peak_bytes(written(pcap([(0.001 * number, packet) for number in range(count)], link=101)))

    peak(200)
    # Numbers of 32 bytes for the recording and of 32 for the log, their order, and what growing arrays reserve.
    assert (peak(6000) - peak(2000)) / 4000 < 200


def test_a_capture_of_very_many_addresses_is_refused(written, monkeypatch):
    monkeypatch.setattr(packet_file, "_MOST_ADDRESSES", 1)
    with pytest.raises(InputError, match="between over 1 addresses; filter the capture"):
        read_packet_file(written(pcap(PACKETS[:9], other=PACKETS[:9])))


def test_a_packet_longer_than_any_capture_has_ends_it(written):
    content = pcap(PACKETS[:5]) + struct.pack("<IIII", 60, 0, 1 << 31, 1 << 31) + bytes(100)
    assert len(read_packet_file(written(content))) == 5


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from([rtpdump(PACKETS[:40]), pcap(PACKETS[:40]), pcap(PACKETS[:40], link=101), pcapng(PACKETS[:40])]),
    st.lists(st.tuples(st.integers(0, 1 << 16), st.binary(min_size=1, max_size=8)), max_size=30),
    st.integers(0, 1 << 16),
)
def test_mutated_recordings_are_read_or_refused(tmp_path_factory, content, changes, cut):
    data = bytearray(content)
    for place, value in changes:
        place %= len(data)
        data[place : place + len(value)] = value
    path = tmp_path_factory.mktemp("mutated") / "recording"
    path.write_bytes(bytes(data[: len(data) - cut % len(data)]))
    try:
        found = read_packet_file(path)
    except InputError:
        return
    for packet in found.packets():
        assert 12 <= packet.header_bytes <= 65_535
        assert 0 <= packet.payload_bytes <= 65_535
        assert 0 <= packet.padding_bytes <= 255
