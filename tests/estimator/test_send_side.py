"""weir.SendSideEstimator: what the binding adds to the C++ class (send_side_estimator_test.cc)."""

from __future__ import annotations

import pytest

import weir

START_US = 1_000_000_000
CLOCK_OFFSET_US = 77_000_000


def run(estimator: weir.SendSideEstimator, seconds: int, capacity_bps: int) -> list[int]:
    """Sends at the target rate through a link of this capacity; feedback every 50 ms. Target rates by 50 ms."""
    now_us, number, free_us = START_US, 0, START_US
    pending: list[tuple[int, int | None]] = []
    rates = []
    for step in range(seconds * 20):
        end_us = START_US + (step + 1) * 50_000
        while now_us < end_us:
            estimator.on_sent_packet(send_time_us=now_us, sequence_number=number & 0xFFFF, size_bytes=1200)
            queue_us = max(free_us - now_us, 0)
            if queue_us > 300_000:
                pending.append((number & 0xFFFF, None))
            else:
                free_us = now_us + queue_us + 1200 * 8 * 1_000_000 // capacity_bps
                pending.append((number & 0xFFFF, free_us + CLOCK_OFFSET_US))
            number += 1
            now_us += 1200 * 8 * 1_000_000 // estimator.target_rate_bps
        arrived = [one for one in pending if one[1] is None or one[1] - CLOCK_OFFSET_US <= end_us]
        pending = pending[len(arrived) :]
        if arrived:
            estimator.on_transport_feedback(arrived, end_us + 25_000)
        while (due_us := estimator.next_timeout_us) is not None and due_us <= end_us + 25_000:
            estimator.on_timeout(end_us + 25_000)
        rates.append(estimator.target_rate_bps)
    return rates


def test_the_shipped_model_fills_a_link_from_the_sender() -> None:
    estimator = weir.SendSideEstimator(weir.Model.shipped())
    assert estimator.target_rate_bps == 300_000
    assert estimator.reason == "start"
    assert estimator.congestion_window_bytes is None
    rates = run(estimator, 30, 2_000_000)
    late = rates[len(rates) // 2 :]
    assert 1_600_000 < sum(late) / len(late) < 2_200_000
    assert max(rates[:60]) > 1_200_000
    # 25 to 75 ms until the feedback, the queue, and 100 ms.
    assert estimator.congestion_window_bytes is not None
    assert 0.07 < estimator.congestion_window_bytes * 8 / rates[-1] < 0.3
    counters = estimator.counters()
    assert counters["packets_received"] > 4000
    assert counters["decisions"] == pytest.approx(300, abs=5)
    assert counters["packets_fate_unknown"] == counters["packets_invalid"] == counters["reports_not_in_history"] == 0


def test_rates_follow_constraints_and_pacing_factor() -> None:
    estimator = weir.SendSideEstimator("rule", start_rate_bps=400_000, pacing_factor=1.5)
    assert estimator.pacing_rate_bps == 600_000
    assert estimator.next_timeout_us is None
    run(estimator, 5, 5_000_000)
    assert estimator.target_rate_bps > 1_000_000
    estimator.set_constraints(min_rate_bps=30_000, start_rate_bps=30_000, max_rate_bps=500_000)
    assert estimator.target_rate_bps == 500_000
    estimator.on_round_trip_time(50_000)
    estimator.set_objective("latency")


def test_feedback_has_marks_where_the_host_has_them() -> None:
    marked, ignored = (
        weir.SendSideEstimator("rule", guard_off=off, max_media_rate_bps=900_000) for off in ((), ["ecn"])
    )
    reasons = []
    for estimator in (marked, ignored):
        for number in range(400):
            now_us = START_US + 10_000 * number
            estimator.on_sent_packet(send_time_us=now_us, sequence_number=number, size_bytes=1200)
            estimator.on_transport_feedback([(number, now_us + 20_000, 3)], now_us + 40_000)
            estimator.on_timeout(now_us + 40_000)
            reasons.append(estimator.reason)
        assert estimator.target_rate_bps == 900_000
    assert "guard_ecn" in reasons[:400]
    assert "guard_ecn" not in reasons[400:]
    with pytest.raises(ValueError, match="ecn must be within"):
        marked.on_transport_feedback([(400, None, -1)], START_US + 5_000_000)
    with pytest.raises(ValueError, match="max_media_rate_bps must be above 0"):
        marked.set_constraints(min_rate_bps=1, start_rate_bps=1, max_rate_bps=1, max_media_rate_bps=0)


def test_media_in_layers_asks_for_probes() -> None:
    estimator = weir.SendSideEstimator("rule")
    assert estimator.take_probe_cluster() is None
    estimator.set_desired_rate(total_bps=2_000_000, next_bps=600_000)
    assert estimator.target_rate_bps == 300_000
    cluster = None
    for number in range(20):
        now_us = START_US + 50_000 * number
        estimator.on_sent_packet(send_time_us=now_us, sequence_number=number, size_bytes=1000)
        estimator.on_transport_feedback([(number, now_us + 20_000)], now_us + 40_000)
        cluster = cluster or estimator.take_probe_cluster()
    assert cluster is not None
    assert cluster["id"] > 0
    assert cluster["target_data_rate_bps"] == 600_000
    assert 15_000 <= cluster["target_duration_us"] <= 100_000
    assert cluster["target_probe_count"] == 5
    assert estimator.congestion_state == "normal"
    # None of its packets was sent.
    assert estimator.counters()["probes_carried"] == estimator.counters()["probe_bytes"] == 0
    with pytest.raises(ValueError, match="the desired rates must be finite"):
        estimator.set_desired_rate(total_bps=0)
    with pytest.raises(ValueError, match="probe_cluster_id"):
        estimator.on_sent_packet(send_time_us=START_US, sequence_number=20, size_bytes=1, probe_cluster_id=2**31)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"controller": 7}, "a controller is a name, a weir.Model"),
        ({"controller": "nobody"}, "there is no controller 'nobody'"),
        ({"controller": "rule", "pacing_factor": 0.5}, "the pacing factor must be"),
        ({"controller": "rule", "pacing_factor": float("nan")}, "the pacing factor must be"),
        ({"controller": "rule", "min_rate_bps": 0}, "rate"),
    ],
)
def test_refuses_what_it_cannot_use(arguments, words) -> None:
    with pytest.raises(ValueError, match=words):
        weir.SendSideEstimator(**arguments)


def test_refuses_numbers_and_times_that_do_not_fit() -> None:
    estimator = weir.SendSideEstimator("rule")
    with pytest.raises(ValueError, match="sequence_number"):
        estimator.on_sent_packet(send_time_us=START_US, sequence_number=65_536, size_bytes=1200)
    with pytest.raises(ValueError, match="size_bytes"):
        estimator.on_sent_packet(send_time_us=START_US, sequence_number=0, size_bytes=70_000)
    with pytest.raises(ValueError, match="now_us"):
        estimator.on_transport_feedback([(0, None)], 2**62)
    estimator.on_transport_feedback([(0, START_US)], START_US)
    assert estimator.counters()["reports_not_in_history"] == 1
