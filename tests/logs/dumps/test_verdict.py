"""Each freeze of a dump has the right sentence and cause."""

import contextlib
import itertools
import json
import math
import random
import re

import made_dump
import pytest
from html_page import check, data_of
from made_dump import call

from weir_cli.errors import InputError
from weir_logs.dumps import dump_report
from weir_logs.dumps.causes import CAUSES
from weir_logs.dumps.dump_file import read_dump
from weir_logs.dumps.dump_report import describe
from weir_logs.dumps.verdict import MOST_EXPLAINED, find_verdicts

SLOW = {"kbps": 250, "lost": 0.03, "round_trip_ms": 600, "jitter_ms": 60}
NOTHING = {"kbps": 0, "frames": 0}


def over(seconds, changed):
    return {number: dict(changed) for number in seconds}


CALLS = {
    "path slowed": (
        {
            19: SLOW | {"frames": 24}, 20: SLOW | {"frames": 0}, 21: SLOW | {"frames": 0},
            22: SLOW | {"frames": 21, "frozen_s": 2.5},
        },
        "At 18.8 s (14:13:39 UTC) video in froze for 2.5 s: the rate fell from 1,699 to 240 kbps, 4 % of packets were "
        "lost, the round trip rose from 90 to 600 ms; likely the path became slower.",
    ),
    "loss": (
        {20: {"lost": 0.08, "frames": 25}, 21: {"lost": 0.08, "frames": 15, "frozen_s": 0.6}},
        "At 19.9 s (14:13:40 UTC) video in froze for 0.6 s: 8 % of packets were lost; likely loss on the path.",
    ),
    "network stopped": (
        over((20, 21, 22), NOTHING | {"audio": False}) | {23: {"frames": 20, "frozen_s": 3.4}},
        "At 18.8 s (14:13:39 UTC) video in froze for 3.4 s: no packet of any stream came for 3.0 s; likely the network "
        "stopped.",
    ),
    "sent less": (
        over(range(19, 30), {"kbps": 250}) | {20: {"kbps": 250, "frames": 18, "frozen_s": 0.5}},
        "At 19.0 s (14:13:40 UTC) video in froze for 0.5 s: the rate fell from 1,699 to 250 kbps, nothing was lost and "
        "the round trip stayed; likely the sender sent less: its own limit, or its path to a server.",
    ),
    "cpu": (
        over((20, 21), {"decoded": 0}) | {22: {"decoded": 6, "decode_ms": 160, "frozen_s": 2.5}},
        "At 18.8 s (14:13:39 UTC) video in froze for 2.5 s: 84 frames that came were not decoded, decoding a frame "
        "took 160 ms, before 8; likely this machine is short of CPU.",
    ),
    "sender stopped": (
        over(range(20, 30), NOTHING),
        "At 19.0 s (14:13:40 UTC) video in stopped for 10.0 s: no packet came for 10.0 s while other streams went on; "
        "likely the sender, or a server between, stopped sending it.",
    ),
    "key frame": (
        over((20, 21), {"frames": 0, "key_frames": 2}) | {22: {"frozen_s": 2.4}},
        "At 18.8 s (14:13:39 UTC) video in froze for 2.4 s: packets came at 1,699 kbps or more without loss, 4 key "
        "frames requested; likely it waited for a key frame.",
    ),
    "browser busy": (
        {20: {"skipped": True}, 21: {"skipped": True}, 22: {"frozen_s": 1.2}},
        "At 19.3 s (14:13:40 UTC) video in froze for 1.2 s: the browser made no report for 3.0 s; likely the browser "
        "or page was busy.",
    ),
    "unknown": (
        {20: {"frozen_s": 0.3}},
        "At 19.2 s (14:13:40 UTC) video in froze for 0.3 s: packets came at 1,699 kbps or more without loss; the dump "
        "does not have why.",
    ),
    "ended": (
        over(range(50, 60), NOTHING | {"audio": False}),
        "At 49.0 s (14:14:10 UTC) video in stopped for 10.0 s, to the end of the dump: no packet of any stream came "
        "for 10.0 s; the call ended, or the network did.",
    ),
}  # fmt: skip


def render_dump(dump):
    return dump_report.render_dump(dump, find_verdicts(dump.connections))


@pytest.fixture
def verdict_of(tmp_path):
    """Verdicts of a dump's connections, from its text."""

    def read(text):
        path = tmp_path / "dump"
        path.write_text(text)
        return find_verdicts(read_dump(path).connections)

    return read


@pytest.fixture
def freeze_of(verdict_of):
    """The explained freeze of a dump of one connection and one freeze."""

    def read(text):
        (verdict,) = verdict_of(text)
        (found,) = verdict.explained
        return found

    return read


@pytest.mark.parametrize("cause", CALLS)
def test_the_sentence_of_a_freeze(freeze_of, cause):
    changed, sentence = CALLS[cause]
    found = freeze_of(made_dump.internals(call(changed)))
    assert (found.cause, found.sentence) == (cause, sentence)
    assert sentence.endswith(f"; {CAUSES[cause]}.")


FORMATS = {
    "before statsType": made_dump.old_internals,
    "rtcstats": made_dump.rtcstats,
    "Jitsi, Chrome": made_dump.jitsi,
    "Jitsi, Safari": lambda seconds: made_dump.jitsi(seconds, "Version/17.0 Safari/605.1.15"),
    **{
        f"getStats, {shape}": lambda seconds, shape=shape: made_dump.stats_lines(seconds, shape)
        for shape in ("list", "by id", "pairs", "one object a line", "inside", "of connections")
    },
}
# Freezes that are not counted there are found by frames: only whole intervals without one.
WITHOUT_COUNTERS = {
    "legacy": made_dump.legacy_internals,
    "Firefox": made_dump.firefox,
    "Jitsi, Firefox": lambda seconds: made_dump.jitsi(
        seconds, "Firefox/118.0", ("freezeCount", "totalFreezesDuration")
    ),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("cause", CALLS)
def test_every_format_has_the_same_sentence(freeze_of, name, cause):
    changed, sentence = CALLS[cause]
    if cause == "browser busy" and name == "before statsType":
        pytest.skip("its only times are the first and the last one")
    assert freeze_of(FORMATS[name](call(changed))).sentence == sentence


@pytest.mark.parametrize("name", WITHOUT_COUNTERS)
@pytest.mark.parametrize("cause", ["path slowed", "network stopped", "sender stopped", "ended"])
def test_a_freeze_that_no_browser_counted(freeze_of, name, cause):
    changed, _ = CALLS[cause]
    found = freeze_of(WITHOUT_COUNTERS[name](call(changed)))
    counted = freeze_of(made_dump.internals(call(changed)))
    assert found.cause == cause
    assert found.freeze.start_s == pytest.approx(counted.freeze.start_s, abs=0.5)
    assert found.freeze.duration_s == pytest.approx(counted.freeze.duration_s, abs=0.5)


@pytest.mark.parametrize("name", [*FORMATS, *WITHOUT_COUNTERS])
def test_a_call_without_a_freeze(verdict_of, name):
    (verdict,) = verdict_of((FORMATS | WITHOUT_COUNTERS)[name](call()))
    assert verdict.explained == []
    assert verdict.first_s == math.inf


def two_connections(first, second):
    """A dump of both calls."""
    first_dump, second_dump = (json.loads(made_dump.internals(call(changed))) for changed in (first, second))
    first_dump["PeerConnections"]["12-2"] = second_dump["PeerConnections"]["12-1"]
    return json.dumps(first_dump)


def test_freezes_with_different_causes_are_counted_by_cause(tmp_path):
    path = tmp_path / "dump"
    changed = CALLS["loss"][0] | {number + 20: second for number, second in CALLS["cpu"][0].items()}
    path.write_text(made_dump.internals(call(changed)))
    dump = read_dump(path)
    words = " ".join(" ".join(check(dump_report.render_dump(dump, find_verdicts(dump.connections))).text).split())
    assert "1 of 2 likely loss on the path; 1 of 2 likely this machine is short of CPU." in words
    assert "Most:" not in words


def test_the_chart_has_the_decode_time_of_a_freeze_by_cpu(tmp_path):
    path = tmp_path / "dump"
    path.write_text(made_dump.internals(call(CALLS["cpu"][0])))
    (chart,) = data_of(render_dump(read_dump(path)))["charts"]
    (decoding,) = [line for row in chart["rows"] if row["title"] == "Codec, ms a frame" for line in row["lines"]]
    assert decoding["name"] == "video in, decoding"
    peak = max(range(len(decoding["y"])), key=decoding["y"].__getitem__)
    assert decoding["y"][peak] == 160
    assert decoding["y"][0] == 8
    ((start_s, end_s),) = chart["spans"]
    assert start_s <= decoding["x"][peak] <= end_s + 1


def test_the_connection_that_froze_first_is_the_first(tmp_path):
    path = tmp_path / "dump"
    path.write_text(two_connections({40: {"frozen_s": 0.5}}, CALLS["loss"][0]))
    dump = read_dump(path)
    assert [
        (connection["id"], len(connection["freezes"])) for connection in describe(find_verdicts(dump.connections))
    ] == [
        ("12-2", 1),
        ("12-1", 1),
    ]
    text = render_dump(dump)
    words = " ".join(" ".join(check(text).text).split())
    assert "2 freezes of incoming video, 1.1 s in all; 12-2 froze first, 19.9 s after its start." in words
    assert words.index(CALLS["loss"][1]) < words.index("At 39.0 s")
    spans = [chart["spans"] for chart in data_of(text)["charts"]]
    assert spans == [[[19.9, 20.5]], [[39.0, 39.5]]]


def test_nothing_is_drawn_where_nothing_was_sent(tmp_path):
    """The estimate of a connection that only receives stays at the start's 300 kbps."""
    path = tmp_path / "dump"
    path.write_text(made_dump.internals(call()))
    (chart,) = data_of(render_dump(read_dump(path)))["charts"]
    assert [line["name"] for line in chart["rows"][0]["lines"]] == ["video in, received", "audio in, received"]


def sending(seconds, **changed):
    """One outgoing stream as JSON lines; `changed`: from its eleventh second on."""
    lines, frames, sent = [], 0, 0
    for number in range(seconds):
        now = {"kbps": 1700, "fps": 30, "target": 1_700_000, "available": 2_500_000, "limited": "none", "source": 30}
        now |= changed if number >= 10 else {}
        frames, sent = frames + now["fps"], sent + round(now["kbps"] * 125)
        video = {
            "type": "outbound-rtp", "kind": "video", "ssrc": 7, "bytesSent": sent, "packetsSent": sent // 1000,
            "framesEncoded": frames, "targetBitrate": now["target"], "qualityLimitationReason": now["limited"],
            "mediaSourceId": "SOURCE",
        }  # fmt: skip
        source = {"type": "media-source", "kind": "video", "frames": 30 * min(number, 10) + now["source"] * number}
        pair = {"type": "candidate-pair", "availableOutgoingBitrate": now["available"], "bytesSent": sent}
        objects = {"VIDEO": video, "SOURCE": source, "PAIR": pair}
        lines.append({"time": made_dump.START_MS + 1000 * number, "stats": objects})
    return "\n".join(map(json.dumps, lines))


@pytest.mark.parametrize(
    ("changed", "cause", "fact"),
    [
        ({"limited": "cpu", "kbps": 20}, "cpu", "the sender’s quality was limited by cpu"),
        ({"available": 60_000, "target": 50_000, "kbps": 20, "limited": "bandwidth"}, "path slowed",
         "the available bandwidth fell from 2,500 to 60 kbps"),
        ({"target": 60_000, "kbps": 20}, "sender limit", "the target of the sender’s encoder fell from 1,700 to 60 "
         "kbps, 2,500 kbps were available"),
        ({"source": -30, "kbps": 0}, "source stopped", "no packet"),
        ({"kbps": 0}, "muted", "no packet went out"),
    ],
)  # fmt: skip
def test_why_outgoing_video_stopped(freeze_of, changed, cause, fact):
    found = freeze_of(sending(20, fps=0, **changed))
    assert (found.cause, found.is_stop) == (cause, True)
    assert found.sentence.startswith(
        "At 9.0 s (14:13:29 UTC) outgoing video stopped for 10.0 s, to the end of the dump: "
    )
    assert fact in found.sentence


def test_freezes_from_before_the_dump_are_mentioned(tmp_path):
    path = tmp_path / "dump"
    objects = made_dump.reports(call({0: {"frozen_s": 4.2}}))[0][1]
    path.write_text(json.dumps([stats | {"id": key, "timestamp": 1.79e12} for key, stats in objects.items()]))
    words = " ".join(" ".join(check(render_dump(read_dump(path))).text).split())
    assert "1, video in: 1 freeze, 4.2 s in all before the first report; when is not in the dump." in words
    assert "One report only: when video froze is not in it." in words


def test_a_still_screen_does_not_freeze(verdict_of):
    text = made_dump.stats_lines(call({20: {"frames": 0}, 21: {"frames": 0}, 22: {"frames": 0}}), "list")
    assert verdict_of(text)[0].explained
    assert not verdict_of(text.replace('"kind": "video"', '"kind": "video", "contentType": "screenshare"'))[0].explained


def test_of_many_freezes_the_longest_are_explained(tmp_path):
    seconds = [made_dump.Second(frozen_s=0.2 + 0.001 * number) for number in range(200)]
    path = tmp_path / "dump"
    path.write_text(made_dump.stats_lines(seconds, "list"))
    (verdict,) = find_verdicts(read_dump(path).connections)
    assert (len(verdict.explained), verdict.more) == (MOST_EXPLAINED, 99)
    assert min(explained.freeze.duration_s for explained in verdict.explained) == pytest.approx(0.3)
    text = render_dump(read_dump(path))
    assert "99 shorter ones have no sentence" in text
    assert "88 more" in text


def test_members_inside_values(freeze_of):
    """As Flutter and the native SDKs write them."""
    changed, sentence = CALLS["loss"]
    lines = []
    for time_ms, objects in made_dump.reports(call(changed)):
        for key, stats in objects.items():
            members = {name: value for name, value in stats.items() if name != "type"}
            lines.append({"id": key, "type": stats["type"], "timestamp_us": 1000 * time_ms, "values": members})
    assert freeze_of("\n".join(map(json.dumps, lines))).sentence == sentence


def test_durations_that_a_browser_does_not_count(freeze_of):
    """Frames have them, where a whole interval has none."""
    changed, _ = CALLS["path slowed"]
    text = made_dump.stats_lines(call(changed), "list").replace("totalFreezesDuration", "unknown")
    found = freeze_of(text)
    assert found.freeze.duration_s == pytest.approx(2.5, abs=0.1)
    found = freeze_of(made_dump.stats_lines(call({20: {"frozen_s": 0.3}}), "list").replace("totalFreezesDuration", "x"))
    assert "froze for an unknown time" in found.sentence
    assert found.cause == "unknown"


def test_a_freeze_of_unknown_duration_with_packets_is_no_stop_of_the_network(freeze_of):
    lossy = made_dump.stats_lines(call({20: {"lost": 0.08, "frames": 25, "frozen_s": 0.3}}), "list")
    found = freeze_of(lossy.replace("totalFreezesDuration", "x"))
    assert found.cause == "loss"
    assert "for an unknown time: 4 % of packets were lost; likely loss on the path." in found.sentence


def test_frames_a_second_are_enough(freeze_of):
    """The oldest legacy statistics count no frames."""
    changed, _ = CALLS["network stopped"]
    data = json.loads(made_dump.legacy_internals(call(changed)))
    stats = data["PeerConnections"]["12-1"]["stats"]
    frames = stats.pop(f"ssrc_{made_dump.SSRC}_recv-framesDecoded")
    per_s = [30, *(int(b) - int(a) for a, b in itertools.pairwise(json.loads(frames["values"])))]
    stats[f"ssrc_{made_dump.SSRC}_recv-googFrameRateDecoded"] = frames | {"values": json.dumps(list(map(str, per_s)))}
    found = freeze_of(json.dumps(data))
    assert (found.cause, round(found.freeze.duration_s, 1)) == ("network stopped", 3.3)


@pytest.mark.parametrize(
    ("changed", "cause", "facts"),
    [
        ({"available": 300_000, "target": 250_000, "kbps": 250, "limited": "bandwidth"}, "path slowed",
         "the rate fell from 1,700 to 250 kbps, the target of the sender’s encoder fell from 1,700 to 250 kbps, the "
         "available bandwidth fell from 2,500 to 300 kbps"),
        ({"target": 250_000, "kbps": 250}, "sender limit", "2,500 kbps were available"),
        ({"target": 250_000, "kbps": 250, "limited": "cpu"}, "cpu", "limited by cpu"),
    ],
)  # fmt: skip
def test_why_outgoing_video_fell(freeze_of, changed, cause, facts):
    """As a sender's dump has what froze at the other end."""
    found = freeze_of(sending(20, **changed))
    assert (found.cause, found.is_stop) == (cause, True)
    assert found.sentence.startswith("At 10.0 s (14:13:30 UTC) outgoing video fell for 9.0 s, to the end of the dump: ")
    assert facts in found.sentence


VALUES = ("null", '"x"', "-1", "0", "1e18", "-1e17", "true", "[]", "{}", "NaN", "1790000000000", "9" * 20)


@pytest.mark.parametrize("name", [*FORMATS, *WITHOUT_COUNTERS])
def test_mutated_dumps_are_read_or_refused(tmp_path, name):
    chance = random.Random(name)
    path = tmp_path / "dump"
    for cause in CALLS:
        text = (FORMATS | WITHOUT_COUNTERS)[name](call(CALLS[cause][0]))
        places = [found.span() for found in re.finditer(r"(?<=[ \[,:])-?\d+(\.\d+)?(?=[,\]}])", text)]
        for start, end in sorted(chance.sample(places, min(len(places), chance.choice([1, 20, 500]))), reverse=True):
            text = text[:start] + chance.choice(VALUES) + text[end:]
        path.write_text(text)
        with contextlib.suppress(InputError):
            page = render_dump(read_dump(path))
            check(page)
            # A dump with counters that fall may have fewer freezes than are explained.
            assert re.search(r"-\d+ (shorter|more)", page) is None


def logged(found):
    """Reports as JSON lines."""
    return "\n".join(json.dumps({"time": time_ms, "stats": objects}) for time_ms, objects in found)


COUNTERS = (
    *("packetsReceived", "packetsLost", "bytesReceived", "framesReceived", "framesDecoded", "totalDecodeTime"),
    *("pliCount", "freezeCount", "totalFreezesDuration"),
)


def restarted(found, number):
    """The same reports of a stream that began anew, under the same id, with its report of that number."""
    before = found[number - 1][1]["VIDEO"]
    for _, objects in found[number:]:
        for name in COUNTERS:
            objects["VIDEO"][name] -= before[name]
    return found


def test_a_restarted_stream_does_not_freeze(verdict_of):
    assert verdict_of(logged(restarted(made_dump.reports(call()), 30)))[0].explained == []


@pytest.mark.parametrize(("cause", "at"), [("cpu", 10), ("loss", 10), ("path slowed", 10)])
def test_a_restarted_stream_has_the_same_sentence(freeze_of, cause, at):
    changed, sentence = CALLS[cause]
    assert freeze_of(logged(restarted(made_dump.reports(call(changed)), at))).sentence == sentence


def test_a_restarted_stream_has_the_same_measures(tmp_path):
    def cells(found):
        path = tmp_path / "log.jsonl"
        path.write_text(logged(found))
        dump = read_dump(path)
        page = dump_report.render_dump(dump, find_verdicts(dump.connections))
        return re.search(r"in, video.*?</tr>", page, re.DOTALL)[0]

    changed, _ = CALLS["loss"]
    once = cells(made_dump.reports(call(changed)))
    assert cells(restarted(made_dump.reports(call(changed)), 10)) == once


def test_a_decoder_that_needs_most_of_the_time_is_slow(freeze_of):
    found = freeze_of(made_dump.internals(call({20: {"decode_ms": 25, "frozen_s": 0.2}})))
    assert found.cause == "cpu"
    assert "decoding a frame took 25 ms, before 8" in found.sentence


def test_frames_that_were_dropped_on_a_slow_path_are_no_lack_of_cpu(freeze_of):
    slow = {"round_trip_ms": 800, "decoded": 20}
    found = freeze_of(made_dump.internals(call({20: slow, 21: slow | {"frozen_s": 0.7}})))
    assert found.cause == "path slowed"


@pytest.mark.parametrize(("requests", "cause"), [(1, "loss"), (6, "key frame")])
def test_few_lost_packets_do_not_explain_many_requests_of_key_frames(freeze_of, requests, cause):
    found = made_dump.reports(call(over(range(20, 26), {"lost": 0.006, "frames": 0}) | {26: {"frozen_s": 6.2}}))
    for number, (_, objects) in enumerate(found):
        objects["VIDEO"] |= {"nackCount": 5 * max(0, number - 19), "pliCount": min(requests, max(0, number - 19))}
    explained = freeze_of(logged(found))
    assert explained.cause == cause


def test_a_short_freeze_in_a_long_time_without_reports_is_not_explained(freeze_of):
    explained = freeze_of(made_dump.internals(call(over(range(20, 50), {"skipped": True}) | {50: {"frozen_s": 0.6}})))
    assert explained.cause == "unknown"
    assert "the browser made no report for 31.0 s; the dump does not have why" in explained.sentence


def test_another_resolution(freeze_of):
    found = made_dump.reports(call({20: {"frozen_s": 0.3}}))
    for number, (_, objects) in enumerate(found):
        objects["VIDEO"] |= {"frameHeight": 720 if number >= 20 else 360, "keyFramesDecoded": 2 if number >= 20 else 1}
    explained = freeze_of(logged(found))
    assert explained.cause == "resolution"
    assert "the picture went from 360 to 720 lines with a key frame; likely it waited" in explained.sentence


def test_reports_that_are_far_apart_show_the_loss_of_their_own_time_alone(freeze_of):
    found = made_dump.reports(call(over(range(10, 20), {"lost": 0.1}) | {45: {"frozen_s": 0.5}}))[9::10]
    explained = freeze_of(logged(found))
    assert explained.cause == "unknown"
    found = made_dump.reports(call(over(range(40, 50), {"lost": 0.1}) | {45: {"frozen_s": 0.5}}))[9::10]
    explained = freeze_of(logged(found))
    assert "9 % of packets were lost" in explained.sentence


def test_a_freeze_begins_within_a_long_interval(freeze_of):
    """The interval to 30 s has the frames of its first four seconds."""
    found = made_dump.reports(call(over(range(24, 60), {"frames": 0})))[9::10]
    for _, objects in found:
        del objects["VIDEO"]["freezeCount"], objects["VIDEO"]["totalFreezesDuration"]
    explained = freeze_of(logged(found))
    assert explained.freeze.start_s - made_dump.START_MS / 1e3 == pytest.approx(24, abs=0.1)


def test_the_rate_of_a_gap_between_reports_is_not_that_of_a_freeze(freeze_of):
    gap = {number: {"kbps": 20, "skipped": number < 29} for number in range(20, 30)}
    explained = freeze_of(made_dump.internals(call(gap | {30: {"frozen_s": 0.3}})))
    assert "the rate fell" not in explained.sentence


def test_one_report_whose_objects_have_times_of_their_own(tmp_path):
    path = tmp_path / "dump"
    objects = made_dump.reports(call())[0][1]
    path.write_text(
        json.dumps([stats | {"id": key, "timestamp": 1.79e12 + len(key)} for key, stats in objects.items()])
    )
    assert "One report only" in render_dump(read_dump(path))


def test_an_export_with_times_in_ms_and_types_among_the_members(freeze_of):
    """As testRTC writes them."""
    changed, sentence = CALLS["loss"]
    found = made_dump.reports(call(changed))
    data = json.loads(made_dump.internals(call(changed), with_type=False, with_times=False))
    stats = data["PeerConnections"]["12-1"]["stats"]
    for series in stats.values():
        series |= {"startTime": float(found[0][0]), "endTime": float(found[-1][0])}
    for name, key in (("IT01V2309650874", "VIDEO"), ("CPabc_def", "PAIR")):
        stats[f"{name}-type"] = {"values": json.dumps([found[0][1][key]["type"]] * len(found))}
    # The names say nothing then.
    data["PeerConnections"]["12-1"]["stats"] = {f"X{name}": series for name, series in stats.items()}
    assert freeze_of(json.dumps(data)).sentence == sentence


def test_a_saved_page_in_another_encoding(tmp_path):
    path = tmp_path / "page.html"
    path.write_bytes("<!DOCTYPE html><p>é</p><div class='peer-connection'></div>".encode("latin-1"))
    with pytest.raises(InputError, match="about:webrtc saves"):
        read_dump(path)
