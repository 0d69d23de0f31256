"""The value of a capacity over time."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir_cli.errors import InputError
from weir_traces.schema.capacity import CapacityTrace

durations_and_rates = st.lists(
    st.tuples(st.integers(1, 5000), st.floats(0, 50e6, allow_nan=False)), min_size=1, max_size=40
)


def trace_of(pairs: list[tuple[int, float]]) -> CapacityTrace:
    return CapacityTrace.from_durations([ms / 1e3 for ms, _ in pairs], [rate for _, rate in pairs])


def test_rate_changes_at_its_own_time_and_repeats_with_the_period() -> None:
    trace = CapacityTrace([0, 1, 3], [10, 20, 30], 4)
    assert trace.rate_at([0, 0.999, 1, 2.9, 3, 3.9, 4, 5, 7.5]).tolist() == [10, 10, 20, 20, 30, 30, 10, 20, 30]


def test_without_a_period_the_last_rate_holds() -> None:
    trace = CapacityTrace([0, 1], [10, 20])
    assert trace.rate_at([0.5, 1, 1000]).tolist() == [10, 20, 20]
    assert trace.integrate(0, 101) == pytest.approx(10 + 20 * 100)
    assert trace.mean_bps(2) == pytest.approx(15)


def test_integral_over_several_periods() -> None:
    trace = CapacityTrace([0, 1, 3], [10, 20, 30], 4)
    assert trace.integrate(0, 4) == pytest.approx(80)
    assert trace.integrate(0.5, 9) == pytest.approx(5 + 40 + 30 + 80 + 10)
    assert trace.integrate([0, 1], [1, 3]).tolist() == pytest.approx([10, 40])


def test_a_mean_without_period_needs_a_duration() -> None:
    assert CapacityTrace.constant(5e6).mean_bps() == 5e6
    assert CapacityTrace([0, 1], [0, 4], 4).mean_bps() == 3
    with pytest.raises(InputError, match="no mean without a duration"):
        CapacityTrace([0, 1], [0, 4]).mean_bps()


@given(durations_and_rates, st.floats(0, 100), st.floats(0, 100), st.floats(0, 100))
@settings(max_examples=60)
def test_integral_is_additive_and_never_negative(pairs: list[tuple[int, float]], a: float, b: float, c: float) -> None:
    trace = trace_of(pairs)
    low, middle, high = sorted((a, b, c))
    whole = float(trace.integrate(low, high))
    assert whole >= -1e-3
    assert float(trace.integrate(low, middle)) + float(trace.integrate(middle, high)) == pytest.approx(
        whole, rel=1e-9, abs=0.1
    )
    assert whole <= (high - low) * trace.rates_bps.max() * (1 + 1e-9) + 0.1


@pytest.mark.parametrize(
    ("times", "rates", "period", "message"),
    [
        ([], [], None, "0 times and 0 rates"),
        ([0, 1], [1], None, "2 times and 1 rates"),
        ([1], [1], None, "the first time is 1 s"),
        ([0, 2, 2], [1, 1, 1], None, r"time 2 \(2 s\) is not later"),
        ([0, 2, 1], [1, 1, 1], None, r"time 2 \(1 s\) is not later"),
        ([0], [-1], None, "rate 0 is -1 bit/s"),
        ([0, 1], [1, 11e9], None, "rate 1 is 1.1e.10 bit/s"),
        ([0], [float("nan")], None, "finite"),
        ([0, float("inf")], [1, 1], None, "finite"),
        ([0, 5], [1, 1], 5, r"period \(5 s\) must be later"),
        ([0, 2e9], [1, 1], None, "must be at most 1e"),
        ([0], [1], float("inf"), "must be at most 1e"),
    ],
)
def test_nonsense_is_refused(times: list[float], rates: list[float], period: float | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        CapacityTrace(times, rates, period)


def test_it_is_a_value() -> None:
    trace = CapacityTrace([0, 1], [1, 2], 3)
    assert trace == CapacityTrace([0, 1], [1, 2], 3)
    assert trace != CapacityTrace([0, 1], [1, 2])
    with pytest.raises(ValueError, match="read-only"):
        trace.rates_bps[0] = 5
