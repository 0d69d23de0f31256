"""Measures of single runs against series made by hand; samples of 100 ms."""

import numpy as np
import pytest

from weir.qoe_eval.experiments.policy.measures import recovery_time_s, share_before_step, start_time_s
from weir.qoe_eval.measures.fairness import settled_jain_index, settled_media_share, settled_rates_bps
from weir.qoe_eval.measures.flow_series import FlowSeries


def series(receive=(), delay=(), capacity=None, start_s=0.0):
    samples = max(len(receive), len(delay))
    zeros = np.zeros(samples)
    return FlowSeries(
        interval_s=0.1,
        start_s=start_s,
        stop_s=samples / 10,
        capacity_bps=None if capacity is None else np.array(capacity, dtype=float),
        target_bps=zeros,
        send_rate_bps=zeros,
        receive_rate_bps=np.array(receive, dtype=float) if len(receive) else zeros,
        one_way_delay_mean_ms=np.array(delay, dtype=float) if len(delay) else zeros,
        packets_lost=zeros,
    )


def test_start_is_the_end_of_the_first_window_at_the_rate():
    # A burst of one sample is no rate; 4.5 Mbps over three samples is.
    rates = [0.3e6] * 5 + [6e6] + [0.3e6] * 4 + [4.5e6] * 10
    assert start_time_s(series(rates), 5e6) == pytest.approx(1.3)
    assert start_time_s(series([0.0] * 7 + rates, start_s=0.7), 5e6) == pytest.approx(1.3)
    assert start_time_s(series([4.4e6] * 50), 5e6) is None


def test_recovery_is_the_beginning_of_the_first_quiet_second():
    step = 10  # sample of the step, 1 s
    delays = [25] * step + [30] * 3 + [200] * 12 + [70] * 2 + [25] * 5 + [80] + [60] + [30] * 20
    assert recovery_time_s(series(delay=delays), 25, 1.0) == pytest.approx(2.3)
    longer = [25] * step + [100] * 8 + [40] * 9 + [90] * 3 + [74.9] * 10
    assert recovery_time_s(series(delay=longer), 25, 1.0) == pytest.approx(2.0)
    assert recovery_time_s(series(delay=[25] * step + [74.9] * 30), 25, 1.0) == 0
    assert recovery_time_s(series(delay=[25] * step + [75] * 30), 25, 1.0) is None


def test_silence_is_no_recovery():
    assert recovery_time_s(series(delay=[25] * 10 + [np.nan] * 15 + [26] * 20), 25, 1.0) == pytest.approx(1.5)


def test_share_of_the_link_before_the_step():
    found = series([0.0] * 50 + [1e6] * 50 + [9e6] * 10, capacity=[2e6] * 110)
    assert share_before_step(found, 10.0) == pytest.approx(0.5)
    assert share_before_step(series([1e6] * 110), 10.0) is None


def flow(name, rates, kind="rtp", start_s=0.0, stop_s=None, direction="forward"):
    filler = {key: [0.0] * len(rates) for key in ("target_bps", "send_rate_bps", "packets_lost")}
    own = {"receive_rate_bps": rates, "one_way_delay_mean_ms": [25.0] * len(rates)} | filler
    return {
        "id": name, "kind": kind, "controller": "weir", "direction": direction, "start_s": start_s, "stop_s": stop_s,
        "series": own,
    }  # fmt: skip


def record(*flows):
    return {
        "scenario": "by hand", "duration_s": 60.0, "flows": list(flows),
        "series": {"interval_s": 0.1, "capacity_bps": [4e6] * 600},
    }  # fmt: skip


def test_settled_rates_leave_out_the_first_20_s_together():
    # From 10 + 20 s on, to 50 s.
    late = [0.0] * 100 + [9e6] * 200 + [1e6] * 200 + [0.0] * 100
    early = [9e6] * 300 + [3e6] * 200 + [9e6] * 100
    found = record(flow("early", early), flow("late", late, start_s=10.0, stop_s=50.0))
    assert settled_rates_bps(found) == pytest.approx({"early": 3e6, "late": 1e6})
    assert settled_jain_index(found) == pytest.approx(16 / 20)
    short = record(flow("early", early), flow("late", late, start_s=35.0, stop_s=50.0))
    assert settled_rates_bps(short) == {}
    assert settled_jain_index(short) is None


def test_media_share_against_tcp():
    found = record(
        flow("media", [1e6] * 600), flow("tcp", [3e6] * 600, kind="tcp"), flow("back", [5e6] * 600, direction="reverse")
    )
    assert settled_media_share(found) == pytest.approx(0.25)
    assert settled_jain_index(found) is None


def test_without_series():
    found = record(flow("media", [1e6] * 600))
    del found["flows"][0]["series"]
    assert settled_rates_bps(found) == {}
    assert settled_media_share(found) is None
