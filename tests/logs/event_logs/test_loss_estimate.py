"""The queue and the loss that packets show, on packets whose fate is known."""

import random

import numpy as np
import pytest

from weir_logs.event_logs.link_estimate import Packets
from weir_logs.event_logs.loss_estimate import estimate_loss

BITS = 8000
SECONDS = 60


def sent_at(rate_bps):
    """Times of packets at the rate of each second."""
    return np.concatenate([second + np.arange(0, 1, BITS / rate_bps(second)) for second in range(SECONDS)])


def estimated(sent_s, left_s):
    return estimate_loss(Packets(sent_s, np.array(left_s), np.full(len(sent_s), float(BITS))), 2e6)


def policed(sent_s, rate_bps, bucket_bytes):
    """Packets leave at once, or not at all."""
    tokens, latest, left = bucket_bytes, 0.0, []
    for time in sent_s:
        tokens = min(tokens + (time - latest) * rate_bps / 8, bucket_bytes)
        latest = time
        passes = tokens >= BITS / 8
        tokens -= BITS / 8 if passes else 0
        left.append(time + 0.001 if passes else np.nan)
    return left


def queued(sent_s, is_lost):
    """Packets leave a link of 1 Mbps, but for those that `is_lost` by their wait in s."""
    free_s, left = 0.0, []
    for time in sent_s:
        if is_lost(max(free_s - time, 0.0)):
            left.append(np.nan)
            continue
        free_s = max(free_s, time) + BITS / 1e6
        left.append(free_s)
    return left


def test_a_policer_has_its_rate_and_its_bucket():
    sent_s = sent_at(lambda second: 1.5e6 if second % 6 > 2 else 0.8e6)
    loss = estimated(sent_s, policed(sent_s, 1e6, 30_000)).loss
    assert loss["kind"] == "policer"
    assert loss["rate_bps"] == pytest.approx(1e6, rel=0.02)
    assert loss["burst_bytes"] == pytest.approx(30_000, rel=0.1)


def test_a_policer_below_all_that_is_sent_has_a_rate_that_does_not_follow():
    draw = random.Random(1)
    sent_s = sent_at(lambda second: draw.uniform(1.3e6, 2.6e6))
    assert estimated(sent_s, policed(sent_s, 1e6, 10_000)).loss["rate_bps"] == pytest.approx(1e6, rel=0.05)
    random_loss = [np.nan if draw.random() < 0.3 else time for time in sent_s]
    assert estimated(sent_s, random_loss).loss["kind"] == "gilbert_elliott"


def test_drops_of_long_waits_whatever_the_queue_are_codel_s():
    draw = random.Random(1)
    sent_s = sent_at(lambda second: 1.3e6 if second % 8 > 5 else 0.7e6)
    found = estimated(sent_s, queued(sent_s, lambda wait_s: wait_s > 0.06 and draw.random() < 0.15))
    assert (found.queue_discipline, found.loss["kind"]) == ("codel", "none")
    at_random = estimated(sent_s, queued(sent_s, lambda wait_s: draw.random() < 0.05))
    assert (at_random.queue_discipline, at_random.loss["kind"]) == ("drop_tail", "gilbert_elliott")
    at_a_limit = estimated(sent_s, queued(sent_s, lambda wait_s: wait_s > 0.2))
    assert at_a_limit.queue_discipline == "drop_tail"
    assert at_a_limit.queue_bytes == pytest.approx(25_000, rel=0.1)
    assert at_a_limit.loss["kind"] == "none"
