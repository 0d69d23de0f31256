"""Recordings of RTP: rtpdump and pcap, read right or refused with one message."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_packets import ABS_SEND_TIME, pcap, rtp, rtpdump, stream

from weir_cli.errors import InputError
from weir_logs.event_logs.packet_file import is_packet_file, read_packet_file

PACKETS = stream(duration_s=20)


@pytest.fixture
def written(tmp_path):
    def write(content):
        path = tmp_path / "recording"
        path.write_bytes(content)
        return path

    return write


@pytest.mark.parametrize(
    "content", [rtpdump(PACKETS), pcap(PACKETS), pcap(PACKETS, order=">"), pcap(PACKETS, link=101)],
    ids=["rtpdump", "pcap", "big-endian", "raw-ip"],
)  # fmt: skip
def test_a_recording_is_read(written, content):
    path = written(content)
    assert is_packet_file(path)
    found = read_packet_file(path)
    assert found.abs_send_time_id == ABS_SEND_TIME
    assert len(found.packets) == len(PACKETS)
    assert [packet.sequence_number for packet in found.packets] == [(65_000 + n) & 0xFFFF for n in range(len(PACKETS))]
    assert {packet.payload_bytes for packet in found.packets} == {1000}
    events = [json.loads(line) for line in found.event_lines().splitlines()]
    # 64 s after 0 the clock of 24 bits wraps.
    assert max(event["abs_send_time"] for event in events) > 0.99 * (1 << 24)
    assert events[-1]["abs_send_time"] < events[0]["abs_send_time"]


def test_the_largest_stream_of_addresses_is_taken(written):
    found = read_packet_file(written(pcap(PACKETS, other=PACKETS[::5])))
    assert len(found.packets) == len(PACKETS)
    assert found.left_out == len(PACKETS[::5])


def test_an_extension_that_does_not_advance_is_not_abs_send_time(written):
    packets = [(0.01 * n, rtp(n, 0.0, extensions=bytes([5 << 4 | 2, 0, 0, 9]))) for n in range(300)]
    assert read_packet_file(written(rtpdump(packets))).abs_send_time_id is None


def test_padding_and_csrcs_are_no_payload(written):
    packet = bytearray(rtp(1, 50.0, payload_bytes=100))
    packet[0] |= 0x20
    packet[-1] = 40
    found = read_packet_file(written(rtpdump([(0.0, bytes(packet))]))).packets[0]
    assert (found.payload_bytes, found.padding_bytes) == (60, 40)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"#!rtpplay1.0 ", "without its header"),
        (pcap([]), "no RTP"),
        (pcap(PACKETS, link=105), "link type 105"),
        (b"\x0a\x0d\x0d\x0a" + bytes(100), "editcap"),
        (b"some text", "neither"),
    ],
)
def test_what_cannot_be_read_is_one_message(written, content, fault):
    with pytest.raises(InputError, match=fault):
        read_packet_file(written(content))


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from([rtpdump(PACKETS[:40]), pcap(PACKETS[:40]), pcap(PACKETS[:40], link=101)]),
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
    for packet in found.packets:
        assert 12 <= packet.header_bytes <= 65_535
        assert 0 <= packet.payload_bytes <= 65_535
        assert 0 <= packet.padding_bytes <= 255
