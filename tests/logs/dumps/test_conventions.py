"""Dumps as older browsers, services and pages write them: the freezes have the causes that were made."""

import json

import made_dump
import pytest
from made_dump import START_MS, call, reports

from weir_logs.dumps.dump_file import read_dump
from weir_logs.dumps.verdict import find_verdicts

STOPPED = {number: {"kbps": 0, "frames": 0} for number in range(20, 30)}
UNDECODED = {20: {"decoded": 0}, 21: {"decoded": 0}, 22: {"decoded": 6, "frozen_s": 2.5}}
SLOW = {number: {"kbps": 250, "round_trip_ms": 600, "frames": 0} for number in (20, 21, 22)}


def verdicts(tmp_path, text):
    """The explained freezes of all connections of a dump."""
    (tmp_path / "dump").write_text(text)
    return [
        explained
        for verdict in find_verdicts(read_dump(tmp_path / "dump").connections)
        for explained in verdict.explained
    ]


def sent(**changed):
    """Forty seconds of an outgoing video; `changed`: from the 21st on."""
    found, frames, sent_bytes, lost = [], 0, 0, 0
    for number in range(40):
        now = {"kbps": 1700, "fps": 30, "target": 1_700_000, "available": 2_500_000, "limited": "none", "lost": 0}
        now |= changed if number >= 20 else {}
        frames, sent_bytes, lost = frames + now["fps"], sent_bytes + 125 * now["kbps"], lost + now["lost"]
        video = {
            "type": "outbound-rtp", "kind": "video", "ssrc": 777, "bytesSent": sent_bytes, "framesEncoded": frames,
            "packetsSent": sent_bytes // 1000, "targetBitrate": now["target"],
            "qualityLimitationReason": now["limited"],
        }  # fmt: skip
        pair = {
            "type": "candidate-pair", "bytesSent": sent_bytes, "availableOutgoingBitrate": now["available"],
            "currentRoundTripTime": 0.05,
        }  # fmt: skip
        report = {
            "type": "remote-inbound-rtp",
            "kind": "video",
            "ssrc": 777,
            "packetsLost": lost,
            "roundTripTime": 0.05,
        }
        found.append((START_MS + 1000 * (number + 1), {"VIDEO": video, "PAIR": pair, "REPORT": report}))
    return found


def legacy(found):
    """Chrome's legacy statistics of an outgoing video, all values as texts."""
    stats = {}
    for name, key, member, convert in (
        ("ssrc_777_send-bytesSent", "VIDEO", "bytesSent", str),
        ("ssrc_777_send-packetsSent", "VIDEO", "packetsSent", str),
        ("ssrc_777_send-framesEncoded", "VIDEO", "framesEncoded", str),
        ("ssrc_777_send-googFrameRateSent", "VIDEO", "framesEncoded", lambda _: "30"),
        ("ssrc_777_send-mediaType", "VIDEO", "kind", str),
        ("ssrc_777_send-googCpuLimitedResolution", "VIDEO", "qualityLimitationReason",
         lambda reason: str(reason == "cpu").lower()),
        ("ssrc_777_send-packetsLost", "REPORT", "packetsLost", str),
        ("ssrc_777_send-googRtt", "REPORT", "roundTripTime", lambda time_s: str(round(1e3 * time_s))),
        ("bweforvideo-googAvailableSendBandwidth", "PAIR", "availableOutgoingBitrate", str),
        ("bweforvideo-googTargetEncBitrate", "VIDEO", "targetBitrate", str),
        ("Conn-audio-1-0-bytesSent", "PAIR", "bytesSent", str),
    ):  # fmt: skip
        values = json.dumps([convert(objects[key][member]) for _, objects in found])
        ends = {"startTime": made_dump.clock(found[0][0]), "endTime": made_dump.clock(found[-1][0])}
        stats[name] = ends | {"values": values}
    return json.dumps({"PeerConnections": {"12-1": {"stats": stats}}})


@pytest.mark.parametrize(
    ("changed", "cause", "fact"),
    [
        ({"fps": 0, "kbps": 200, "limited": "cpu"}, "cpu", "the sender’s quality was limited by cpu"),
        ({"target": 60_000, "kbps": 60}, "sender limit", "the sender’s encoder fell from 1,700 to 60 kbps"),
        ({"fps": 0, "kbps": 500, "lost": 30}, "loss", "of packets were lost"),
        ({"fps": 0, "kbps": 50, "available": 60_000, "target": 50_000}, "path slowed", "fell from 2,500 to 60 kbps"),
    ],
)  # fmt: skip
def test_legacy_statistics_of_a_sender(tmp_path, changed, cause, fact):
    (found,) = verdicts(tmp_path, legacy(sent(**changed)))
    assert found.cause == cause
    assert fact in found.sentence


def test_legacy_statistics_of_a_receiver_without_cpu(tmp_path):
    data = json.loads(made_dump.legacy_internals(call(UNDECODED)))
    stats = data["PeerConnections"]["12-1"]["stats"]
    frames = stats[f"ssrc_{made_dump.SSRC}_recv-framesDecoded"]
    stats[f"ssrc_{made_dump.SSRC}_recv-googFrameRateReceived"] = frames | {"values": json.dumps(["30"] * 60)}
    (found,) = verdicts(tmp_path, json.dumps(data))
    assert found.cause == "cpu"
    assert "frames that came were not decoded" in found.sentence


def test_a_legacy_number_beyond_a_double_is_passed_over(tmp_path):
    data = json.loads(made_dump.legacy_internals(call(UNDECODED)))
    before = verdicts(tmp_path, json.dumps(data))
    member = data["PeerConnections"]["12-1"]["stats"][f"ssrc_{made_dump.SSRC}_recv-packetsLost"]
    member["values"] = json.dumps([10**400, *json.loads(member["values"])[1:]])
    causes_after = [found.cause for found in verdicts(tmp_path, json.dumps(data))]
    assert causes_after == [found.cause for found in before]


def test_firefox_has_no_target_of_an_encoder(tmp_path):
    kept = []
    for time_ms, objects in sent(fps=0, kbps=60):
        video = {name: value for name, value in objects["VIDEO"].items() if name[:3] not in ("tar", "qua")}
        kept.append({"pcid": "1 (id=21 url=https://example.com)", "timestamp": time_ms,
                     "outboundRtpStreamStats": [video | {"id": "V", "timestamp": time_ms}],
                     "bandwidthEstimations": [{"sendBandwidthBps": 2_500_000, "rttMs": 50}]})  # fmt: skip
    (found,) = verdicts(tmp_path, json.dumps({"reports": kept}))
    assert found.cause == "sender limit"
    assert "the rate fell from 1,700 to 60 kbps, 2,500 kbps were available" in found.sentence


@pytest.mark.parametrize(("rtcp_bytes", "cause"), [(200, "sender stopped"), (0, "network stopped")])
def test_rtcp_goes_on_while_a_sender_of_video_alone_stops(tmp_path, rtcp_bytes, cause):
    found = reports(call(STOPPED))
    for number, (_, objects) in enumerate(found):
        del objects["AUDIO"]
        objects["PAIR"]["bytesReceived"] = objects["VIDEO"]["bytesReceived"] + rtcp_bytes * number
    lines = [
        json.dumps([stats | {"id": key, "timestamp": at} for key, stats in objects.items()]) for at, objects in found
    ]
    (explained,) = verdicts(tmp_path, "\n".join(lines))
    assert explained.cause == cause
    assert ("while RTCP went on" in explained.sentence) == (cause == "sender stopped")


def stamped(time_ms, objects):
    return {key: {"id": key, "timestamp": time_ms} | stats for key, stats in objects.items()}


OLD_FIREFOX = {"inbound-rtp": "inboundrtp", "candidate-pair": "candidatepair"}
WRITTEN = {
    # JSON.stringify of a Map, as often replaced.
    "map": lambda at, objects: {"time": at, "stats": {"dataType": "Map", "value": list(stamped(at, objects).items())}},
    # Android's BigInteger.
    "texts": lambda at, objects: [
        stats
        | {name: str(stats[name]) for name in ("bytesReceived", "packetsReceived", "framesDecoded") if name in stats}
        for stats in stamped(at, objects).values()
    ],
    "seconds": lambda at, objects: {"time": (at - START_MS) / 1e3, "stats": list(objects.values())},
    "page's ms": lambda at, objects: {"time": at - START_MS + 5000.25, "stats": list(objects.values())},
    "old Firefox": lambda at, objects: [
        stats | {"type": OLD_FIREFOX[stats["type"]], "isRemote": False} for stats in stamped(at, objects).values()
    ],
}


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize(("changed", "cause"), [(STOPPED, "sender stopped"), (SLOW, "path slowed")])
def test_lines_of_get_stats(tmp_path, name, changed, cause):
    lines = [json.dumps(WRITTEN[name](at, objects)) for at, objects in reports(call(changed))]
    (found,) = verdicts(tmp_path, "\n".join(lines))
    assert found.cause == cause
    assert 2 < found.freeze.duration_s < 11


def test_events_of_connections(tmp_path):
    """As tools convert rtcstats."""
    events = [
        {"type": "getStats", "timestamp": at, "value": stamped(at, objects)} for at, objects in reports(call(STOPPED))
    ]
    (found,) = verdicts(tmp_path, json.dumps({"peerConnections": {"PC_0": events}}))
    assert found.cause == "sender stopped"
