"""Sets of scenarios of suites."""

import pytest

from weir_cli.errors import InputError
from weir_eval.runs import scenario_sets as sets
from weir_eval.runs.scenario_sets import Settings
from weir_suites import scenarios
from weir_suites.suites import SUITES
from weir_traces.formats.plain_trace import scenario_from_capacity
from weir_traces.generate.families.families import FAMILIES, small_grid
from weir_traces.schema.scenario import FillerMedia

RTP = {"kind": "rtp", "media": {"kind": "video", "max_rate_bps": 5e6}}
NO_CALLS = {"clock", "mute", "content", "screens", "fault"}


def settings(traces=None, random=3):
    return Settings(None, None, traces=traces, random=random)


def test_traces_are_whole_and_repaired(traces):
    found = sets.traces("opennetlab")(settings(traces)).scenarios
    assert [one.name for one in found] == ["opennetlab-a", "opennetlab-b"]
    assert max(found[0].forward.capacity.rates_bps) == 1e6
    assert (found[0].forward.one_way_delay_ms, found[0].forward.queue.milliseconds, found[0].duration_s) == (
        25,
        300,
        10,
    )
    for file in (traces / "mahimahi").glob("*.*p*"):
        file.unlink()
    for file in (traces / "mahimahi").glob("*.down"):
        file.unlink()
    assert sets.traces("mahimahi")(settings(traces)).missing == "no traces in traces/mahimahi"
    with pytest.raises(InputError, match=r"no mahimahi/ATT-LTE-driving\.up in it"):
        sets.mahimahi_calls(settings(traces))
    (traces / "opennetlab/z.json").write_text("{}")
    with pytest.raises(InputError, match=r"z\.json"):
        sets.traces("opennetlab")(settings(traces))


def test_random_scenarios_are_held_out_and_not_repeated():
    first, more = (build(settings()).scenarios for build in (sets.random(), sets.random(first=1, times=2)))
    seeds = [f"weir_traces.generate.random_domain, held_out, seed {1_000_000 + index}" for index in range(6)]
    assert [one.provenance["source"] for one in (*first, *more)] == seeds


def test_the_steady_links_have_the_defaults_of_a_plain_trace():
    for scenario in scenarios.steady_links(settings()).scenarios:
        assert scenario == scenario_from_capacity(scenario.forward.capacity.trace(), scenario.name)


def test_no_set_names_two_scenarios_alike(traces):
    for suite in SUITES.values():
        for one in (*suite.replays, *suite.calls):
            names = [scenario.name for scenario in one.scenarios(settings(traces, random=1)).scenarios]
            assert len(set(names)) == len(names) > 0 or one.name == "more random", one.name


def test_the_base_delay_of_sharing_changes():
    changed = scenarios.sharing_with_route_changes(settings()).scenarios[1]
    assert changed.name == "rfc8867-5.5-route-changes"
    assert changed.forward.one_way_delay_ms.at([0, 149, 151, 226]).tolist() == [10, 10, 50, 10]
    assert changed.flows == next(one for one in SUITES["policy"].replays if one.name == "rfc8867").scenarios(
        settings()
    ).scenarios[1].flows  # fmt: skip


def test_impaired_calls_are_what_a_link_can_do_to_a_browser():
    called = scenarios.impaired_calls(settings()).scenarios
    assert {one.name.partition("-")[0] for one in called} == FAMILIES.keys() - NO_CALLS
    assert len(called) == len(FAMILIES.keys() - NO_CALLS)
    assert {one.duration_s for one in called} == {20.0, 40.0}
    plain = small_grid("video")["loss"][0].flows[0]
    assert [one.flows[0] for one in called] == [plain] * len(called)


def test_cellular_calls_and_their_replays(traces):
    called = scenarios.cellular_calls(settings(traces)).scenarios
    assert [one.name for one in called[:3]] == [
        "mahimahi-ATT-LTE-driving", "mahimahi-TMobile-UMTS-driving", "mahimahi-Verizon-EVDO-driving"
    ]  # fmt: skip
    assert len({one.name for one in called}) == 12
    assert {one.duration_s for one in called} == {30}
    assert {one.flows[0].media.kind for one in called} == {"video"}
    without = scenarios.cellular_calls(settings())
    assert (len(without.scenarios), "needs the mahimahi traces" in without.missing) == (9, True)
    replayed = sets.changed(sets.mahimahi_calls, scenarios.as_called)(settings(traces)).scenarios
    # The calls themselves do not describe the encoder.
    assert {one.flows[0].media.key_frame_interval_s == 100 for one in called[:3]} == {False}
    assert {one.flows[0].media.key_frame_interval_s for one in replayed} == {100}
    assert all(one.flows[0].media.rise_time_constant_s > 0 for one in replayed)
    # Payload of 2.5 Mbps, in packets of 1,200 bytes with headers of 24.
    assert {one.flows[0].media.max_rate_bps for one in replayed} == {2.55e6}


def test_a_set_with_filler_has_the_paths_of_that_with_video(traces):
    video, filler = (
        sets.sending(media, {"traces": sets.traces("mahimahi"), "bundled": scenarios.bundled})
        for media in ("video", "filler")
    )
    assert (list(video), list(filler)) == (["traces", "bundled"], ["traces, filler", "bundled, filler"])
    for name in video:
        first, second = (some(settings(traces)).scenarios for some in (video[name], filler[f"{name}, filler"]))
        assert {one.flows[0].media.kind for one in first} == {"video"}
        assert {one.flows[0].media for one in second} == {FillerMedia()}
        assert [(one.name, one.forward) for one in first] == [(one.name, one.forward) for one in second]


def test_the_return_path_loses_what_is_asked_and_nothing_else_changes():
    scenario = scenarios.muses_call(settings()).scenarios[0]

    def lossy(percent):
        return scenarios.losing_feedback(scenario, percent)

    assert lossy(0) == scenario
    changed = lossy(20).to_dict()
    assert (changed["name"], changed["reverse"]["loss"]["ratio"]) == ("muses-cross-traffic-feedback-lost-20", 0.2)
    changed["reverse"]["loss"] = scenario.to_dict()["reverse"]["loss"]
    assert changed | {"name": scenario.name} == scenario.to_dict()
