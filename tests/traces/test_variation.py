"""Variation of a scenario by a seed."""

import numpy as np
import pytest

from weir_cli.errors import InputError
from weir_traces.catalogue import bundled_scenarios
from weir_traces.generate.published import rfc8867_scenarios
from weir_traces.schema.capacity import CapacityTrace
from weir_traces.schema.scenario import Capacity, Scenario
from weir_traces.schema.variation import vary

ALL = [*bundled_scenarios(), *rfc8867_scenarios()]


def scenario(**changes) -> Scenario:
    trace = CapacityTrace([0, 1, 3], [1e6, 2e6, 3e6], 4)
    fields = {"name": "one", "duration_s": 10.0, "forward": {"capacity": Capacity.from_trace(trace)}}
    return Scenario.make(**(fields | {"flows": [{"kind": "rtp"}]} | changes))


def test_seed_0_is_the_scenario_as_written() -> None:
    for base in ALL:
        varied, drawn = vary(base, 0)
        assert varied == base
        assert drawn == {}


@pytest.mark.parametrize("base", ALL, ids=lambda base: base.name)
def test_every_seed_is_another_valid_scenario_and_the_same_twice(base: Scenario) -> None:
    documents = []
    for seed in range(1, 6):
        varied, drawn = vary(base, seed)
        assert (varied, drawn) == vary(base, seed)
        assert Scenario.from_dict(varied.to_dict()) == varied
        assert varied.name == base.name
        for link, original in ((varied.forward, base.forward), (varied.reverse, base.reverse)):
            reach_ms = min(0.1 * original.one_way_delay_ms, 5.0) + 1e-3
            assert abs(link.one_way_delay_ms - original.one_way_delay_ms) <= reach_ms
            assert link.model_copy(update={"capacity": None, "one_way_delay_ms": 0.0}) == original.model_copy(
                update={"capacity": None, "one_way_delay_ms": 0.0}
            )
        documents.append(varied.to_json())
    assert len(set(documents)) == 5


def test_a_run_begins_later_in_both_directions() -> None:
    reverse = {"capacity": {"times_s": [0, 0.5], "rates_bps": [1e5, 2e5], "period_s": 1.0}}
    base = scenario(reverse=reverse)
    starts = set()
    for seed in range(1, 30):
        varied, drawn = vary(base, seed)
        starts.add(start_s := drawn["trace_start_s"])
        assert 0 <= start_s < 4
        times = np.linspace(0.003, 12, 1000)
        for link, original in ((varied.forward, base.forward), (varied.reverse, base.reverse)):
            expected = original.capacity.trace().rate_at(times + start_s)
            assert np.mean(link.capacity.trace().rate_at(times) == expected) > 0.99
    assert len(starts) == 29
    assert max(starts) > 3
    assert min(starts) < 1


def test_delay_and_loss_that_repeat_begin_later_with_the_capacity() -> None:
    delay = {"times_s": [0, 1], "values_ms": [20, 60], "period_s": 4}
    ratio = {"times_s": [0, 2], "ratios": [0, 0.1], "period_s": 4}
    capacity = {"times_s": [0, 1, 2], "rates_bps": [1e6, 2e6, 3e6], "period_s": 4}
    loss = {"kind": "bernoulli", "ratio": ratio}
    base = scenario(forward={"capacity": capacity, "one_way_delay_ms": delay, "loss": loss})
    times = np.linspace(0.0031, 12, 1000)
    for seed in range(1, 10):
        varied, drawn = vary(base, seed)
        start_s, link = drawn["trace_start_s"], varied.forward
        difference_ms = link.one_way_delay_ms.at(times) - base.forward.one_way_delay_ms.at(times + start_s)
        assert np.ptp(difference_ms) < 1e-3
        assert 1e-3 < abs(difference_ms[0]) <= 5.0
        assert np.all(link.loss.ratio.at(times) == base.forward.loss.ratio.at(times + start_s))
        assert np.all(link.capacity.trace().rate_at(times) == base.forward.capacity.trace().rate_at(times + start_s))


def test_a_route_change_without_a_period_keeps_its_time() -> None:
    base = scenario(forward={"capacity": None, "one_way_delay_ms": {"times_s": [0, 3], "values_ms": [2, 40]}})
    varied, drawn = vary(base, 3)
    assert drawn["trace_start_s"] is None
    assert varied.forward.one_way_delay_ms.times_s == [0, 3]
    assert varied.forward.one_way_delay_ms.values_ms[0] >= 0
    assert varied.forward.one_way_delay_ms.values_ms != [2, 40]


def test_steps_without_a_period_keep_their_times() -> None:
    steps = {"times_s": [0, 3], "rates_bps": [1e6, 2e6]}
    varied, drawn = vary(scenario(forward={"capacity": steps}), 3)
    assert varied.forward.capacity == Capacity(**steps)
    assert drawn["trace_start_s"] is None


def test_flows_vary_in_clock_and_phase_unless_the_file_sets_them() -> None:
    media = {"kind": "video", "frames_per_second": 15.0}
    flows = [
        {"kind": "rtp", "media": media},
        {"kind": "rtp", "id": "second", "start_s": 2.0, "sender_clock_ppm": 300.0, "sender_clock_offset_s": 0.0},
        {"kind": "rtp", "id": "blip", "start_s": 1.0, "stop_s": 1.000001},
        {"kind": "tcp", "start_s": 5.0},
    ]
    for seed in range(1, 20):
        varied, drawn = vary(scenario(flows=flows), seed)
        first, second, blip, tcp = varied.flows
        assert 0 <= first.start_s <= 1 / 15
        assert 2 <= second.start_s <= 2 + 1 / 30
        assert abs(first.sender_clock_ppm) <= 20
        assert 0 <= first.sender_clock_offset_s <= 64
        assert (second.sender_clock_ppm, second.sender_clock_offset_s) == (300, 0)
        assert blip.start_s == 1.0
        assert tcp.start_s == 5.0
        assert drawn["flows"]["media"]["sender_clock_ppm"] == first.sender_clock_ppm


def test_the_draw_depends_on_seed_and_name_alone() -> None:
    drawn = vary(scenario(), 4)[1]
    # A call and its replay have other media, and may be of other length.
    video = {"kind": "rtp", "media": {"kind": "video", "max_rate_bps": 1e6}}
    assert vary(scenario(flows=[video], duration_s=5.0), 4)[1] == drawn
    assert vary(scenario(name="other"), 4)[1]["trace_start_s"] != drawn["trace_start_s"]
    assert vary(scenario(name=f"{scenario().name}-without-jitter"), 4)[1] == drawn


@pytest.mark.parametrize("start_s", [0, 0.5, 1, 2.999999999, 3, 3.7, 4, 9.25, 1e-9])
def test_starting_point_of_a_capacity(start_s: float) -> None:
    trace = CapacityTrace([0, 1, 3], [10, 20, 30], 4)
    turned = trace.starting_at(start_s)
    assert turned.period_s == 4
    assert turned.mean_bps() == pytest.approx(trace.mean_bps(), abs=1e-6)
    ends = np.linspace(0.1, 9, 50)
    np.testing.assert_allclose(turned.integrate(0, ends), trace.integrate(start_s, start_s + ends), atol=1e-6)


def test_no_starting_point_without_a_period() -> None:
    with pytest.raises(InputError, match="no other starting point"):
        CapacityTrace.constant(1e6).starting_at(1)
