"""Random scenarios: reproducible, within their bounds, distributed as the module says."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.errors import InputError
from weir.traces.generate.random_domain import random_scenario
from weir.traces.schema.scenario import FillerMedia, GilbertElliottLoss, RtpFlow, Scenario, VideoMedia


@pytest.fixture(scope="module")
def many() -> list[Scenario]:
    return [random_scenario(seed) for seed in range(1500)]


def test_seed_and_split_decide_everything() -> None:
    assert random_scenario(5) == random_scenario(5)
    assert random_scenario(5).to_json() == random_scenario(5).to_json()
    different = [random_scenario(5), random_scenario(6), random_scenario(5, split="held_out")]
    assert len({scenario.to_json().split('"duration_s"')[1] for scenario in different}) == 3


@given(st.integers(0, 2**63), st.sampled_from(["train", "held_out"]), st.floats(1, 300))
@settings(max_examples=60, deadline=None)
def test_any_seed_gives_a_scenario_that_survives_its_file(seed: int, split: str, duration_s: float) -> None:
    scenario = random_scenario(seed, split=split, duration_s=duration_s)  # type: ignore[arg-type]
    assert scenario.duration_s == duration_s
    assert Scenario.from_json(scenario.to_json()) == scenario


def test_capacity_delay_and_queue_span_their_ranges(many: list[Scenario]) -> None:
    means = np.array([scenario.forward.mean_capacity_bps(60) for scenario in many])
    peaks = [scenario.forward.capacity.trace().rates_bps.max() for scenario in many if scenario.forward.capacity]
    delays = np.array([scenario.forward.one_way_delay_ms for scenario in many])
    drains = np.array([scenario.forward.queue_bytes(60) for scenario in many]) * 8 / means
    assert max(peaks) <= 50e6
    assert means.min() < 150e3
    assert means.max() > 40e6
    # Log-uniform: as many in each half of the logarithmic range.
    assert 0.42 < np.mean(means < np.sqrt(100e3 * 50e6)) < 0.56
    assert delays.min() >= 5
    assert delays.max() <= 200
    assert 0.44 < np.mean(delays < np.sqrt(5 * 200)) < 0.56
    assert 0.0299 <= drains.min() < 0.05
    assert 1.8 < drains.max() <= 2.01


def test_shares_are_as_documented(many: list[Scenario]) -> None:
    def share(values: list[str], value: str) -> float:
        return Counter(values)[value] / len(values)

    dynamics = [scenario.description.split(",")[0] for scenario in many]
    for kind, expected in {
        "constant": 0.2,
        "step": 0.2,
        "cellular": 0.2,
        "wifi": 0.12,
        "ramp": 0.08,
        "outage": 0.06,
    }.items():
        assert share(dynamics, kind) == pytest.approx(expected, abs=0.035)
    losses = [scenario.forward.loss.kind for scenario in many]
    assert share(losses, "none") == pytest.approx(0.6, abs=0.04)
    assert share(losses, "gilbert_elliott") == pytest.approx(0.15, abs=0.03)
    assert share([scenario.forward.jitter.kind for scenario in many], "none") == pytest.approx(0.6, abs=0.04)
    assert share([scenario.forward.queue_discipline for scenario in many], "codel") == pytest.approx(0.1, abs=0.03)
    assert share([str(scenario.forward.queue.bytes is None) for scenario in many], "True") == pytest.approx(
        0.8, abs=0.04
    )
    second = [scenario.flows[1].kind if len(scenario.flows) > 1 else "none" for scenario in many]
    assert share(second, "none") == pytest.approx(0.75, abs=0.04)
    assert share(second, "tcp") == pytest.approx(0.10, abs=0.03)
    assert share(second, "rtp") == pytest.approx(0.05, abs=0.02)


def test_media_may_limit_the_sender(many: list[Scenario]) -> None:
    kinds = Counter[str]()
    for scenario in many:
        media = scenario.flows[0]
        assert isinstance(media, RtpFlow)
        if isinstance(media.media, VideoMedia):
            kinds["video"] += 1
            assert 150e3 <= media.media.max_rate_bps <= 8e6
        elif isinstance(media.media, FillerMedia):
            kinds["limited" if media.media.max_rate_bps < 50e6 else "unlimited"] += 1
    assert kinds["video"] / len(many) == pytest.approx(0.25, abs=0.04)
    assert kinds["limited"] / len(many) == pytest.approx(0.15, abs=0.03)


def test_bursty_loss_is_mild(many: list[Scenario]) -> None:
    ratios = []
    for scenario in many:
        loss = scenario.forward.loss
        if isinstance(loss, GilbertElliottLoss):
            bad = loss.good_to_bad / (loss.good_to_bad + loss.bad_to_good)
            ratios.append(bad * loss.loss_bad)
            assert 0.1 <= loss.bad_to_good <= 0.5
    assert min(ratios) > 0.0009
    assert max(ratios) < 0.0205


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
