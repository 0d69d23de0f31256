"""Verdicts on calls from a browser to a plug-in's receiver, with synthetic link logs."""

import numpy as np
import pytest
from hand_made import call_record

pytest.importorskip("weir_calls", reason="calls/ is not here")

import compare
import phases

from calls import Call
from weir_calls.link.log import DELAY_ERROR_BOUNDS_MS, LinkLog

INTERVAL_S = 0.1
DELAY_MS = 25.0
START_US = 7e6


def made_call(duration_s, capacity_bps, share, queue_ms=10.0, lost=0.0):
    """A call whose link carried `share(t)` of `capacity_bps(t)`, `queue_ms` in its queue."""
    times_s = INTERVAL_S * np.arange(1, round(duration_s / INTERVAL_S) + 1)
    capacities_bps = np.array([capacity_bps(t - INTERVAL_S) for t in times_s])
    shares = np.array([share(t - INTERVAL_S) for t in times_s])
    same = np.ones(len(times_s))
    link = LinkLog(
        time_us=START_US + 1e6 * times_s,
        scenario_time_s=times_s,
        capacity_bps=capacities_bps,
        carried_bytes=shares * capacities_bps * INTERVAL_S / 8,
        queue_bytes=0 * same,
        queueing_delay_ms=queue_ms * same,
        packets=100 * same,
        bytes=shares * capacities_bps * INTERVAL_S / 8,
        dropped_packets=100 * lost / (1 - lost) * same,
        dropped_while_down_packets=0 * same,
        one_way_delay_ms_mean=(DELAY_MS + queue_ms) * same,
        one_way_delay_ms_p95=(DELAY_MS + queue_ms) * same,
        cross_traffic_bytes=0 * same,
        delay_error_ms_p95=0 * same,
        delay_error_ms_counts=np.zeros((len(times_s), len(DELAY_ERROR_BOUNDS_MS))),
    )
    record = call_record(path={"one_way_delay_ms": float(DELAY_MS)}, measures={"p95_queueing_delay_ms": queue_ms})
    return Call(record, link)


def phased(share=lambda t: 1.0, queue_ms=10.0):
    """A call over the phases."""
    return made_call(
        phases.PHASE_S * len(phases.RATES_BPS),
        lambda t: phases.RATES_BPS[min(2, int((t + 1e-6) // phases.PHASE_S))],
        share,
        queue_ms,
    )


def test_the_phases_are_on_the_link():
    scenario = phases.scenario()
    trace = scenario.forward.capacity.trace()
    assert list(trace.rates_bps) == list(phases.RATES_BPS)
    assert scenario.duration_s == 60
    assert scenario.forward.one_way_delay_ms == scenario.reverse.one_way_delay_ms == DELAY_MS
    assert scenario.forward.queue.milliseconds == 300


@pytest.mark.parametrize(
    ("call", "goals", "works"),
    [
        (phased(), [True, True, True], True),
        (phased(lambda t: 0.91), [True, True, True], True),
        (phased(lambda t: 0.89), [False, False, False], True),
        (phased(lambda t: 0.64), [False, False, False], False),
        (phased(queue_ms=39), [True, True, True], True),
        (phased(queue_ms=41), [False, False, False], True),
        (phased(queue_ms=61), [False, False, False], False),
        (phased(lambda t: 0.5 if 20 <= t < 40 else 1), [True, False, True], False),
        # At the start and after a step up the time to reach the rate counts; after a step down it does not.
        (phased(lambda t: 0.2 if t < 2.9 or 20 <= t < 25 or 40 <= t < 42.9 else 1), [True, True, True], True),
        (phased(lambda t: 0.2 if t < 3.5 else 1), [False, True, True], True),
        (phased(lambda t: 0.2 if 40 <= t < 43.5 else 1), [True, True, False], True),
        (phased(lambda t: 0.6 if t < 7.5 else 1), [False, True, True], False),
        (phased(lambda t: 0), [False, False, False], False),
    ],
)
def test_a_phase_reaches_its_goals_or_not(call, goals, works):
    found = list(phases.phases(call))
    assert [reached for _, reached, _ in found] == goals
    assert all(works for _, _, works in found) == works


def test_how_long_it_took_is_told():
    assert phases.time_to_share_s(phased(lambda t: 0 if t < 2 else 1), 0, 0.9) == pytest.approx(1.9, abs=0.15)
    assert phases.time_to_share_s(phased(lambda t: 0), 0, 0.9) == phases.PHASE_S


def test_a_score_is_the_challenges():
    # MMSys 2021: delay 100 (400 - 125) / (400 - 25), rate 80, loss 98.
    call = made_call(30, lambda t: 1e6, lambda t: 0.8, queue_ms=100, lost=0.02)
    assert compare.score(call) == pytest.approx((0.2 * 100 * 275 / 375 + 0.2 * 80 + 0.3 * 98) / 0.7, abs=0.2)
    nothing = made_call(30, lambda t: 1e6, lambda t: 0)
    nothing.link.packets[:] = 0
    assert compare.score(nothing) == 0


@pytest.mark.parametrize(
    ("differences", "wanted"), [([3, -4], False), ([6, -4.9], True), ([20, -5.1], False), ([0], False)]
)
def test_weir_must_be_better_in_the_mean_and_nowhere_much_worse(differences, wanted):
    assert compare.reached(differences) is wanted


def test_the_compared_scenarios_are_held_out_and_not_the_same():
    names = [scenario.name for scenario, _ in zip(compare.scenarios(), range(5), strict=False)]
    assert len(set(names)) == 5
    for scenario, _ in zip(compare.scenarios(), range(5), strict=False):
        assert compare.LOWEST_BPS <= scenario.forward.mean_capacity_bps(compare.DURATION_S) <= compare.HIGHEST_BPS
        assert scenario.duration_s == compare.DURATION_S
