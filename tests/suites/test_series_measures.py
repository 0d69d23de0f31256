"""Functions of series, and the goals on them, against series made by hand; samples of 100 ms."""

import math

import numpy as np
import pytest
from hand_made import record, series
from hand_made_results import results, row

from weir_eval.measures.fairness import settled_jain_index, settled_media_share, settled_rates_bps
from weir_suites.series_measures import (
    drain_time_s,
    largest_queue_ms,
    recovery_s,
    share_before_step,
    start_time_s,
    time_below_s,
)


def test_start_is_the_end_of_the_first_window_at_the_rate():
    # A burst of one sample is no rate; 4.5 Mbps over three samples is.
    rates = [0.3e6] * 5 + [6e6] + [0.3e6] * 4 + [4.5e6] * 10
    assert start_time_s(series(rates), 5e6) == pytest.approx(1.3)
    assert start_time_s(series([0.0] * 7 + rates, start_s=0.7), 5e6) == pytest.approx(1.3)
    assert start_time_s(series([4.4e6] * 50), 5e6) == math.inf


def test_a_queue_is_drained_at_the_beginning_of_the_first_quiet_second():
    delays = [25] * 10 + [30] * 3 + [200] * 12 + [70] * 2 + [25] * 5 + [80] + [60] + [30] * 20
    assert drain_time_s(series(delay=delays), 25, 1.0) == pytest.approx(2.3)
    longer = [25] * 10 + [100] * 8 + [40] * 9 + [90] * 3 + [74.9] * 10
    assert drain_time_s(series(delay=longer), 25, 1.0) == pytest.approx(2.0)
    assert drain_time_s(series(delay=[25] * 10 + [74.9] * 30), 25, 1.0) == 0
    assert drain_time_s(series(delay=[25] * 10 + [75] * 30), 25, 1.0) == math.inf
    # Where nothing arrives nothing is drained.
    assert drain_time_s(series(delay=[25] * 10 + [np.nan] * 15 + [26] * 20), 25, 1.0) == pytest.approx(1.5)


def test_share_of_the_link_before_the_step():
    found = series([0.0] * 50 + [1e6] * 50 + [9e6] * 10, capacity=[2e6] * 110)
    assert share_before_step(found, 10.0) == pytest.approx(0.5)
    assert share_before_step(series([1e6] * 110), 10.0) is None


@pytest.mark.parametrize(
    ("after", "below_80", "below_half"),
    [
        # Within a window, the edges cost less than a second.
        ([0.25e6] * 40 + [0.7e6] * 100 + [1e6] * 200, (14.0, 0.7), (4.0, 0.7)),
        # Two dips add up, and the longest counts.
        ([0.0] * 20 + [1e6] * 100 + [0.0] * 40 + [1e6] * 100, (6.0, 1.4), (4.0, 0.1)),
        ([1e6] * 200, (0, 0), (0, 0)),
        # A late frame is no dip.
        ([0.0, 0.0, 3e6] + [1e6] * 200, (0, 0.2), (0, 0)),
    ],
)
def test_dips(after, below_80, below_half):
    found = series([1e6] * 200 + after)
    assert time_below_s(found, 20.0, 0.8) == pytest.approx(below_80[0], abs=below_80[1])
    assert time_below_s(found, 20.0, 0.5, longest=True) == pytest.approx(below_half[0], abs=below_half[1])


def test_a_flow_without_a_rate_before_has_no_dip():
    assert time_below_s(series([0.0] * 400), 20.0, 0.8) is None


def test_recovered_is_the_first_second_of_three_at_the_rate_of_before():
    # A fault from 20 to 25 s; 2 s of a burst from before it, 3 s at half the rate, then as before.
    receive = [1e6] * 200 + [0.0] * 50 + [1.5e6] * 20 + [0.5e6] * 30 + [0.9e6] * 200
    delay = [30.0] * len(receive)
    # The window that is 0.8 on average begins earlier.
    assert recovery_s(series(receive, delay), 20.0, 25.0, 30.0) == pytest.approx(5.0, abs=0.8)
    assert recovery_s(series([1e6] * 500, [30.0] * 500), 20.0, 25.0, 30.0) == 0
    assert recovery_s(series(receive[:320], delay[:320]), 20.0, 25.0, 30.0) == math.inf
    assert recovery_s(series([0.0] * 500), 20.0, 25.0, 30.0) is None
    # A queue that drains at the rate of before is no recovery.
    drains = [30.0] * 200 + [np.nan] * 50 + [400.0] * 40 + [30.0] * 210
    assert recovery_s(series([1e6] * 500, drains), 20.0, 25.0, 30.0) == pytest.approx(4.0, abs=0.8)


def test_the_largest_queue_is_that_of_the_first_5_s_after_the_start():
    delay = [np.nan] * 100 + [30.0] * 20 + [65.0] + [30.0] * 60 + [500.0] * 10
    assert largest_queue_ms(series(delay=delay, start_s=10.0), 25.0) == pytest.approx(40.0)
    assert largest_queue_ms(series(delay=[np.nan] * 100), 25.0) is None


def flow(name, rates, kind="rtp", start_s=0.0, stop_s=None, direction="forward"):
    filler = {key: [0.0] * len(rates) for key in ("target_bps", "send_rate_bps", "packets_lost")}
    own = {"receive_rate_bps": rates, "one_way_delay_mean_ms": [25.0] * len(rates)} | filler
    return {
        "id": name, "kind": kind, "controller": "weir", "direction": direction, "start_s": start_s, "stop_s": stop_s,
        "series": own, "base_one_way_delay_ms": 25.0,
    }  # fmt: skip


def run(scenario, controller, *flows):
    """A record with series: 60 s on 4 Mbps."""
    return record(scenario, controller, flows=flows, series={"interval_s": 0.1, "capacity_bps": [4e6] * 600})


def test_settled_rates_leave_out_the_first_20_s_together():
    # From 10 + 20 s on, to 50 s.
    late = [0.0] * 100 + [9e6] * 200 + [1e6] * 200 + [0.0] * 100
    early = [9e6] * 300 + [3e6] * 200 + [9e6] * 100
    found = run("by hand", "weir", flow("early", early), flow("late", late, start_s=10.0, stop_s=50.0))
    assert settled_rates_bps(found) == pytest.approx({"early": 3e6, "late": 1e6})
    assert settled_jain_index(found) == pytest.approx(16 / 20)
    short = run("by hand", "weir", flow("early", early), flow("late", late, start_s=35.0, stop_s=50.0))
    assert settled_rates_bps(short) == {}
    assert settled_jain_index(short) is None
    assert settled_rates_bps(short.without_series()[0]) == {}


def test_shares_against_tcp():
    back = flow("back", [5e6] * 600, direction="reverse")
    found = run("tcp-cubic-stays-4M-video", "weir", flow("media", [1e6] * 600), flow("tcp", [3e6] * 600, "tcp"), back)
    assert settled_media_share(found) == pytest.approx(0.25)
    assert settled_jain_index(found) is None
    rows = [row(f"tcp_{whose}_share", results({"tcp": [found]})) for whose in ("own", "left")]
    assert [(one.value, one.reached) for one in rows] == [(0.5, True), (1.5, True)]
    queues = [found.model_copy(update={"scenario": f"rfc8867-5.6-queue{ms}"}) for ms in (300, 1000)]
    rows = [row(f"rfc8867_5.6_{whose}_share", results({"rfc8867": queues})) for whose in ("own", "tcp")]
    assert [(one.value, one.reached) for one in rows] == [(0.25, True), (0.75, True)]
    assert row("rfc8867_5.6_own_share", results({"rfc8867": queues[:1]})).reached is None


def test_the_mean_over_rates_decides_on_a_strength():
    used = {"1M": 0.99, "4M": 0.93, "10M": 0.96}
    loss = [record(f"loss-random2-{rate}-video", "weir", utilisation=value) for rate, value in used.items()]
    loss += [record(f"loss-random2-{rate}-video", "gcc", utilisation=1.0) for rate in used]
    # Filler is another set.
    filler = [record("loss-random2-1M-filler", "weir", utilisation=0.1)]
    found = row("loss_2", results({"loss": loss, "loss, filler": filler}))
    assert (found.value, found.reached) == (pytest.approx(0.96), True)
    assert found.detail == "weir 96.0, gcc 100.0; 3 scenarios; lowest loss-random2-4M-video 0.93"
    assert row("loss_5", results({"loss": loss})).verdict == "not measured: no run has what is measured"


def test_the_worst_clock_decides_against_the_right_one():
    utilisation = {"right": 0.9, "slow300": 0.882, "fast1000": 0.9, "back100ms": 0.1}
    clock = [record(f"clock-{name}-1M-video", "weir", utilisation=value) for name, value in utilisation.items()]
    found = row("clock_utilisation", results({"clock": clock}))
    assert (found.value, found.reached) == (pytest.approx(0.98), True)


def test_delay_under_jitter_is_that_of_all_rates_together():
    delays = {"weir": {"1M": 60.0, "4M": 50.0}, "gcc": {"1M": 50.0, "4M": 50.0}}
    jitter = [
        record(f"jitter-gaussian20-{rate}-video", name, p95_queueing_delay_ms=value)
        for name, by_rate in delays.items()
        for rate, value in by_rate.items()
    ]
    assert row("jitter_delay_20", results({"jitter": jitter})).value == pytest.approx(1.1)


def test_the_scenario_with_the_most_feedback_about_audio_decides():
    def audio(packets_per_second, controller, every):
        # While video runs, in each 100 ms.
        sent = [2] * 200 + [int(index % every == 0) for index in range(200)] + [2] * 200
        flow = {"series": {"rate_feedback_sent": sent}}
        return record(f"mute-audio{packets_per_second}-4M-video", controller, flow=flow, series={"interval_s": 0.1})

    mute = [audio(1, "weir", 4), audio(50, "weir", 10), audio(1, "gcc", 20), record("mute-20s-4M-video", "weir")]
    found = row("audio_feedback", results({"mute": mute}))
    assert (found.value, found.reached) == (pytest.approx(2.5), False)
    assert found.detail == "weir 2.5, gcc 0.5; 2 scenarios; 1 miss it: mute-audio1-4M-video 2.5"
    assert row("audio_feedback", results({"mute": mute[2:3]})).verdict.startswith("not measured: no run of weir on ")


def test_the_slowest_recovery_of_a_fault_decides():
    def struck(rate, controller, back_s):
        receive = [1e6] * 200 + [0.0] * 100 + [0.0] * round(10 * back_s) + [1e6] * 300
        return run(f"fault-outage-{rate}-video", controller, flow("media", receive[:600]))

    fault = [struck("1M", "weir", 2), struck("4M", "weir", 7), struck("4M", "gcc", 1)]
    found = row("recovery_outage", results({"fault": fault}))
    assert (found.value, found.reached) == (pytest.approx(7, abs=0.9), False)
    assert found.detail.endswith("; 2 scenarios; 1 miss it: fault-outage-4M-video 6.8 s")
    assert row("recovery_outage", results({"fault": fault[:1]})).reached
    never = row("recovery_outage", results({"fault": [*fault, struck("10M", "weir", 40)]}))
    assert (never.value, never.reached, never.measured) == (None, False, "never")
    assert row("recovery_queue5s", results({"fault": fault})).reached is None


def test_the_longest_dip_after_a_route_change_decides():
    def dipped(scenario, controller, seconds):
        return run(scenario, controller, flow("media", [1e6] * 200 + [0.1e6] * round(10 * seconds) + [1e6] * 400))

    route = [dipped("route-plus20-4M-video", "weir", 1), dipped("route-plus60-4M-video", "weir", 6)]
    route.append(dipped("route-minus40-4M-video", "weir", 30))
    route = [one.model_copy(update={"series": {"interval_s": 0.1}}) for one in route]
    found = row("route_below_half", results({"route": route}))
    assert (found.value, found.reached) == (pytest.approx(6, abs=0.7), False)
    assert "; 2 runs; 1 miss it: route, route-plus60-4M-video, seed 1 " in found.detail


def test_a_start_and_a_queue_that_never_come():
    slow, quick = ([rate] * 600 for rate in (1e6, 5e6))
    found = results(
        {"start, filler": [run("start-5M", "weir", flow("media", slow)), run("start-5M", "gcc", flow("media", quick))]}
    )
    start = row("start", found)
    assert (start.value, start.measured, start.reached) == (None, "never", False)
    assert start.detail == "weir never, gcc 0.3; 1 scenario"
    drained = {name: run("halved-2.5M", name, flow("media", quick)) for name in ("weir", "gcc")}
    drained["gcc"].flows[0].series["one_way_delay_mean_ms"] = [500.0] * 600
    less = row("halved_against_gcc", results({"halved, filler": list(drained.values())}))
    assert (less.measured, less.reached) == ("never with gcc", True)
    assert row("halved", results({"halved, filler": list(drained.values())})).value == 0
