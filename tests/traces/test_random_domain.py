"""Random scenarios: reproducible, within their bounds, distributed as the module describes."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir_cli.errors import InputError
from weir_traces.generate.random_domain import is_ordinary, random_scenario
from weir_traces.schema.links import (
    BernoulliLoss,
    GilbertElliottLoss,
    PolicerLoss,
    SlottedJitter,
    SpikeJitter,
    TruncatedGaussianJitter,
    UniformJitter,
)
from weir_traces.schema.scenario import FillerMedia, RtpFlow, Scenario
from weir_traces.schema.values_over_time import DelayOverTime


@pytest.fixture(scope="module")
def many() -> list[Scenario]:
    return [random_scenario(seed) for seed in range(1500)]


def test_seed_and_split_decide_everything() -> None:
    assert random_scenario(5) == random_scenario(5)
    assert random_scenario(5).to_json() == random_scenario(5).to_json()
    different = [random_scenario(5), random_scenario(6), random_scenario(5, split="held_out")]
    assert len({scenario.to_json().split('"duration_s"')[1] for scenario in different}) == 3


@given(st.integers(0, 2**63), st.sampled_from(["train", "held_out"]), st.floats(1, 300))
@settings(max_examples=60)
def test_any_seed_gives_a_scenario_that_survives_its_file(seed: int, split: str, duration_s: float) -> None:
    scenario = random_scenario(seed, split=split, duration_s=duration_s)  # type: ignore[arg-type]
    assert scenario.duration_s == duration_s
    assert Scenario.from_json(scenario.to_json()) == scenario


def share(values: Iterable[bool]) -> float:
    return float(np.mean(list(values)))


def at_the_start(delay_ms: float | DelayOverTime) -> float:
    return delay_ms.values_ms[0] if isinstance(delay_ms, DelayOverTime) else delay_ms


def test_capacity_delay_and_queue_span_their_ranges(many: list[Scenario]) -> None:
    means = np.array([scenario.forward.mean_capacity_bps(60) for scenario in many])
    peaks = [scenario.forward.capacity.trace().rates_bps.max() for scenario in many if scenario.forward.capacity]
    delays = np.array([at_the_start(scenario.forward.one_way_delay_ms) for scenario in many])
    limits = np.array([scenario.forward.queue_bytes(60) for scenario in many])
    few_packets = np.isin(limits, 1500 * np.arange(2, 21)) & [
        scenario.forward.queue.bytes is not None for scenario in many
    ]
    drains = (limits * 8 / means)[~few_packets]
    assert max(peaks) <= 50e6
    assert means.min() < 75e3
    assert means.max() > 40e6
    # Log-uniform: as many in each half of the logarithmic range.
    assert 0.42 < np.mean(means < np.sqrt(50e3 * 50e6)) < 0.56
    assert delays.min() >= 5
    assert 380 < delays.max() <= 400
    assert 0.44 < np.mean(delays < np.sqrt(5 * 400)) < 0.56
    assert np.mean(few_packets) == pytest.approx(0.10, abs=0.03)
    assert (limits[few_packets].min(), limits[few_packets].max()) == (2 * 1500, 20 * 1500)
    assert 0.0299 <= drains.min() < 0.05
    assert 5.5 < drains.max() <= 6.01


DYNAMICS = {
    "constant": 0.29, "step": 0.17, "alternating": 0.05, "cellular": 0.17, "wifi": 0.10, "ramp": 0.06, "outage": 0.05,
}  # fmt: skip
LOSSES = {"none": 0.5, "bernoulli": 0.32, "gilbert_elliott": 0.14, "policer": 0.04}
JITTERS = {"none": 0.5, "truncated_gaussian": 0.25, "uniform": 0.07, "slotted": 0.09, "spikes": 0.09}
COMPETITORS = {"none": 0.7, "cubic": 0.06, "newreno": 0.03, "bbr": 0.04, "cbr": 0.1, "rtp": 0.07}


def competitor(scenario: Scenario) -> str:
    flows = scenario.flows[1:]
    return "none" if not flows else getattr(flows[0], "congestion_control", flows[0].kind)


@pytest.mark.parametrize(
    ("kind", "shares"),
    [
        (lambda scenario: scenario.description.split(",")[0], DYNAMICS),
        (lambda scenario: scenario.forward.loss.kind, LOSSES),
        (lambda scenario: scenario.forward.jitter.kind, JITTERS),
        (lambda scenario: scenario.forward.queue_discipline, {"codel": 0.1, "drop_tail": 0.9}),
        (lambda scenario: scenario.forward.queue.bytes is None, {True: 0.72, False: 0.28}),
        (lambda scenario: isinstance(scenario.forward.one_way_delay_ms, DelayOverTime), {True: 0.2}),
        (lambda scenario: abs(scenario.flows[0].sender_clock_ppm) > 20, {True: 0.2}),
        (lambda scenario: scenario.flows[0].sender_clock_steps is not None, {True: 0.02}),
        (lambda scenario: scenario.reverse.jitter.kind != "none", {True: 0.1}),
        (lambda scenario: scenario.reverse.capacity is not None, {True: 0.05}),
        (competitor, COMPETITORS),
    ],
    ids=[
        "dynamics",
        "loss",
        "jitter",
        "discipline",
        "queue",
        "delay",
        "clock",
        "clock-steps",
        "way-back",
        "thin-way-back",
        "competitor",
    ],
)
def test_shares_are_as_documented(
    many: list[Scenario], kind: Callable[[Scenario], Any], shares: dict[Any, float]
) -> None:
    counts = Counter(kind(scenario) for scenario in many)
    for value, expected in shares.items():
        # Four standard deviations.
        tolerance = 4 * np.sqrt(expected * (1 - expected) / len(many))
        assert counts[value] / len(many) == pytest.approx(expected, abs=tolerance), value


def disturbances(scenario: Scenario) -> int:
    """How many kinds of what is not capacity happen."""
    forward, reverse, media = scenario.forward, scenario.reverse, scenario.flows[0]
    assert isinstance(media, RtpFlow)
    assert media.sender_clock_ppm is not None
    return sum(
        (
            isinstance(forward.one_way_delay_ms, DelayOverTime),
            forward.loss.kind != "none",
            forward.jitter.kind != "none",
            at_the_start(reverse.one_way_delay_ms) != at_the_start(forward.one_way_delay_ms),
            reverse.jitter.kind != "none",
            reverse.capacity is not None,
            abs(media.sender_clock_ppm) > 20,
            media.sender_clock_steps is not None,
            len(scenario.flows) > 1,
        )
    )


def test_disturbances_occur_alone_and_together(many: list[Scenario]) -> None:
    counts = [disturbances(scenario) for scenario in many]
    # The calm fifth, and a few in which nothing was drawn; then about as many as each other up to three.
    assert share(count == 0 for count in counts) == pytest.approx(0.23, abs=0.05)
    assert share(count == 1 for count in counts) == pytest.approx(0.15, abs=0.05)
    assert share(count >= 4 for count in counts) > 0.1


def test_the_path_changes_its_delay_in_each_way(many: list[Scenario]) -> None:
    changing = [scenario for scenario in many if isinstance(scenario.forward.one_way_delay_ms, DelayOverTime)]
    changes = []
    for scenario in changing:
        delay = scenario.forward.one_way_delay_ms
        assert isinstance(delay, DelayOverTime)
        assert min(delay.values_ms) >= 5
        assert max(delay.values_ms) <= 500
        assert delay.times_s[-1] < 60
        changes.append(np.abs(np.diff(delay.values_ms)))
    ramps = [steps for steps in changes if len(steps) >= 50]
    assert len(ramps) / len(many) == pytest.approx(0.05, abs=0.025)
    assert all(10 <= steps.sum() < 100.5 and steps.max() < 2.01 for steps in ramps)
    single = [steps for steps in changes if len(steps) == 1]
    assert single
    assert all(4.99 <= steps[0] <= 150.01 for steps in single)
    # Half of the routes that change do so in both directions.
    both = share(scenario.reverse.one_way_delay_ms == scenario.forward.one_way_delay_ms for scenario in changing)
    assert both == pytest.approx(0.45, abs=0.12)
    other = [
        at_the_start(scenario.reverse.one_way_delay_ms) - at_the_start(scenario.forward.one_way_delay_ms)
        for scenario in many
    ]
    assert share(difference != 0 for difference in other) == pytest.approx(0.1, abs=0.035)
    assert min(difference for difference in other if difference) >= 4.99
    assert 300 < max(other) <= 500.01


def test_clocks_jitter_and_loss_are_within_their_limits(many: list[Scenario]) -> None:
    for scenario in many:
        media, forward = scenario.flows[0], scenario.forward
        assert isinstance(media, RtpFlow)
        assert media.sender_clock_ppm is not None
        assert abs(media.sender_clock_ppm) <= 3000
        if media.sender_clock_steps is not None:
            assert all(10 <= abs(step) <= 5000 for step in media.sender_clock_steps.steps_ms)
        if isinstance(forward.jitter, TruncatedGaussianJitter):
            deviation_ms = forward.jitter.standard_deviation_ms
            assert 1 <= deviation_ms <= 70
            assert forward.jitter.maximum_ms == pytest.approx(min(3 * deviation_ms, 200), abs=0.01)
        elif isinstance(forward.jitter, UniformJitter):
            assert 2 <= forward.jitter.maximum_ms <= 200
        elif isinstance(forward.jitter, SlottedJitter):
            assert 5 <= forward.jitter.interval_ms <= 200
        elif isinstance(forward.jitter, SpikeJitter):
            assert 20 <= forward.jitter.shortest_ms <= forward.jitter.longest_ms <= 250
            assert 0.3 <= forward.jitter.gap_mean_s <= 10
        if isinstance(forward.loss, BernoulliLoss):
            assert isinstance(forward.loss.ratio, float)
            assert 0.001 <= forward.loss.ratio <= 0.15
        elif isinstance(forward.loss, PolicerLoss):
            mean_bps = forward.mean_capacity_bps(60)
            assert mean_bps is not None
            assert forward.loss.rate_bps == 50e3 or 0.29 * mean_bps < forward.loss.rate_bps < 0.91 * mean_bps
            assert 10e3 <= forward.loss.burst_bytes <= 200e3
            assert forward.loss.burst_bytes <= forward.loss.rate_bps * 2 / 8 + 1
        assert scenario.reverse.loss.kind in ("none", forward.loss.kind)
        assert scenario.reverse.loss.kind != "policer"


def test_a_level_that_would_begin_at_the_end_is_omitted() -> None:
    # Its last time is rounded to the duration.
    assert random_scenario(12787, duration_s=30.5).forward.capacity is not None


def test_media_may_limit_the_sender(many: list[Scenario]) -> None:
    kinds = Counter[str]()
    for scenario in many:
        media = scenario.flows[0]
        assert isinstance(media, RtpFlow)
        if isinstance(media.media, FillerMedia):
            kinds["limited" if media.media.max_rate_bps < 50e6 else "unlimited"] += 1
            continue
        unsteady = media.media.minimum_output_share < 1 or media.media.rise_time_constant_s > 0
        kinds["unsteady" if unsteady else "video"] += 1
        kinds["slow"] += media.media.rise_time_constant_s > 0
        kinds["screen"] += media.media.frames_per_second < 15
        kinds["paused"] += bool(media.media.video_pauses_s)
        assert 100e3 <= media.media.max_rate_bps <= 20e6
        assert unsteady or media.media.stall_probability == 0
        assert media.media.minimum_output_share >= 0.1
        assert media.media.stall_probability <= 0.08
    assert kinds["unsteady"] / len(many) == pytest.approx(0.32, abs=0.04)
    assert kinds["video"] / len(many) == pytest.approx(0.20, abs=0.03)
    assert kinds["limited"] / len(many) == pytest.approx(0.08, abs=0.03)
    assert kinds["slow"] / len(many) == pytest.approx(0.16, abs=0.03)
    assert kinds["screen"] / len(many) == pytest.approx(0.32 * 0.15 * 10 / 11, abs=0.02)
    assert kinds["paused"] / len(many) == pytest.approx(0.032, abs=0.02)


def test_bursty_loss_is_mild(many: list[Scenario]) -> None:
    ratios = []
    for scenario in many:
        loss = scenario.forward.loss
        if isinstance(loss, GilbertElliottLoss):
            bad = loss.good_to_bad / (loss.good_to_bad + loss.bad_to_good)
            ratios.append(bad * loss.loss_bad)
            assert 0.1 <= loss.bad_to_good <= 0.5
    assert min(ratios) > 0.0009
    assert 0.06 < max(ratios) < 0.0805


def test_competitors_come_and_go_within_the_run(many: list[Scenario]) -> None:
    for scenario in many:
        for flow in scenario.flows[1:]:
            assert flow.stop_s is not None
            assert 0 <= flow.start_s <= 36
            assert 12 - 0.01 <= flow.stop_s - flow.start_s <= 36.01
            assert flow.stop_s <= 60


def test_a_duration_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="must be greater than 0"):
        random_scenario(1, duration_s=0)


@pytest.mark.parametrize(
    ("part", "edge"),
    [
        ("forward", {"one_way_delay_ms": 201.0}),
        ("forward", {"queue": {"milliseconds": 2001.0}}),
        ("forward", {"queue": {"bytes": 260_000}}),
        ("forward", {"jitter": {"kind": "truncated_gaussian", "standard_deviation_ms": 41.0, "maximum_ms": 100.0}}),
        ("forward", {"jitter": {"kind": "uniform", "maximum_ms": 61.0}}),
        ("forward", {"jitter": {"kind": "slotted", "interval_ms": 101.0}}),
        ("reverse", {"capacity": {"times_s": [0.0], "rates_bps": [1e5]}}),
        ("media", {"frames_per_second": 10.0}),
        ("media", {"video_pauses_s": [[10.0, 15.0]]}),
    ],
)
def test_the_edges_of_the_domain_are_not_ordinary(part: str, edge: dict[str, Any]) -> None:
    def scenario(edges: dict[str, dict[str, Any]]) -> Scenario:
        return Scenario.make(
            name="path",
            duration_s=20.0,
            forward={"capacity": {"times_s": [0.0], "rates_bps": [1e6]}} | edges.get("forward", {}),
            reverse={"capacity": None} | edges.get("reverse", {}),
            flows=[{"kind": "rtp", "media": {"kind": "video", "max_rate_bps": 1e6} | edges.get("media", {})}],
        )

    assert is_ordinary(scenario({}))
    assert not is_ordinary(scenario({part: edge}))
