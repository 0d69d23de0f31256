"""A call with a known freeze, as reports of getStats once a second, and as files of browsers and services."""

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime

START_MS = 1_790_000_000_000
SSRC, AUDIO_SSRC = 2309650874, 555
PACKET_BYTES = 1200


@dataclass(frozen=True)
class Second:
    """One second of the call; `frozen_s`: of a freeze that ends in it."""

    kbps: float = 1700.0
    lost: float = 0.0
    round_trip_ms: float = 90.0
    jitter_ms: float = 5.0
    frames: int = 30
    decoded: int | None = None
    frozen_s: float = 0.0
    audio: bool = True
    decode_ms: float = 8.0
    key_frames: int = 0
    skipped: bool = False


def call(changed=None):
    """Sixty seconds; those that differ by their number, as in `{20: {"kbps": 250}}`."""
    seconds = [Second() for _ in range(60)]
    for index, values in (changed or {}).items():
        seconds[index] = replace(seconds[index], **values)
    return seconds


def reports(seconds):
    """One report a second: its time in ms, and objects by id."""
    totals = dict.fromkeys(
        ("packets", "bytes", "lost", "frames", "decoded", "freezes", "frozen", "audio", "spent", "plis"), 0.0
    )
    found = []
    for number, second in enumerate(seconds, start=1):
        count = round(second.kbps * 125 / PACKET_BYTES)
        lost = round(count * second.lost)
        decoded = second.frames if second.decoded is None else second.decoded
        for name, growth in (
            ("packets", count - lost), ("bytes", (count - lost) * PACKET_BYTES), ("lost", lost),
            ("frames", second.frames), ("decoded", decoded), ("freezes", second.frozen_s > 0),
            ("frozen", second.frozen_s), ("audio", 50 * second.audio), ("spent", decoded * second.decode_ms / 1e3),
            ("plis", second.key_frames),
        ):  # fmt: skip
            totals[name] += growth
        if not second.skipped:
            found.append((START_MS + 1000 * number, _objects(totals, second)))
    return found


def _objects(totals, second):
    whole = {name: round(value) for name, value in totals.items()}
    video = {
        "type": "inbound-rtp", "kind": "video", "mediaType": "video", "ssrc": SSRC, "trackId": "TRACK",
        "packetsReceived": whole["packets"], "packetsLost": whole["lost"], "bytesReceived": whole["bytes"],
        "jitter": second.jitter_ms / 1e3, "framesReceived": whole["frames"], "framesDecoded": whole["decoded"],
        "totalDecodeTime": totals["spent"], "frameWidth": 1280, "frameHeight": 720, "pliCount": whole["plis"],
        "freezeCount": whole["freezes"], "totalFreezesDuration": totals["frozen"],
    }  # fmt: skip
    audio = {
        "type": "inbound-rtp", "kind": "audio", "mediaType": "audio", "ssrc": AUDIO_SSRC, "packetsLost": 0,
        "packetsReceived": whole["audio"], "bytesReceived": 100 * whole["audio"], "jitter": 0.002,
    }  # fmt: skip
    pair = {
        "type": "candidate-pair", "state": "succeeded", "bytesReceived": whole["bytes"] + 100 * whole["audio"],
        "bytesSent": 5000, "currentRoundTripTime": second.round_trip_ms / 1e3, "availableOutgoingBitrate": 300_000,
    }  # fmt: skip
    return {"VIDEO": video, "AUDIO": audio, "PAIR": pair}


def internals(seconds, *, names=None, with_type=True, with_times=True):
    """A dump of chrome://webrtc-internals; `names`: of the objects."""
    names = names or {"VIDEO": f"IT01V{SSRC}", "AUDIO": f"IT01A{AUDIO_SSRC}", "PAIR": "CPabc_def"}
    found = reports(seconds)
    stats = {}
    for key, name in names.items():
        for member in found[0][1][key]:
            if member == "type":
                continue
            values = [objects[key][member] for _, objects in found]
            stats[f"{name}-{member}"] = _series(found, values, found[0][1][key]["type"] if with_type else None)
        if with_times:
            stats[f"{name}-timestamp"] = _series(found, [time_ms for time_ms, _ in found], None)
    return json.dumps({
        "getUserMedia": [], "PeerConnections": {"12-1": {"url": "https://example.com/call", "stats": stats}},
        "UserAgent": "Mozilla/5.0 Chrome/80.0",
    })  # fmt: skip


def clock(time_ms):
    return datetime.fromtimestamp(time_ms / 1e3, UTC).isoformat()


def _series(found, values, kind_of_object):
    ends = {"startTime": clock(found[0][0]), "endTime": clock(found[-1][0])}
    return ends | {"values": json.dumps(values)} | ({"statsType": kind_of_object} if kind_of_object else {})


def old_internals(seconds):
    """Before statsType: the types are in the names, the freezes are the track's."""
    video, track = f"RTCInboundRTPVideoStream_{SSRC}", "RTCMediaStreamTrack_receiver_3"
    data = json.loads(internals(
        seconds, with_type=False, with_times=False,
        names={"VIDEO": video, "AUDIO": f"RTCInboundRTPAudioStream_{AUDIO_SSRC}", "PAIR": "RTCIceCandidatePair_a_b"},
    ))  # fmt: skip
    stats = data["PeerConnections"]["12-1"]["stats"]
    for member in ("freezeCount", "totalFreezesDuration", "frameWidth", "frameHeight", "framesReceived"):
        stats[f"{track}-{member}"] = stats.pop(f"{video}-{member}")
    stats[f"{video}-trackId"] = stats[f"{video}-trackId"] | {"values": json.dumps([track] * len(reports(seconds)))}
    del stats[f"{video}-kind"], stats[f"{video}-mediaType"]
    return json.dumps(data)


def legacy_internals(seconds):
    """Chrome's legacy statistics, with "goog" names and numbers as text; no freezes are counted."""
    found = reports(seconds)
    stats = {}
    for name, key, members in (
        (
            f"ssrc_{SSRC}_recv",
            "VIDEO",
            ("packetsReceived", "packetsLost", "bytesReceived", "framesDecoded", "mediaType"),
        ),
        (f"ssrc_{AUDIO_SSRC}_recv", "AUDIO", ("packetsReceived", "packetsLost", "bytesReceived", "mediaType")),
        ("Conn-audio-1-0", "PAIR", ("bytesReceived", "bytesSent")),
    ):
        for member in members:
            stats[f"{name}-{member}"] = _series(found, [str(objects[key][member]) for _, objects in found], None)
    rtts = [str(round(1e3 * objects["PAIR"]["currentRoundTripTime"])) for _, objects in found]
    stats["Conn-audio-1-0-googRtt"] = _series(found, rtts, None)
    return json.dumps({"PeerConnections": {"12-1": {"stats": stats}}})


def rtcstats(seconds):
    """Version 3, complete reports."""
    lines = ["RTCStatsDump", '{"fileFormat":3}', json.dumps(["create", "12-1", {}, START_MS])]
    times = [START_MS, *(time_ms for time_ms, _ in reports(seconds))]
    for before_ms, (time_ms, objects) in zip(times, reports(seconds), strict=False):
        stamped = {key: stats | {"timestamp": time_ms} for key, stats in objects.items()}
        lines.append(json.dumps(["getStats", "12-1", stamped, time_ms - before_ms]))
    return "\n".join(lines)


def jitsi(seconds, agent="Chrome/99.0", omitted=()):
    """Jitsi's lines: only what changed, a time of 0 for that of the report."""
    about = {"url": "https://example.com/room", "userAgent": f"Mozilla/5.0 {agent}", "statsFormat": "any"}
    lines = [["connectionInfo", None, json.dumps(about), START_MS], ["create", "PC_0", {}, START_MS]]
    last = {}
    for time_ms, objects in reports(seconds):
        changed = {}
        for key, stats in objects.items():
            kept = {name: value for name, value in stats.items() if name not in omitted}
            old = last.get(key, {})
            changed[key] = {"timestamp": 0} | {name: value for name, value in kept.items() if old.get(name) != value}
            last[key] = kept
        lines.append(["getstats", "PC_0", changed | {"timestamp": time_ms}, time_ms + 12])
    return "\n".join(map(json.dumps, lines))


NO_COUNTERS = ("freezeCount", "totalFreezesDuration", "currentRoundTripTime", "availableOutgoingBitrate", "trackId")


def firefox(seconds):
    """The history of a connection that about:webrtc copies: no counters of freezes, round trips of the estimate."""
    found = []
    for time_ms, objects in reports(seconds):
        kept = {key: {n: v for n, v in stats.items() if n not in NO_COUNTERS} for key, stats in objects.items()}
        video, audio, pair = (kept[key] | {"id": key, "timestamp": time_ms} for key in ("VIDEO", "AUDIO", "PAIR"))
        rtt_ms = round(1e3 * objects["PAIR"]["currentRoundTripTime"])
        found.append({
            "pcid": "1790000000000 (id=2147 url=https://example.com/room)", "timestamp": time_ms, "closed": False,
            "inboundRtpStreamStats": [video, audio], "iceCandidatePairStats": [pair],
            "bandwidthEstimations": [{"trackIdentifier": "t", "sendBandwidthBps": 300_000, "rttMs": rtt_ms}],
        })  # fmt: skip
    return json.dumps({"reports": found, "sdpHistories": []}, indent=2)


def stats_lines(seconds, shape):
    """JSON lines of getStats in one of the shapes that pages write."""
    lines = []
    for time_ms, objects in reports(seconds):
        stamped = {key: {"id": key, "timestamp": time_ms} | stats for key, stats in objects.items()}
        bare = {key: {name: v for name, v in stats.items() if name != "timestamp"} for key, stats in stamped.items()}
        lines += {
            "list": [list(stamped.values())],
            "by id": [stamped],
            "pairs": [list(stamped.items())],
            "one object a line": list(stamped.values()),
            "inside": [{"ts": time_ms / 1e3, "pc": "a", "stats": list(bare.values())}],
            "of connections": [{"time": clock(time_ms), "a": bare}],
        }[shape]
    return "\n".join(map(json.dumps, lines))
