"""The scenarios of the families of network impairments."""

import numpy as np
import pytest

from weir_traces.generate.families.everything import COMBINATIONS
from weir_traces.generate.families.families import FAMILIES, small_grid
from weir_traces.generate.families.path import FAULT_BEGINS_S, FAULT_LENGTHS_S
from weir_traces.schema.links import BernoulliLoss, GilbertElliottLoss, PolicerLoss
from weir_traces.schema.media import MEDIA
from weir_traces.schema.values_over_time import DelayOverTime

VIDEO_ALONE = ("content", "screens")


@pytest.fixture(scope="module")
def grid():
    """All scenarios by family."""
    return {
        name: [scenario for media in MEDIA for scenario in build().scenarios(media)] for name, build in FAMILIES.items()
    }


def named(grid, name):
    (found,) = [scenario for scenario in grid[name.partition("-")[0]] if scenario.name == name]
    return found


def test_scenarios_have_unique_names_of_family_rate_and_media(grid):
    scenarios = [(family, scenario) for family, some in grid.items() for scenario in some]
    assert len({scenario.name for _, scenario in scenarios}) == len(scenarios) > 400
    for family, scenario in scenarios:
        first, *_, rate, media = scenario.name.split("-")
        assert (first, scenario.flows[0].media.kind) == (family, media)
        assert scenario.flows[0].kind == "rtp"
        assert scenario.duration_s == (20.0 if family == "start" else 60.0)
        # A policer's link is wider, and a fault takes some away.
        if not isinstance(scenario.forward.loss, PolicerLoss) and family != "fault":
            assert scenario.forward.mean_capacity_bps(scenario.duration_s) == pytest.approx(
                1e6 * float(rate[:-1]), rel=0.02
            )


def test_each_family_has_both_kinds_of_media_on_1_4_and_10_mbps(grid):
    for family, scenarios in grid.items():
        rates, media = ({scenario.name.split("-")[place] for scenario in scenarios} for place in (-2, -1))
        assert rates == {"4M", "20M"} if family == "screens" else {"1M", "4M", "10M"} <= rates
        assert media == ({"video"} if family in VIDEO_ALONE else {"filler", "video"})


def test_video_needs_five_sixths_of_its_link(grid):
    assert named(grid, "loss-random3-10M-video").flows[0].media.max_rate_bps == 8_333_000


def test_screens_have_few_frames_and_any_kind_of_audio(grid):
    media = {tuple(scenario.name.split("-")[1:4]): scenario.flows[0].media for scenario in grid["screens"]}
    assert len(media) == len(grid["screens"]) == 6 * 3 * 2
    assert {video.frames_per_second for video in media.values()} == {0.25, 0.5, 1, 2, 5, 10}
    audio = [media["0.25fps", kind, "20M"].audio_packets_per_second for kind in ("silent", "dtx", "speech")]
    assert audio == [0.1, 2.5, 50]
    assert {video.max_rate_bps for video in media.values()} == {2.5e6}


def test_a_route_changes_in_both_directions_at_20_s(grid):
    scenario = named(grid, "route-plus60-4M-video")
    for link in (scenario.forward, scenario.reverse):
        assert isinstance(link.one_way_delay_ms, DelayOverTime)
        assert link.one_way_delay_ms.at([0, 19.9, 20.1, 59]).tolist() == [25, 25, 85, 85]
    assert named(grid, "route-minus40-1M-filler").forward.one_way_delay_ms.at([0, 30]).tolist() == [65, 25]
    wandering = named(grid, "route-wandering-1M-filler").forward.one_way_delay_ms.at(np.arange(0, 60, 15.0))
    assert set(wandering.tolist()) == {25, 65, 35, 55}


def test_loss_matches_the_scenario_name(grid):
    independent = named(grid, "loss-random8-1M-video").forward.loss
    assert independent == BernoulliLoss(kind="bernoulli", ratio=0.08)
    bursty = named(grid, "loss-bursty5-1M-video").forward.loss
    assert isinstance(bursty, GilbertElliottLoss)
    bad_share = bursty.good_to_bad / (bursty.good_to_bad + bursty.bad_to_good)
    assert bad_share * bursty.loss_bad + (1 - bad_share) * bursty.loss_good == pytest.approx(0.05, rel=1e-3)


def test_a_policer_limits_what_its_link_could_carry(grid):
    scenario = named(grid, "policer-burst100ms-4M-filler")
    assert scenario.forward.loss == PolicerLoss(kind="policer", rate_bps=4e6, burst_bytes=50_000)
    assert scenario.forward.mean_capacity_bps(60.0) == 8e6
    assert named(grid, "policer-burst15kB-10M-filler").forward.loss.burst_bytes == 15_000


def test_slots_serve_a_part_of_the_time_at_the_same_mean_rate(grid):
    capacity = named(grid, "slots-20of100ms-4M-filler").forward.capacity.trace()
    assert capacity.mean_bps() == pytest.approx(4e6)
    assert (capacity.times_s.tolist(), capacity.period_s, capacity.rates_bps[1]) == ([0, 0.02], 0.1, 0)


def test_clocks_are_wrong_or_right_or_set(grid):
    ppm = {scenario.name.split("-")[1]: scenario.flows[0].sender_clock_ppm for scenario in grid["clock"]}
    assert ppm.pop("right") == 0
    assert (ppm["slow1000"], ppm["fast300"], ppm["back100ms"]) == (-1000, 300, None)
    assert named(grid, "clock-back100ms-1M-video").flows[0].sender_clock_steps.steps_ms == [-100]


def test_a_tcp_flow_starts_later_and_stops(grid):
    stays, leaves = (named(grid, f"tcp-bbr-{name}-5M-video").flows[1] for name in ("stays", "leaves"))
    assert (stays.congestion_control, stays.start_s, stays.stop_s, leaves.stop_s) == ("bbr", 15, None, 45)


def test_a_fault_begins_at_20_s_and_ends(grid):
    for scenario in grid["fault"]:
        end_s = FAULT_BEGINS_S + FAULT_LENGTHS_S[scenario.name.split("-")[1]]
        capacity, loss = scenario.forward.capacity, scenario.reverse.loss
        changes = [capacity.times_s] if len(capacity.times_s) > 1 else []
        changes += [loss.ratio.times_s] if isinstance(loss, BernoulliLoss) else []
        assert changes
        assert all(times == [0, 20, end_s] for times in changes)
    assert named(grid, "fault-feedback50-1M-video").reverse.loss.ratio.ratios == [0, 0.5, 0]
    assert named(grid, "fault-outage-4M-filler").forward.capacity.rates_bps == [4e6, 0, 4e6]
    assert named(grid, "fault-queue1packet-4M-filler").forward.queue_bytes(60.0) == 1500
    assert named(grid, "fault-feedback100half-10M-filler").forward.capacity.rates_bps == [10e6, 5e6, 10e6]


def test_only_video_can_pause(grid):
    audio = [scenario for scenario in grid["mute"] if "-audio" in scenario.name]
    assert [scenario.name for scenario in audio] == [
        f"mute-audio{n}-{rate}M-video" for n in (1, 50) for rate in (1, 4, 10)
    ]
    media = named(grid, "mute-audio1-4M-video").flows[0].media
    assert (media.video_pauses_s, media.audio_packets_per_second, media.audio_rate_bps) == ([[20, 40]], 1, 640)


def test_the_combinations_differ_and_are_the_same_every_time(grid):
    assert COMBINATIONS >= 12
    single_link = [scenario.to_dict() for scenario in grid["everything"] if scenario.name.endswith("-4M-video")]
    assert len(single_link) == COMBINATIONS
    for scenario in single_link:
        del scenario["name"]
    assert all(scenario not in single_link[:index] for index, scenario in enumerate(single_link))
    assert FAMILIES["everything"]().scenarios("video") == grid["everything"][: len(grid["everything"]) // 2]


def test_the_small_grid_has_two_of_each_family(grid):
    for media in MEDIA:
        small = small_grid(media)
        assert list(small) == [name for name in grid if media == "video" or name not in VIDEO_ALONE]
        for family, scenarios in small.items():
            assert len(scenarios) == 2
            assert all(scenario in grid[family] and scenario.name.endswith(f"-4M-{media}") for scenario in scenarios)
