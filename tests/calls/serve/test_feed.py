"""Viewers receive valid JSON of bounded size, whatever a session emits, and every loss is reported."""

import asyncio
import json
import math
import re
from pathlib import Path

import weir_calls
from weir import GUARD_RULES
from weir_calls.serve.feed import MAX_BACKLOG, MAX_SAMPLES, Feed, for_viewers
from weir_calls.serve.setup_description import offered_scenarios, sketch
from weir_traces.generate.random_domain import random_scenario


def test_reports_are_cut_to_what_the_page_shows():
    report = [{"type": "codec", "id": n} for n in range(500)]
    report += [{"type": "inbound-rtp", "kind": "video", "framesPerSecond": 30, "trackIdentifier": "x" * 1000}] * 100
    event = for_viewers({"type": "stats", "end": "receiver", "time_us": 5, "report": report})
    assert len(event["report"]) == 40
    assert event["report"][0] == {"type": "inbound-rtp", "kind": "video", "framesPerSecond": 30}


def test_what_cannot_be_json_or_is_endless_does_not_get_through():
    event = {"type": "note", "text": "x" * 10**6, "rate": math.nan, "more": {"a": {"b": {"c": {"d": object()}}}}}
    event |= {f"field {n}": n for n in range(1000)}
    text = json.dumps(for_viewers(event), allow_nan=False)
    assert len(text) < 4000
    assert for_viewers({"type": "remb", "time_us": 1}) is None
    assert for_viewers({"type": "link", "direction": "reverse"}) is None
    assert isinstance(for_viewers({"type": "state", "time_us": "now"})["time_us"], int)


def test_a_viewer_that_does_not_keep_up_is_cut_off_and_costs_bounded_memory():
    async def scenario():
        feed = Feed()
        viewer = feed.join()
        for number in range(MAX_BACKLOG + MAX_SAMPLES + 100):
            feed.publish({"type": "note", "time_us": number})
        assert viewer.lagging
        events = await viewer.take()
        assert [event["seq"] for event in events] == list(range(1, MAX_BACKLOG + MAX_SAMPLES + 1))
        back = await feed.join(after=events[-1]["seq"]).take()
        assert back[0]["seq"] == events[-1]["seq"] + 1

    asyncio.run(scenario())


def test_every_offered_scenario_has_a_sketch_that_keeps_its_capacity():
    found = {}
    for group, scenarios in offered_scenarios([]).items():
        for scenario in scenarios:
            drawing = sketch(scenario, group)
            found[scenario.name] = drawing
            json.dumps(drawing, allow_nan=False)
            if scenario.forward.capacity is None:
                assert drawing["unlimited"]
                continue
            ends = [*(time for time, _ in drawing["capacity"][1:]), scenario.duration_s]
            bits = sum(1e3 * rate * (end - start) for (start, rate), end in zip(drawing["capacity"], ends, strict=True))
            exact = float(scenario.forward.capacity.trace().integrate(0.0, scenario.duration_s))
            assert math.isclose(bits, exact, rel_tol=0.01), scenario.name
    assert found["step-down-up"]["capacity"] == [[0.0, 2500], [20.0, 600], [40.0, 2500]]
    assert found["lossy-bursty"]["loss"] == "2 %, in bursts"
    assert found["tcp-competitor"]["traffic"] == "1 flow (TCP cubic)"
    assert found["short-queue"]["queue"] == "12 packets"


def test_a_sketch_has_words_for_every_kind_of_loss_and_jitter():
    texts = {"loss": {}, "jitter": {}}
    for seed in range(200):
        scenario = random_scenario(seed)
        drawing = sketch(scenario, "random")
        for impairment, words in texts.items():
            words[getattr(scenario.forward, impairment).kind] = drawing[impairment]
    assert set(texts["loss"]) == {"none", "bernoulli", "gilbert_elliott", "policer"}
    assert set(texts["jitter"]) == {"none", "truncated_gaussian", "uniform", "slotted", "spikes"}
    assert re.fullmatch(r"what exceeds [\d.e+]+ kbps and a burst of [\d.]+ kB", texts["loss"]["policer"])
    assert re.fullmatch(r"arrivals every [\d.]+ ms", texts["jitter"]["slotted"])
    assert re.fullmatch(r"none for [\d.]+ to [\d.]+ ms about every [\d.]+ s", texts["jitter"]["spikes"])


def test_every_rule_of_the_guard_has_a_sentence():
    page = Path(weir_calls.__file__).parent / "serve/page/guard.js"
    texts = re.findall(r'guard_(\w+): {.* text: "[^"]+"', page.read_text())
    assert "ecn" in GUARD_RULES
    assert sorted(GUARD_RULES) == sorted(texts)
