"""Measures of single runs against series made by hand; samples of 100 ms."""

import math

import numpy as np
import pytest

from weir.qoe_eval.experiments.robust.measures import dip_after, largest_queue_ms, recovery_s
from weir.qoe_eval.measures.flow_series import FlowSeries


def series(receive=(), delay=(), start_s=0.0):
    samples = max(len(receive), len(delay))
    zeros = np.zeros(samples)
    return FlowSeries(
        interval_s=0.1,
        start_s=start_s,
        stop_s=samples / 10,
        capacity_bps=None,
        target_bps=zeros,
        send_rate_bps=zeros,
        receive_rate_bps=np.array(receive, dtype=np.float64) if len(receive) else zeros,
        one_way_delay_mean_ms=np.array(delay, dtype=np.float64) if len(delay) else zeros,
        packets_lost=zeros,
    )


def test_a_dip_is_measured_in_all_and_at_once():
    # 4 s at a quarter, 10 s at 0.7 of the rate before, then as before.
    receive = [1e6] * 200 + [0.25e6] * 40 + [0.7e6] * 100 + [1e6] * 200
    dip = dip_after(series(receive), 20.0)
    # Within a window, the edges cost less than a second.
    assert dip.below_80_percent_s == pytest.approx(14.0, abs=0.7)
    assert dip.longest_below_half_s == pytest.approx(4.0, abs=0.7)


def test_two_dips_add_up_and_the_longest_counts():
    receive = [1e6] * 200 + [0.0] * 20 + [1e6] * 100 + [0.0] * 40 + [1e6] * 100
    dip = dip_after(series(receive), 20.0)
    assert dip.below_80_percent_s == pytest.approx(6.0, abs=1.4)
    assert dip.longest_below_half_s == pytest.approx(4.0, abs=0.1)


def test_a_steady_rate_has_no_dip_and_a_silent_flow_no_rate_before():
    steady = dip_after(series([1e6] * 400), 20.0)
    assert (steady.below_80_percent_s, steady.longest_below_half_s) == (0, 0)
    assert dip_after(series([0.0] * 400), 20.0) is None


def test_a_frame_that_is_late_is_no_dip():
    receive = [1e6] * 200 + [0.0, 0.0, 3e6] + [1e6] * 200
    assert dip_after(series(receive), 20.0).below_80_percent_s == pytest.approx(0, abs=0.2)


def test_recovered_is_the_first_second_of_three_at_the_rate_of_before():
    # A fault from 20 to 25 s; 2 s of a burst from before it, 3 s at half the rate, then as before.
    receive = [1e6] * 200 + [0.0] * 50 + [1.5e6] * 20 + [0.5e6] * 30 + [0.9e6] * 200
    delay = [30.0] * len(receive)
    # The window that is 0.8 on average begins earlier.
    assert recovery_s(series(receive, delay), 20.0, 25.0, 30.0) == pytest.approx(5.0, abs=0.8)
    assert recovery_s(series([1e6] * 500, [30.0] * 500), 20.0, 25.0, 30.0) == 0
    assert recovery_s(series(receive[:320], delay[:320]), 20.0, 25.0, 30.0) == math.inf
    assert recovery_s(series([0.0] * 500), 20.0, 25.0, 30.0) is None


def test_a_queue_that_drains_at_the_rate_of_before_is_no_recovery():
    receive = [1e6] * 500
    delay = [30.0] * 200 + [np.nan] * 50 + [400.0] * 40 + [30.0] * 210
    assert recovery_s(series(receive, delay), 20.0, 25.0, 30.0) == pytest.approx(4.0, abs=0.8)


def test_the_largest_queue_is_that_of_the_first_5_s_after_the_start():
    delay = [np.nan] * 100 + [30.0] * 20 + [65.0] + [30.0] * 60 + [500.0] * 10
    assert largest_queue_ms(series(delay=delay, start_s=10.0), 25.0) == pytest.approx(40.0)
    assert largest_queue_ms(series(delay=[np.nan] * 100), 25.0) is None
