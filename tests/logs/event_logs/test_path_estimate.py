"""The path that is estimated from an event log, on logs of paths that are known."""

import json
import random

import numpy as np
import pytest

from weir_cli.errors import InputError
from weir_logs.event_logs.event_log import EventLog
from weir_logs.event_logs.path_estimate import estimate_path
from weir_logs.event_logs.reported_packets import reported_packet_lines

ONE_WAY_S = 0.04
CLOCKS_APART_S = 3.0


def made_log(
    capacity_bps,
    rate_bps,
    *,
    duration_s=20.0,
    queue_bytes=10**9,
    lost=lambda index: False,
    target_bps=None,
    jitter_s=0.0,
):
    """The log of a sender of frames of 1000-byte packets, 25 a second, over a first-in, first-out link.

    `capacity_bps`: of the time in s; `lost`: of the packet's index, after the link; `jitter_s`: the most, in order.
    """
    draw = random.Random(1)
    latest_s = 0.0
    sent, received, free_s = [], [], 0.0
    departures = []
    due_packets = 0.0
    for frame_s in np.arange(0, duration_s, 0.04):
        due_packets += rate_bps * 0.04 / 8000
        while due_packets >= 1:
            due_packets -= 1
            departures = [departure_s for departure_s in departures if departure_s > frame_s]
            sent.append(frame_s)
            if 1000 * len(departures) > queue_bytes:
                received.append(np.nan)
                continue
            free_s = max(free_s, frame_s) + 8000 / capacity_bps(max(free_s, frame_s))
            departures.append(free_s)
            latest_s = max(latest_s, free_s + draw.uniform(0, jitter_s))
            received.append(np.nan if lost(len(sent)) else latest_s + ONE_WAY_S + CLOCKS_APART_S)
    sent_s, received_s = np.round(sent, 3), np.array(received)
    feedback_s = np.fmax.accumulate(np.nan_to_num(received_s - CLOCKS_APART_S, nan=0.0)) + ONE_WAY_S
    sizes = np.full(len(sent), 1000.0)
    log = EventLog(begin_s=0.0, duration_s=duration_s, feedback="transport-cc")
    log.columns = {"sent": {"time_s": sent_s, "size_bytes": sizes, "id": np.arange(len(sent))}}
    if target_bps:
        log.columns["loss_based"] = {"time_s": np.array([0.0]), "bitrate_bps": np.array([target_bps])}
    log.reports = {"time_s": feedback_s, "sent_s": sent_s, "size_bytes": sizes, "received_s": received_s}
    return log


def test_a_filled_link_shows_its_capacity_and_delay():
    found = estimate_path(made_log(lambda s: 1e6 if s < 10 else 5e5, 480_000), "step")
    forward = found.scenario.forward
    rates = forward.capacity.trace().rate_at(np.arange(0.5, 19.5, 0.1))
    assert np.median(rates[:90]) == pytest.approx(1e6, rel=0.05)
    assert np.median(rates[100:]) == pytest.approx(5e5, rel=0.05)
    assert forward.one_way_delay_ms == pytest.approx(1e3 * ONE_WAY_S, abs=6)
    assert forward.loss.kind == "none"
    assert found.filled_share > 0.9
    assert found.receive_rate_bps == pytest.approx(480_000, rel=0.05)


def test_clocks_that_drift_apart_are_no_queue():
    drifting, right = made_log(lambda s: 2e6, 800_000), made_log(lambda s: 2e6, 800_000)
    drifting.reports["received_s"] += 80e-6 * drifting.reports["sent_s"]
    found, expected = (estimate_path(log, "clocks") for log in (drifting, right))
    assert found.network_delay_ms_p95 == pytest.approx(expected.network_delay_ms_p95, abs=0.5)
    assert found.scenario.forward.mean_capacity_bps(20) == pytest.approx(2e6, rel=0.05)


def test_a_link_that_was_never_filled_has_a_bound():
    found = estimate_path(made_log(lambda s: 1e9, 800_000), "free")
    assert found.filled_share == 0
    # Four packets of a frame within the step of the clock.
    assert found.scenario.forward.mean_capacity_bps(20) > 4 * 8000 / 0.002


def test_packets_lost_at_the_longest_queue_show_its_limit():
    found = estimate_path(made_log(lambda s: 5e5, 700_000, queue_bytes=20_000), "short queue")
    assert found.scenario.forward.queue.bytes == pytest.approx(21_000, abs=3000)
    assert found.scenario.forward.loss.kind == "none"


def test_losses_without_a_queue_are_random_and_come_in_bursts():
    found = estimate_path(made_log(lambda s: 5e6, 800_000, lost=lambda index: index % 50 < 2), "lossy")
    loss = found.scenario.forward.loss
    assert loss.good_to_bad == pytest.approx(1 / 48, rel=0.05)
    assert loss.bad_to_good == pytest.approx(0.5, rel=0.05)


def test_a_target_far_above_what_is_sent_shows_the_limit_of_the_video():
    limits = [
        estimate_path(made_log(lambda s: 5e6, 1_080_000, target_bps=target), "call").scenario.flows[0].media
        for target in (1_000_000, 3_000_000)
    ]
    assert limits[0].max_rate_bps >= 2e6
    assert limits[1].max_rate_bps == pytest.approx(1e6, rel=0.05)


def test_packets_that_leave_in_clumps_show_jitter_and_not_a_slow_link():
    forward = estimate_path(made_log(lambda s: 5e6, 1_000_000, jitter_s=0.08), "jitter").scenario.forward
    assert forward.jitter.maximum_ms == pytest.approx(80, rel=0.2)
    assert forward.mean_capacity_bps(20) >= 1e6


def test_audio_is_where_each_second_has_its_packets():
    log = made_log(lambda s: 5e6, 800_000)
    assert estimate_path(log, "alone").scenario.flows[0].media.audio_rate_bps == 0
    sent = log.columns["sent"]
    times_s = np.concatenate([sent["time_s"], np.arange(0, 20, 0.02)])
    sizes = np.concatenate([sent["size_bytes"], np.full(1000, 132.0)])
    order = np.argsort(times_s, kind="stable")
    log.columns["sent"] = {"time_s": times_s[order], "size_bytes": sizes[order], "id": np.arange(len(order))}
    assert estimate_path(log, "with audio").scenario.flows[0].media.audio_rate_bps == 32_000


def test_another_route_is_no_queue():
    log = made_log(lambda s: 5e6, 800_000)
    detour = (log.reports["sent_s"] >= 5) & (log.reports["sent_s"] < 13)
    log.reports["received_s"] += np.where(detour, 0.05, 0.0)
    found = estimate_path(log, "detour")
    delay = found.scenario.forward.one_way_delay_ms
    assert delay.times_s == [0, 5, 13]
    assert np.diff(delay.values_ms) == pytest.approx([50, -50], abs=1)
    assert found.scenario.forward.mean_capacity_bps(20) > 4e6
    assert found.network_delay_ms_p95 == pytest.approx(1e3 * ONE_WAY_S + 50, abs=10)


def test_a_queue_that_swings_is_no_route():
    def capacity_bps(time_s):
        return 4e5 if 5 < time_s < 13 else 2e6

    assert isinstance(estimate_path(made_log(capacity_bps, 480_000), "queue").scenario.forward.one_way_delay_ms, float)


@pytest.mark.parametrize(
    ("target_bps", "late_s", "pauses"), [(1e6, 0.0, [[1.96, 5.0]]), (1e6, 2.0, []), (2e5, 0.0, [])]
)
def test_video_pauses_where_the_path_and_the_target_leave_room(target_bps, late_s, pauses):
    log = made_log(lambda s: 5e6, 800_000, target_bps=target_bps)
    log.reports["sent_s"][200:] += 3.0
    log.reports["received_s"][200:] += 3.0
    log.reports["received_s"][199] += late_s
    assert estimate_path(log, "pause").scenario.flows[0].media.video_pauses_s == [
        pytest.approx(pause) for pause in pauses
    ]


def test_a_receiver_s_estimator_gets_what_feedback_names():
    log = made_log(lambda s: 5e6, 800_000, duration_s=2.0, lost=lambda index: index == 5)
    found = [json.loads(line) for line in reported_packet_lines(log).splitlines()]
    assert [event["sequence_number"] for event in found] == [n for n in range(200) if n != 4]
    times_s = np.diff([1e-6 * event["time_us"] for event in found])
    assert times_s == pytest.approx(
        np.diff(log.reports["received_s"][np.isfinite(log.reports["received_s"])]), abs=2e-6
    )
    assert 0 <= 1e-6 * found[0]["time_us"] - log.reports["sent_s"][0] <= 2 * ONE_WAY_S + 0.01
    sent_s = np.array([event["abs_send_time"] for event in found]) / (1 << 18)
    assert sent_s == pytest.approx(np.delete(log.reports["sent_s"], 4), abs=1e-5)
    assert {event["header_bytes"] + event["payload_bytes"] for event in found} == {1000}
    log.reports = {}
    assert reported_packet_lines(log) == b""


def test_too_little_feedback_is_refused():
    with pytest.raises(InputError, match="feedback about"):
        estimate_path(made_log(lambda s: 1e6, 480_000, duration_s=1.0), "short")
    with pytest.raises(InputError, match="feedback about 0 packets"):
        estimate_path(made_log(lambda s: 1e6, 480_000, lost=lambda index: True), "all lost")


def test_a_log_of_years_is_refused_before_anything_is_made_of_its_seconds():
    log = made_log(lambda s: 1e6, 480_000)
    for name in ("sent_s", "received_s", "time_s"):
        log.reports[name][-1] += 1e9
    log.columns["sent"]["time_s"][-1] += 1e9
    with pytest.raises(InputError, match="at most 86,400 s"):
        estimate_path(log, "long")
