"""Dumps of browsers. Those in tests/data/dumps are Chromium 156's own, of two loopback connections: after 9 s the
video's maxBitrate went down to 250 kbps, after 17 s up again, with the page busy for 1.5 s between. Addresses are
redacted.
"""

import gzip
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from html_page import check, data_of

from weir_cli.errors import InputError
from weir_logs.dumps import dump as dump_module
from weir_logs.dumps import dump_file as dump_reader
from weir_logs.dumps import dump_report
from weir_logs.dumps.dump_file import read_dump
from weir_logs.dumps.verdict import find_verdicts

DATA = Path(__file__).parents[1] / "data" / "dumps"
MEMBER = {"startTime": "2026-01-01T00:00:00Z", "endTime": "2026-01-01T00:00:03Z", "statsType": "inbound-rtp"}
INTERNALS, RTCSTATS = DATA / "chromium-156.webrtc-internals.gz", DATA / "chromium-156.rtcstats.gz"


def internals():
    return json.loads(gzip.decompress(INTERNALS.read_bytes()))


def render_dump(dump):
    return dump_report.render_dump(dump, find_verdicts(dump.connections))


def save(tmp_path, content, name="dump.json"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def save_rtcstats(tmp_path, *events):
    """Events are JSON, or already text."""
    texts = (event if isinstance(event, str) else json.dumps(event) for event in events)
    return save(tmp_path, "\n".join(["RTCStatsDump", '{"fileFormat":3}', *texts]).encode())


def series(dump, connection, kind, name):
    (stream,) = dump.connections[connection].reports.of(kind, "video")
    return stream.series(name)


@pytest.mark.parametrize("path", [INTERNALS, RTCSTATS])
def test_a_real_dump(path):
    dump = read_dump(path)
    assert "156" in dump.user_agent
    assert [connection.url for connection in dump.connections] == ["http://localhost/call.html"] * 2
    times, targets = series(dump, 0, "outbound-rtp", "targetBitrate")
    seconds = times - times[0]
    assert np.all(targets[(seconds > 10) & (seconds < 16)] == pytest.approx(250_000, rel=0.2))
    assert targets[-1] == 1_500_000
    assert dump.connections[0].reports.selected_pair().series("availableOutgoingBitrate")[1].min() > 3e6
    assert series(dump, 1, "inbound-rtp", "totalFreezesDuration")[1][-1] == pytest.approx(0.75, abs=0.05)


def test_both_formats_have_equal_content():
    first, second = read_dump(INTERNALS), read_dump(RTCSTATS)
    compared = 0
    for a, b in zip(first.connections, second.connections, strict=True):
        for identifier, stats in a.reports.objects.items():
            for name in stats.numbers:
                (times, values), (other_times, other) = stats.series(name), b.reports.objects[identifier].series(name)
                count = min(len(values), len(other))
                assert np.allclose(values[:count], other[:count])
                assert np.allclose(times[:count], other_times[:count])
                compared += count
    assert compared > 1000


def test_an_older_dump_has_only_first_and_last_times(tmp_path):
    data = internals()
    for connection in data["PeerConnections"].values():
        connection["stats"] = {k: v for k, v in connection["stats"].items() if not k.endswith("-timestamp")}
    older, newer = read_dump(save(tmp_path, data)), read_dump(INTERNALS)
    times, targets = series(older, 0, "outbound-rtp", "targetBitrate")
    new_times, new_targets = series(newer, 0, "outbound-rtp", "targetBitrate")
    assert set(targets) == set(new_targets)
    assert (times[0], times[-1]) == (pytest.approx(new_times[0], abs=0.01), pytest.approx(new_times[-1], abs=0.01))
    assert np.ptp(np.diff(times)) == pytest.approx(0, abs=1e-6)
    # One report came twice, with the same time: without times, that cannot be seen.
    assert len(times) - len(new_times) in (0, 1, 2)


def test_a_member_that_appeared_later_has_the_last_times(tmp_path):
    member = {"startTime": "2026-01-01T00:00:02Z", "endTime": "2026-01-01T00:00:03Z", "statsType": "inbound-rtp"}
    stats = {
        "I1-bytesReceived": member | {"values": "[5,6]"},
        "I1-timestamp": member | {"values": "[1000,2000,3000,4000]"},
        "I1-jitter": member | {"values": [0.5, 0.25]},
        "I1-kind": member | {"values": '["video","video"]'},
    }
    dump = read_dump(save(tmp_path, {"PeerConnections": {"1": {"stats": stats}}}))
    assert [found.tolist() for found in series(dump, 0, "inbound-rtp", "bytesReceived")] == [[3, 4], [5, 6]]
    assert series(dump, 0, "inbound-rtp", "jitter")[1].tolist() == [0.5, 0.25]


def test_a_compressed_rtcstats_file_is_the_same_as_a_full_one(tmp_path):
    """As a page with rtcstats-js writes it: numbers for names, only what changed, one time for all objects."""

    first = {
        "t": 10_000,
        "1": {"type": 2, "11": "video", "80": 100, "79": 1, "12": "2", "10": 77, "95": "none"},
        "2": {"type": 14, "6": "video/VP8"},
    }
    second = {"t": 11_000, "1": {"80": 225, "95": "bandwidth", "t": 11_500}}
    events = [
        ["create", "7", {}, 9_000], ["g", "7", first, 1_000], ["g", "7", second, 1_000],
        ["g", "7", {"t": 12_000}, 1_000], ["g", "7", {"t": 13_000, "1": None}, 1_000], ["close", "7", None, 5],
    ]  # fmt: skip
    dump = read_dump(save_rtcstats(tmp_path, *events))
    times, sent = series(dump, 0, "outbound-rtp", "bytesSent")
    assert (times.tolist(), sent.tolist()) == ([10, 11.5, 12], [100, 225, 225])
    (stream,) = dump.connections[0].reports.of("outbound-rtp")
    assert stream.ssrc == "77"
    assert stream.texts["qualityLimitationReason"] == ([10, 11.5], ["none", "bandwidth"])
    assert "VP8" in render_dump(dump)
    # The ID of an only connection is no title.
    words = " ".join(" ".join(check(render_dump(dump)).text).split())
    assert "Peer connection" in words
    assert "Peer connection 7" not in words
    assert " 7 " not in words[: words.index("Codec")]


def test_the_page_of_a_dump():
    text = render_dump(read_dump(INTERNALS))
    checker = check(text)
    assert [name for name in checker.ids if name.startswith("connection-")] == ["connection-0", "connection-1"]
    assert all(link.startswith("#") for link in checker.links)
    words = " ".join(" ".join(checker.text).split())
    assert "2 peer connections of a webrtc-internals dump." in words
    assert "640x360" in words
    assert "Peer connection 8-2" in words
    # The connection that froze is the first.
    receiver, sender = data_of(text)["charts"]
    assert (receiver["name"], sender["name"]) == ("8-2", "8-1")
    assert "3 freezes of incoming video, 0.8 s in all; 8-2 froze first, 9.2 s after its start." in words
    assert [len(chart["spans"]) for chart in (receiver, sender)] == [3, 3]
    rows = {row["title"]: [line["name"] for line in row["lines"]] for row in sender["rows"]}
    of_both = ["Rate, kbps", "Round trip, ms", "Jitter, ms", "Lost, %", "Frames per s", "Codec, ms a frame"]
    assert list(rows) == [*of_both, "Limited by"]
    assert rows["Rate, kbps"] == [
        "connection, available outgoing",
        "audio out, sent",
        "video out, sent",
        "video out, target",
    ]
    assert [row["title"] for row in receiver["rows"]] == [*of_both, "Frozen, s"]
    # The page explains its lines.
    assert "dashed, in the row of rates, is the target that its encoder was given" in words
    assert "connection is the transport that all streams share" in words
    assert sender["duration_s"] == pytest.approx(25, abs=2)
    groups = {line["group"] for row in sender["rows"] for line in row["lines"]}
    assert groups == {"connection", "video out", "audio out"}


def test_reports_of_the_other_end_belong_to_their_stream(tmp_path):
    """Each simulcast layer has its own loss; by SSRC, not by order."""
    streams = {
        str(n): {"type": "outbound-rtp", "kind": "video", "ssrc": n, "bytesSent": 1000 * n, "packetsSent": 100}
        for n in (1, 2)
    }
    remote = {
        f"R{n}": {"type": "remote-inbound-rtp", "kind": "video", "ssrc": n, "packetsLost": 10 * n} for n in (2, 1)
    }
    none = {f"R{n}": {"type": "remote-inbound-rtp", "kind": "video", "ssrc": n, "packetsLost": 0} for n in (2, 1)}
    for stream in streams.values():
        stream["packetsSent"] = 0
    later = {key: stream | {"packetsSent": 100} for key, stream in streams.items()}
    reports = (none | streams, remote | later)
    dump = read_dump(save_rtcstats(tmp_path, *(["getStats", "1", report, 1000] for report in reports)))
    words = " ".join(" ".join(check(render_dump(dump)).text).split())
    assert "out, video 1 – 0 – – 10.00" in words
    assert "out, video 2 – 0 – – 20.00" in words


def hostile_names():
    markup = '</script><img src=x onerror="alert(1)">'
    stats = {
        f"{markup}-bytesReceived": MEMBER | {"values": "[5,6]"},
        f"{markup}-kind": MEMBER | {"values": json.dumps([markup])},
        f"{markup}-codecId": MEMBER | {"values": '["C"]'},
        "C-mimeType": MEMBER | {"statsType": "codec", "values": json.dumps([f"video/{markup}"])},
    }
    return {"UserAgent": markup, "PeerConnections": {markup: {"url": markup, "stats": stats}}}


def test_texts_of_a_dump_cannot_become_markup(tmp_path):
    text = render_dump(read_dump(save(tmp_path, hostile_names())))
    check(text)
    assert "<img src=x" not in text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "an empty file; give a dump of chrome://webrtc-internals"),
        (b"hello", "not a dump; give a dump of chrome://webrtc-internals"),
        (b"{", "not valid JSON"),
        (b"{}", "JSON without PeerConnections"),
        (b'{"a": 1}\n{"b": 2}', "JSON without PeerConnections"),
        (b'{"PeerConnections": []}', "no PeerConnections"),
        (b'{"PeerConnections": {}}', "no statistics.*open chrome://webrtc-internals before the call"),
        (
            b'{"PeerConnections": {"1": {"stats": {"a-googRtt": {"statsType": "ssrc", "values": "[1]"}}}}}',
            "no statistics",
        ),
        (b'{"a":' + b"[" * 500_000 + b"]" * 500_000 + b"}", "nested too deeply"),
        (b'{"PeerConnections": ' + b"9" * 10_000 + b"}", "not valid JSON"),
        (b"{\xff}", "no UTF-8 text from byte 1 on, perhaps an RTC event log"),
        (b"\xff\xfe{", "no UTF-8"),
        (b"<html><body>call</body></html>", "a web page; save the dump itself"),
        (b'<div id="rtp-stats: 1">', "one moment and no times; use 'Copy Report History'"),
        (b"PK\x03\x04rest", "a zip archive; unpack it"),
        (b"\xd4\xc3\xb2\xa1rest", "a packet capture"),
        (gzip.compress(b"{}", mtime=0)[:-6], "damaged gzip"),
        (b"\x1f\x8bnonsense", "damaged gzip"),
        (b"RTCStatsDump", "format None"),
        (b"RTCStatsDump\n[]", "format None"),
        (b'RTCStatsDump\n{"fileFormat":4}', "format 4"),
        (b"RTCStatsDump\nnonsense", "not valid JSON"),
        (b'RTCStatsDump\n{"fileFormat":3}\n["getStats","1",{"1":{"type":2,"80":1}}', "no statistics.*before 2018"),
        (
            b'["create","PC_0",{},1478698000000]\n'
            b'["getStats","PC_0",{"Channel-audio-1":{"googComponent":"1","type":"googComponent"}},1478698001000]',
            "no statistics.*before 2018",
        ),
    ],
)
def test_what_is_no_dump_is_one_message(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        read_dump(save(tmp_path, content))


def test_a_dump_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(dump_reader, "LARGEST_BYTES", 2 << 20)
    path = save(tmp_path, gzip.compress(b"{" + b" " * (4 << 20) + b"}"))
    assert path.stat().st_size < 10_000
    with pytest.raises(InputError, match="over 2 MiB"):
        read_dump(path)


@pytest.mark.parametrize("part", [b"{},", b"[],", b'"ab",', b"0.5,0.5,0.5,0.5,"])
def test_a_small_file_of_many_parts_is_refused_before_it_takes_memory(tmp_path, monkeypatch, part):
    monkeypatch.setattr(dump_module.json, "loads", lambda *arguments, **options: pytest.fail("parsed"))
    content = b'{"PeerConnections": {}, "a": [' + part * 2_100_000 + b"0]}"
    path = save(tmp_path, gzip.compress(content, compresslevel=1))
    assert path.stat().st_size < 300_000
    with pytest.raises(InputError, match="more parts than a dump of hours"):
        read_dump(path)


@pytest.mark.parametrize("kind", ["values of a member", "times of objects", "reports without a change"])
def test_many_values_are_bounded(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(dump_module, "MOST_SAMPLES", 5000)
    many = MEMBER | {"values": "[" + "1," * 3000 + "1]"}
    stats = {
        f"I{n}-bytesReceived": many if kind == "values of a member" else MEMBER | {"values": "[1]"} for n in (1, 2)
    }
    stats |= {f"I{n}-timestamp": many for n in (1, 2)} if kind == "times of objects" else {}
    path = save(tmp_path, {"PeerConnections": {"1": {"stats": stats}}})
    if kind == "reports without a change":
        report = {str(n): {"type": "inbound-rtp", "bytesReceived": 1} for n in range(100)}
        path = save_rtcstats(tmp_path, ["g", "1", report, 1], *[["g", "1", {}, 1]] * 30)
    with pytest.raises(InputError, match="over 5,000 values"):
        read_dump(path)


def test_more_streams_than_the_chart_draws(tmp_path):
    """A report about a stream that is not among the largest has no line of its own."""
    stats = {}
    for n in range(9):
        stats[f"O{n}-bytesSent"] = MEMBER | {"statsType": "outbound-rtp", "values": f"[0,{n}]"}
        stats[f"O{n}-ssrc"] = MEMBER | {"statsType": "outbound-rtp", "values": f"[{n + 1},{n + 1}]"}
        stats[f"R{n}-roundTripTime"] = MEMBER | {"statsType": "remote-inbound-rtp", "values": "[0.1,0.1]"}
        stats[f"R{n}-ssrc"] = MEMBER | {"statsType": "remote-inbound-rtp", "values": f"[{n + 1},{n + 1}]"}
    (chart,) = data_of(render_dump(read_dump(save(tmp_path, {"PeerConnections": {"1": {"stats": stats}}}))))["charts"]
    rows = {row["title"]: len(row["lines"]) for row in chart["rows"]}
    assert 0 < rows["Round trip, ms"] <= rows["Rate, kbps"] < 9


def test_nonsense_inside_a_dump_is_passed_over(tmp_path):
    good = MEMBER | {"values": "[5,NaN,1e999,6]"}
    stats = {"I-bytesReceived": good, "I-kind": good | {"values": '["video"]'}}
    stats |= {
        "nodash": good,
        "I-jitter": 5,
        "I-qpSum": good | {"values": "[[["},
        "I-packetsLost": good | {"startTime": None},
    }
    stats |= {"I-frameWidth": good | {"startTime": "9999999-01-01"}, "J-bytesReceived": good | {"statsType": 7}}
    dump = read_dump(save(tmp_path, {"PeerConnections": {"1": {"stats": stats}, "2": None, "3": {"stats": [1]}}}))
    (connection,) = dump.connections
    (stream,) = connection.reports.objects.values()
    assert set(stream.numbers) == {"bytesReceived"}
    assert stream.series("bytesReceived")[1].tolist() == [5, 6]
    check(render_dump(dump))
    events = [
        5,
        [],
        ["getStats"],
        ["getStats", "1", 5, "x"],
        ["getStats", "1", {"I": 5}, 1],
        ["getStats", {}, {}, 1],
        [None, "1", {}, 1],
    ]
    events += [["getStats", "1", {"I": {"type": "inbound-rtp", "bytesReceived": 5, "kind": ["video"]}}, 1000]]
    dump = read_dump(save_rtcstats(tmp_path, *events, '["getStats","1",{"I'))
    assert dump.connections[0].reports.objects["I"].series("bytesReceived")[1].tolist() == [5]
    check(render_dump(dump))


def test_many_connections_are_bounded(tmp_path):
    stats = {"I-bytesReceived": MEMBER | {"values": "[5,6]"}}
    data = {"PeerConnections": {str(n): {"stats": stats} for n in range(80)}}
    dump = read_dump(save(tmp_path, data))
    assert (len(dump.connections), dump.omitted_connections) == (50, 30)
    assert "30 more are left out" in render_dump(dump)


def test_the_command(run_weir, tmp_path):
    status, out, error = run_weir("report", INTERNALS, "--out", "there", "--json")
    assert (status, error) == (0, "")
    assert [connection["duration_s"] > 20 for connection in json.loads(out)["connections"]] == [True, True]
    check((tmp_path / "there" / "report.html").read_text())
    status, out, error = run_weir("report", RTCSTATS)
    assert status == 0
    # People see the verdict, scripts the page.
    assert "of incoming video" in error or "No freeze" in error or "No incoming video" in error


def test_a_dump_comes_through_a_pipe(run_weir):
    with subprocess.Popen(["cat", RTCSTATS], stdout=subprocess.PIPE) as written:
        status, out, error = run_weir("report", f"/dev/fd/{written.stdout.fileno()}")
    assert (status, out.strip()) == (0, "weir-report/report.html"), error


def test_the_report_of_one_dump_does_not_replace_that_of_another(run_weir, tmp_path):
    for name, member in (("alice", "[5,6]"), ("bob", "[5,7]")):
        (tmp_path / name).mkdir()
        data = {"PeerConnections": {"1": {"stats": {"I-bytesReceived": MEMBER | {"values": member}}}}}
        (tmp_path / name / "dump.txt").write_text(json.dumps(data))
    pages = [run_weir("report", f"{name}/dump.txt")[1].strip() for name in ("alice", "bob", "alice")]
    assert pages[0] != pages[1]
    assert pages[0] == pages[2]
    assert all(page.startswith("weir-report-dump-") for page in pages)


def test_wrong_use_of_the_command(run_weir, tmp_path):
    status, _, error = run_weir("report", "missing.json")
    assert (status, "missing.json: no such file" in error) == (2, True)
    (tmp_path / "file").write_text("")
    status, _, error = run_weir("report", INTERNALS, "--out", "file/below")
    assert (status, "--out 'file/below': the folder cannot be made" in error) == (2, True)
    assert run_weir("report")[0] == 2
    status, out, _ = run_weir("report", "--help")
    assert status == 0
    assert "dump of chrome://webrtc-internals" in " ".join(out.split())


def test_the_limit_of_a_sender_in_the_same_dump_is_reported():
    receiver, _ = find_verdicts(read_dump(INTERNALS).connections)
    first = receiver.explained[0]
    assert first.sentence == (
        "At 9.2 s (07:04:28 UTC) video in froze for 0.3 s: the rate fell from 1,728 to 170 kbps, the target of the "
        "sender’s encoder fell from 1,700 to 208 kbps, 3,478 kbps were available, nothing was lost and the round trip "
        "stayed; likely the sender’s own limit."
    )
