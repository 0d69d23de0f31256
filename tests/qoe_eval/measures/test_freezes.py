import numpy as np
import pytest

from weir_eval.measures.viewer import find_freezes


def times(intervals_ms, start_us=0):
    return [start_us, *(start_us + np.cumsum(1000 * np.array(intervals_ms)).astype(int)).tolist()]


def durations_ms(intervals_ms, more_ms=0.0):
    rendered = times(intervals_ms)
    return [freeze.duration_us / 1000 for freeze in find_freezes(rendered, rendered[-1] + int(1000 * more_ms))]


@pytest.mark.parametrize("interval", [10, 33.333, 200, 1000])
def test_a_steady_rate_never_freezes_however_low(interval):
    assert durations_ms([interval] * 100) == []


@pytest.mark.parametrize(
    ("usual", "gap", "frozen"),
    [(33, 182, False), (33, 183, True), (100, 299, False), (100, 300, True), (20, 169, False), (20, 170, True)],
)
def test_the_bound_is_the_larger_of_both(usual, gap, frozen):
    assert durations_ms([usual] * 30 + [gap] + [usual] * 30) == ([gap] if frozen else [])


def test_only_the_last_thirty_frames_count():
    # 10 frames a second for long, then 30: after thirty of them 200 ms is a freeze.
    assert durations_ms([100] * 50 + [33] * 29 + [250]) == [250]
    assert durations_ms([100] * 50 + [33] * 3 + [250]) == []


def test_standing_still_until_the_end_is_a_freeze():
    assert durations_ms([33] * 40, more_ms=150) == []
    assert durations_ms([33] * 40, more_ms=2000) == [2000]


def test_among_the_first_frames_a_freeze_is_longer_than_a_second():
    assert durations_ms([33, 900, 33]) == []
    assert durations_ms([33, 2000, 33]) == [2000]
    assert find_freezes([], 10_000_000) == []
    assert [freeze.duration_us for freeze in find_freezes([5], 10_000_005)] == [10_000_000]
    assert find_freezes([5, 6], 3) == []
