import json

import numpy as np
import pytest

from weir_eval.webrtc_stats import MOST_OBJECTS, StatsReports, read_stats_log


def inbound(**members):
    return {"id": "I1", "type": "inbound-rtp", "kind": "video", **members}


def reports(*entries):
    collected = StatsReports()
    for time_s, report in entries:
        collected.add(time_s, report)
    return collected


def test_numbers_become_series_and_rates():
    found = reports(*((t, [inbound(bytesReceived=1000 * t * t, frameHeight=360)]) for t in (1, 2, 4)))
    (stream,) = found.of("inbound-rtp", "video")
    times, values = stream.series("bytesReceived")
    assert (times.tolist(), values.tolist()) == ([1, 2, 4], [1000, 4000, 16000])
    times, rates = stream.rate("bytesReceived")
    assert (times.tolist(), rates.tolist()) == ([2, 4], [3000, 6000])
    assert stream.growth("bytesReceived", 1.5, 3) == pytest.approx(7500)
    assert stream.growth("bytesReceived", 0, 10) == 16000
    assert stream.growth("bytesReceived", 0.5, 1, zero_s=0) == 500
    assert stream.growth("qpSum", 0, 10) is None
    assert stream.series("qpSum")[0].tolist() == []


def test_a_counter_that_began_again_has_no_negative_rate():
    (stream,) = reports(
        (1, [inbound(bytesReceived=5000)]), (2, [inbound(bytesReceived=100)]), (3, [inbound(bytesReceived=400)])
    ).of("inbound-rtp")
    assert stream.rate("bytesReceived")[1].tolist() == [300]
    # Those that it has counted since.
    assert stream.growth("bytesReceived", 1, 2) == 100
    assert stream.growth("bytesReceived", 1, 3) == 400
    assert stream.counter("bytesReceived")[1].tolist() == [5000, 5100, 5400]


def test_losses_that_late_packets_take_back_and_those_of_a_stream_that_began_again():
    counted = [(100, 10), (200, 8), (50, 1), (90, 3)]
    (stream,) = reports(
        *((t, [inbound(packetsReceived=received, packetsLost=lost)]) for t, (received, lost) in enumerate(counted))
    ).of("inbound-rtp")
    assert stream.counter("packetsLost")[1].tolist() == [10, 8, 9, 11]
    assert stream.growth("packetsLost", 1, 3) == 3


def test_both_forms_of_a_report_and_older_names():
    old = {
        "I1": {"type": "inbound-rtp", "mediaType": "video", "bytesReceived": 7},
        "T1": {"type": "track", "freezeCount": 2},
    }
    found = reports((1, old))
    assert found.of("inbound-rtp", "video")[0].series("bytesReceived")[1].tolist() == [7]
    assert found.of("track")[0].series("freezeCount")[1].tolist() == [2]


def test_freezes_are_counted_once():
    track, audio = {"id": "T", "type": "track", "freezeCount": 2}, {"id": "A", "type": "inbound-rtp", "kind": "audio"}
    assert [o.id for o in reports((1, [inbound(freezeCount=2), audio, track])).freeze_counters()] == ["I1"]
    assert [o.id for o in reports((1, [inbound(), audio, track])).freeze_counters()] == ["T"]


def test_the_pair_that_carries_the_media():
    pairs = [{"id": f"CP{n}", "type": "candidate-pair", "bytesSent": 10**n} for n in (1, 3, 2)]
    assert reports((1, pairs)).selected_pair().id == "CP3"
    named = {"id": "T", "type": "transport", "selectedCandidatePairId": "CP2"}
    assert reports((1, [*pairs, named])).selected_pair().id == "CP2"
    assert reports((1, [*pairs, named | {"selectedCandidatePairId": "T"}])).selected_pair().id == "CP3"
    assert StatsReports().selected_pair() is None


@pytest.mark.parametrize(
    "report",
    [
        None, 5, "text", [], {}, [None, 5, []], [{"id": 5, "type": "inbound-rtp"}], [{"type": "inbound-rtp"}],
        [{"id": "I1", "type": "made-up", "bytesReceived": 5}], [{"id": "I1", "type": None}], {"I1": 5},
    ],
)  # fmt: skip
def test_nonsense_is_passed_over(report):
    assert reports((1, report)).of("inbound-rtp") == []


@pytest.mark.parametrize("value", [None, True, "5", [5], {}, float("nan"), float("inf"), -1e30, 10**400])
def test_values_that_are_no_numbers_are_passed_over(value):
    (stream,) = reports((1, [inbound(bytesReceived=value)]), (2, [inbound(bytesReceived=5)])).of("inbound-rtp")
    assert stream.series("bytesReceived")[1].tolist() == [5]


def test_a_hostile_report_stays_within_bounds():
    many = [
        {"id": f"I{n}", "type": "inbound-rtp", "bytesReceived": n, "kind": "x" * 9999, f"made{n}": 1}
        for n in range(3 * MOST_OBJECTS)
    ]
    found = reports((1, many))
    assert len(found.objects) == MOST_OBJECTS
    assert all(len(stats.kind) <= 200 and set(stats.numbers) == {"bytesReceived"} for stats in found.objects.values())


def test_times_only_go_forward():
    (stream,) = reports(
        (2, [inbound(bytesReceived=5)]), (2, [inbound(bytesReceived=6)]), (1, [inbound(bytesReceived=7)])
    ).of("inbound-rtp")
    assert stream.series("bytesReceived")[1].tolist() == [5]


def test_a_log_with_torn_lines(tmp_path):
    path = tmp_path / "stats.jsonl"
    good = [json.dumps({"time_us": 1_000_000 * t, "report": [inbound(framesDecoded=30 * t)]}) for t in (1, 2)]
    path.write_text("\n".join([good[0], "{", '{"time_us":"x"}', '{"time_us":NaN,"report":[]}', good[1], good[0][:30]]))
    (stream,) = read_stats_log(path).of("inbound-rtp")
    assert np.array_equal(stream.series("framesDecoded"), [[1, 2], [30, 60]])
    assert read_stats_log(tmp_path / "missing").objects == {}
