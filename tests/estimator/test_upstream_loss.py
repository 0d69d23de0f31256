"""A subscriber behind a forwarding server: what one publisher loses on its own uplink is not the downlink's loss."""

import random

import pytest

import weir

PUBLISHERS = 5
FRAME_US = 33_333


def lowest_target_bps(lossy: int, loss: float) -> tuple[float, float]:
    """Five publishers of 300 kbps over a downlink that is never full; the first `lossy` lose packets from the tenth
    second on. Returns the lowest target after that, and the rate that arrives."""
    chance = random.Random(1)
    estimator = weir.BandwidthEstimator(weir.Model.shipped(), max_rate_bps=10_000_000, start_rate_bps=1_000_000)
    numbers = [0] * PUBLISHERS
    received, lowest = 0, float("inf")
    for frame in range(30 * 40):
        for publisher in range(PUBLISHERS):
            now_us = frame * FRAME_US + publisher * 6000
            estimator.on_timeout(now_us)
            for packet in range(2):
                numbers[publisher] += 1
                if frame > 300 and publisher < lossy and chance.random() < loss:
                    continue
                sent_us = now_us + packet * 2000
                received += 625 * 8
                estimator.on_packet(
                    arrival_time_us=sent_us + 25_000,
                    ssrc=publisher + 1,
                    sequence_number=numbers[publisher] & 0xFFFF,
                    payload_bytes=613,
                    kind="video",
                    abs_send_time=(sent_us << 18) // 1_000_000 & 0xFFFFFF,
                )
        if frame > 330:
            lowest = min(lowest, estimator.latest.target_rate_bps)
    return lowest, received / 40


@pytest.mark.parametrize(("lossy", "loss"), [(1, 0.2), (1, 0.4), (2, 0.3)])
def test_the_target_stays_above_what_arrives(lossy, loss):
    lowest, received = lowest_target_bps(lossy, loss)
    assert lowest > 2 * received


def test_loss_of_all_publishers_is_the_links():
    lowest, received = lowest_target_bps(PUBLISHERS, 0.3)
    assert lowest < 2 * received
