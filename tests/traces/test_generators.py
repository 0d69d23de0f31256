"""Synthetic capacities: seeded, within their bounds, with the statistics they promise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir_cli.errors import InputError
from weir_traces.generate import generators, radio
from weir_traces.generate.generators import GENERATORS
from weir_traces.generate.wifi_mobility import wifi_mobility

KINDS = sorted(GENERATORS)


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_trace(kind: str) -> None:
    assert GENERATORS[kind](rng(7), 60, 2e6) == GENERATORS[kind](rng(7), 60, 2e6)
    if kind != "constant":
        assert GENERATORS[kind](rng(7), 60, 2e6) != GENERATORS[kind](rng(8), 60, 2e6)


@given(st.sampled_from(KINDS), st.integers(0, 2**32), st.floats(0.5, 200), st.floats(20e3, 200e6))
@settings(max_examples=100)
def test_any_duration_and_rate_give_a_sound_trace(kind: str, seed: int, duration_s: float, rate_bps: float) -> None:
    trace = GENERATORS[kind](rng(seed), duration_s, rate_bps)
    assert trace.period_s == duration_s
    assert np.all(trace.rates_bps == np.round(trace.rates_bps))
    assert 0 < trace.mean_bps() < 12 * rate_bps


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("duration_s", "rate_bps"), [(0, 1e6), (-1, 1e6), (10, 0), (10, 11e9), (float("nan"), 1e6)])
def test_nonsense_is_refused(kind: str, duration_s: float, rate_bps: float) -> None:
    with pytest.raises(InputError, match="must be greater than 0"):
        GENERATORS[kind](rng(), duration_s, rate_bps)


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        ("step", {"low": 1.0, "high": 1.2}),
        ("step", {"shortest_s": 9, "longest_s": 8}),
        ("cellular", {"dwell_s": 0}),
        ("wifi", {"contention": 1}),
        ("wifi_mobility", {"distance_m": 0}),
        ("wifi_mobility", {"speed_mps": float("nan")}),
        ("wifi_mobility", {"path_loss_exponent": float("inf")}),
        ("wifi_mobility", {"coherence_s": 0}),
        ("outage", {"shortest_s": 0}),
        ("handover", {"fade_s": 9, "gap_s": 10}),
        ("ramp", {"interval_s": 0}),
        ("ramp", {"cycle_s": 0}),
        ("sawtooth", {"tooth_s": -1}),
    ],
)
def test_nonsensical_parameters_are_refused(kind: str, parameters: dict[str, float]) -> None:
    with pytest.raises(InputError):
        GENERATORS[kind](rng(), 60, 1e6, **parameters)


def test_constant() -> None:
    trace = generators.constant(rng(), 30, 1.5e6)
    assert (trace.rates_bps.tolist(), trace.period_s) == ([1.5e6], 30)


def test_steps_stay_in_bounds_hold_and_differ() -> None:
    trace = generators.step(rng(3), 2000, 1e6)
    assert np.all((trace.rates_bps >= 0.4e6) & (trace.rates_bps <= 2e6))
    holds = np.diff(trace.times_s)
    assert 4.99 <= holds.min() < 6
    assert 14 < holds.max() <= 15.01
    ratio = trace.rates_bps[1:] / trace.rates_bps[:-1]
    assert np.all((ratio <= 0.81) | (ratio >= 1.24))
    # Log-uniform: the median of the levels is near the geometric middle of the bounds.
    assert 0.75e6 < np.median(trace.rates_bps) < 1.1e6


def test_ramp_goes_up_and_down_between_its_bounds() -> None:
    trace = generators.ramp(rng(), 300, 1e6)
    assert 0.4e6 <= trace.rates_bps.min() < 0.45e6
    assert 1.55e6 < trace.rates_bps.max() <= 1.6e6
    assert trace.mean_bps() == pytest.approx(1e6, rel=0.01)
    assert np.abs(np.diff(trace.rates_bps)).max() <= 1.2e6 / 30 + 1


def test_sawtooth_falls_once_a_tooth() -> None:
    trace = generators.sawtooth(rng(), 150, 1e6)
    changes = np.diff(trace.rates_bps)
    assert np.count_nonzero(changes < 0) == 10
    assert np.all(changes[changes < 0] < -1.1e6)
    assert changes[changes > 0] == pytest.approx(1.2e6 / 30, rel=0.01)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_cellular_has_its_mean_spread_and_memory(seed: int) -> None:
    trace = radio.cellular(rng(seed), 1000, 3e6)
    rates = trace.rates_bps
    assert trace.mean_bps() == pytest.approx(3e6, rel=1e-6)
    assert 0.4 < rates.std() / rates.mean() < 1.1
    logs = np.log(rates)
    # States that last about 2 s correlate neighbours of 0.2 s strongly and samples 20 s apart hardly.
    assert 0.6 < np.corrcoef(logs[1:], logs[:-1])[0, 1] < 0.98
    assert abs(np.corrcoef(logs[100:], logs[:-100])[0, 1]) < 0.35
    assert 0.0 < np.mean(rates < 0.15 * np.median(rates)) < 0.1


def test_cellular_without_fades_or_variation_shows_its_levels() -> None:
    trace = radio.cellular(rng(), 600, 1e6, fade_probability=0, variation=0)
    levels = np.unique(trace.rates_bps)
    assert levels / levels[0] == pytest.approx(np.array([0.25, 0.5, 1, 1.5, 2.2]) / 0.25, rel=1e-4)
    dwell = np.diff(trace.times_s[np.flatnonzero(np.diff(trace.rates_bps)) + 1])
    assert 1.4 < dwell.mean() < 2.8


def test_wifi_mobility_sinks_with_distance_and_moves_with_the_client() -> None:
    near, far = (wifi_mobility(rng(), 300, 40e6, shadowing_db=0, distance_m=m, speed_mps=0) for m in (5, 60))
    assert near.rates_bps.tolist() == [40e6] * 3000
    assert far.rates_bps.tolist() == [4e6] * 3000
    walking = wifi_mobility(rng(), 300, 40e6, shadowing_db=0, distance_m=60, speed_mps=1.5)
    # From the rim, the slowest scheme, through the disc, one scheme after the other: 4 dB a metre at most.
    assert walking.rates_bps[0] == 4e6
    assert len(np.unique(walking.rates_bps)) == 8
    schemes = np.searchsorted(40e6 * np.array(radio.MCS_SHARES), walking.rates_bps)
    assert np.abs(np.diff(schemes)).max() == 1


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_wifi_has_its_mean_and_gets_worse_with_the_signal(seed: int) -> None:
    strong = radio.wifi(rng(seed), 500, 10e6, snr_db=35, contention=0)
    weak = radio.wifi(rng(seed), 500, 10e6, snr_db=12, contention=0)
    for trace in (strong, weak):
        assert trace.mean_bps() == pytest.approx(10e6, rel=1e-6)
        assert 2 <= np.unique(trace.rates_bps).size <= 8
    assert strong.rates_bps.std() / 10e6 < 0.2 < weak.rates_bps.std() / 10e6 < 1.0


def test_wifi_shadowing_has_its_coherence_time() -> None:
    slow = radio.wifi(rng(5), 1000, 10e6, coherence_s=5, contention=0).rates_bps
    quick = radio.wifi(rng(5), 1000, 10e6, coherence_s=0.3, contention=0).rates_bps
    correlation = [np.corrcoef(rates[10:], rates[:-10])[0, 1] for rates in (slow, quick)]
    assert 0.6 < correlation[0] < 0.95
    assert correlation[1] < 0.2


@pytest.mark.parametrize("seed", range(10))
def test_outages_are_of_their_length_and_number(seed: int) -> None:
    trace = radio.outage(rng(seed), 600, 2e6)
    assert set(trace.rates_bps.tolist()) == {0.0, 2e6}
    assert trace.rate_at([0, 50, 545, 599]).tolist() == [2e6] * 4
    lengths = np.diff(trace.times_s)[trace.rates_bps[:-1] == 0]
    assert np.all((lengths > 0) & (lengths <= 3.001))
    assert np.count_nonzero(lengths >= 0.499) >= lengths.size - 1
    # 480 s with one every 15 + 1.75 s on average.
    assert 12 <= lengths.size <= 50


def test_even_a_short_trace_has_an_outage() -> None:
    for seed in range(50):
        assert 0 in radio.outage(rng(seed), 2, 1e6).rates_bps


@pytest.mark.parametrize("seed", range(5))
def test_handovers_fade_stop_and_change_level(seed: int) -> None:
    trace = radio.handover(rng(seed), 600, 4e6)
    stops = np.flatnonzero(trace.rates_bps == 0)
    lengths = np.append(trace.times_s, 600)[stops + 1] - trace.times_s[stops]
    assert 20 <= stops.size <= 60
    assert lengths.min() == pytest.approx(0.06, abs=0.002)
    assert lengths.max() <= 2.001
    before = trace.rates_bps[stops - 1]
    levels = trace.rates_bps[(stops + 1)[stops + 1 < trace.rates_bps.size]]
    assert np.all((levels >= 2e6) & (levels <= 6e6))
    assert np.all(before <= 0.3 * 6e6 + 1)
    assert np.all(before >= 0.3 * 2e6 - 1)


def test_even_a_short_trace_has_a_handover() -> None:
    for seed in range(50):
        assert 0 in radio.handover(rng(seed), 5, 1e6).rates_bps
