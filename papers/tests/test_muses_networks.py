"""Muses' Tables II and III: reproducible, within their ranges, splits apart."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir_cli.errors import InputError
from weir_papers.muses.networks import (
    TEST_RATE_BPS,
    WifiTest,
    muses_lte_test,
    muses_scenario,
    muses_wifi_test,
    reach_m,
    resampled,
)
from weir_traces.generate.radio import MCS_MINIMUM_SNR_DB
from weir_traces.generate.wifi_mobility import SNR_AT_1_M_DB
from weir_traces.schema.capacity import CapacityTrace
from weir_traces.schema.links import BernoulliLoss
from weir_traces.schema.scenario import Scenario


@pytest.fixture(scope="module")
def many() -> list[Scenario]:
    return [muses_scenario(seed) for seed in range(300)]


def rates_bps(scenario: Scenario) -> np.ndarray:
    assert scenario.forward.capacity is not None
    return scenario.forward.capacity.trace().rates_bps


def test_seed_and_split_decide_everything() -> None:
    assert muses_scenario(5) == muses_scenario(5)
    assert muses_wifi_test("fluctuating-wifi", 5) == muses_wifi_test("fluctuating-wifi", 5)
    delays = {muses_scenario(5, split=split).forward.one_way_delay_ms for split in ("train", "held_out")}
    assert len(delays) == 2


def test_table_ii_spans_its_ranges(many: list[Scenario]) -> None:
    delays_ms = np.array([scenario.forward.one_way_delay_ms for scenario in many])
    buffers = np.array([scenario.forward.queue.bytes for scenario in many])
    losses = [scenario.forward.loss.ratio for scenario in many if isinstance(scenario.forward.loss, BernoulliLoss)]
    assert 5 <= delays_ms.min() < 10 < 140 < delays_ms.max() <= 150
    assert 1500 <= buffers.min() < 3000 < 2e6 < buffers.max() <= 3e6
    assert 0.04 < max(losses) <= 0.05
    assert np.mean(["wifi" in scenario.name for scenario in many]) == pytest.approx(0.5, abs=0.1)
    assert all(rates_bps(scenario).max() > 0 for scenario in many)


def test_a_narrower_range_of_delays_changes_nothing_else() -> None:
    wide, narrow = muses_scenario(3), muses_scenario(3, largest_delay_ms=20)
    assert 5 <= narrow.forward.mean_one_way_delay_ms(60) <= 20
    assert narrow.forward.capacity == wide.forward.capacity


@pytest.mark.parametrize(("kind", "largest_delay_ms"), [("steady-wifi", 30), ("fluctuating-wifi", 50)])
def test_wifi_of_table_iii(kind: WifiTest, largest_delay_ms: float) -> None:
    scenarios = [muses_wifi_test(kind, seed) for seed in range(40)]
    delays_ms = [scenario.forward.mean_one_way_delay_ms(100) for scenario in scenarios]
    assert 20 <= min(delays_ms) < 22 < largest_delay_ms - 3 < max(delays_ms) <= largest_delay_ms
    assert {scenario.forward.queue.bytes for scenario in scenarios} == {300_000}
    variations = [rates_bps(scenario).std() / rates_bps(scenario).mean() for scenario in scenarios]
    if kind == "steady-wifi":
        # 5 m away nothing but the deepest shadowing takes the fastest scheme away.
        assert np.median(variations) < 0.05
        assert np.median([rates_bps(scenario).mean() for scenario in scenarios]) > 0.95 * TEST_RATE_BPS
    else:
        assert min(variations) > 0.1


def test_lte_of_table_iii_is_the_recorded_trace_from_other_moments() -> None:
    recorded = CapacityTrace(np.arange(300.0), 1e6 + 1e3 * np.arange(300.0), 300.0)
    scenarios = [muses_lte_test(recorded, seed, 50.0) for seed in range(8)]
    starts = {rates_bps(scenario)[0] for scenario in scenarios}
    assert len(starts) == 8
    for scenario in scenarios:
        assert scenario.duration_s == 50
        assert np.all((rates_bps(scenario) >= 1e6) & (rates_bps(scenario) < 1.3e6))


def test_lte_that_is_down_for_long_is_no_test() -> None:
    # Two minutes, down in the last 30 s: only what begins in the 50 s before that escapes it.
    times_s = np.arange(120.0)
    down = CapacityTrace(times_s, np.where(times_s < 90, 1e6, 0), 120.0)
    for seed in range(8):
        rates = rates_bps(muses_lte_test(down, seed, 50.0))
        assert np.count_nonzero(rates == 0) <= 50
    with pytest.raises(InputError, match="outages of more than 10 s wherever"):
        muses_lte_test(down, 0, 120.0)


def test_a_recording_without_a_period_is_refused() -> None:
    with pytest.raises(InputError, match="period"):
        muses_lte_test(CapacityTrace.constant(1e6), 0)


@given(
    st.lists(st.tuples(st.integers(1, 5000), st.floats(0, 50e6, allow_nan=False)), min_size=1, max_size=40),
    st.floats(0.1, 30),
)
@settings(max_examples=60)
def test_resampling_keeps_the_integral(pairs: list[tuple[int, float]], length_s: float) -> None:
    trace = CapacityTrace.from_durations([ms / 1e3 for ms, _ in pairs], [rate for _, rate in pairs])
    found = resampled(trace, length_s)
    assert found.period_s == length_s
    assert found.integrate(0, length_s) == pytest.approx(float(trace.integrate(0, length_s)), rel=1e-9, abs=1e-3)
    assert np.all(np.diff(found.times_s) <= 0.2 + 1e-9)


def test_a_client_is_no_further_away_than_the_slowest_scheme_reaches() -> None:
    for exponent in (4.0, 6.0):
        snr_db = SNR_AT_1_M_DB - 10 * exponent * np.log10(reach_m(exponent))
        assert snr_db == pytest.approx(MCS_MINIMUM_SNR_DB[0])
