"""Causes of freezes and long queues, over scripted series with one fault each."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir_eval.measures.causes import LONG_QUEUE_MS, find_episodes
from weir_eval.measures.observation import Frames, Observation
from weir_eval.measures.queue_causes import CAUSES
from weir_eval.measures.viewer import Freeze

INTERVAL_S = 0.1
SAMPLES = 120
ENDS_S = (np.arange(SAMPLES) + 1) * INTERVAL_S
FRAME_S = 1 / 30


def over(start_s, end_s, inside, outside):
    """A rate that is `inside` from one time to the other."""
    return np.where((start_s + 1e-9 < ENDS_S) & (end_s + 1e-9 >= ENDS_S), float(inside), float(outside))


def queueing_delay_s(capacity_bps, arriving_bps):
    """The delay of a fluid queue, by what the path will carry after each sample."""
    bits, delays = 0.0, []
    for index, (capacity, arriving) in enumerate(zip(capacity_bps, arriving_bps, strict=True)):
        bits = max(0.0, bits + (arriving - capacity) * INTERVAL_S)
        left, delay = bits, 0.0
        for later in capacity_bps[index + 1 :]:
            if left <= later * INTERVAL_S:
                break
            left -= later * INTERVAL_S
            delay += INTERVAL_S
        else:
            later = capacity_bps.mean()
        delays.append(delay + (left / later if later > 0 else 0.0))
    return np.array(delays)


def video(delay_s=0.05, **of_frames):
    """Frames that are sent as captured and shown after a delay."""
    captured = np.arange(0.0, SAMPLES * INTERVAL_S - 1, FRAME_S)
    frames = Frames(captured, captured, captured + delay_s, np.full(len(captured), 4000.0), captured < 0)
    return replace(frames, **of_frames)


def seen(capacity_bps, sent_bps, target_bps=None, **changes):
    """A flow that by default never sends more than its target."""
    none = np.zeros(SAMPLES)
    target_bps = sent_bps if target_bps is None else target_bps
    others = changes.get("other_flows_bps", none)
    values = {
        "interval_s": INTERVAL_S,
        "start_s": 0.0,
        "round_trip_s": 0.1,
        "one_way_delay_s": 0.05,
        "capacity_bps": capacity_bps,
        "queueing_delay_s": queueing_delay_s(capacity_bps, sent_bps + others),
        "other_flows_bps": none,
        "target_bps": target_bps,
        "estimate_bps": target_bps,
        "feedback_age_s": none,
        "sent_bps": sent_bps,
        "retransmitted_bps": none,
        "probe_bps": none,
        "backlog_bits": none,
        "sends_key_frame": none > 0,
        "lost": none,
        "lost_at_queue": none,
        "frames": video(),
    }
    return Observation(**values | changes)


def the_queue(observation):
    """The only queue among the episodes."""
    (episode,) = find_episodes(observation, [])
    assert episode.kind == "queue"
    return episode


STEADY = np.full(SAMPLES, 1e6)
BURST = over(5, 6, 1.6e6, 0.4e6)
TARGET = np.full(SAMPLES, 0.4e6)


def test_a_path_that_falls_faster_than_anyone_could_follow():
    episode = the_queue(seen(over(5, 99, 0.5e6, 2e6), over(5.2, 99, 0.1e6, 1.8e6)))
    assert (episode.cause, episode.shares) == ("capacity", {"capacity": 1.0})
    assert episode.start_s == pytest.approx(5.0)


def test_an_outage_whatever_the_target():
    episode = the_queue(seen(over(5, 7, 0, 2e6), np.full(SAMPLES, 1e6)))
    assert episode.cause == "outage"
    # The decision lets the sender go on while the path empties its queue.
    assert set(episode.shares) == {"outage", "decision"}


def test_a_target_above_what_the_path_has_carried_for_long():
    episode = the_queue(seen(STEADY, over(5, 7, 2e6, 0.5e6)))
    assert episode.shares == {"decision": 1.0}


def test_a_queue_that_nobody_drains_becomes_the_decisions():
    # The path falls to what is still sent after a second: the queue stands.
    observation = seen(over(5, 99, 1e6, 2e6), over(5.3, 11, 1e6, 1.8e6))
    early, late = (find_episodes(replace(observation, queueing_delay_s=delay), [])[0] for delay in (
        np.where(ENDS_S < 5.6, observation.queueing_delay_s, 0.0),
        np.where(ENDS_S > 9.0, observation.queueing_delay_s, 0.0),
    ))  # fmt: skip
    assert early.cause == "capacity"
    assert late.cause == "decision"


def test_an_estimate_that_does_not_reach_the_sender():
    sent = over(5, 7, 2e6, 0.4e6)
    episode = the_queue(seen(STEADY, sent, estimate_bps=TARGET))
    assert episode.shares == {"feedback": 1.0}


def test_a_controller_at_the_sender_without_feedback():
    sent = over(5, 7, 2e6, 0.4e6)
    episode = the_queue(seen(STEADY, sent, estimate_bps=None, feedback_age_s=over(4.7, 7.2, 1.0, 0.0)))
    assert episode.shares == {"feedback": 1.0}
    episode = the_queue(seen(STEADY, sent, estimate_bps=None))
    assert episode.shares == {"decision": 1.0}


def test_an_encoder_that_exceeds_its_target():
    assert the_queue(seen(STEADY, BURST, TARGET)).shares == {"encoder": 1.0}


def test_a_pacer_that_sends_its_backlog():
    backlog = np.interp(ENDS_S, [4, 5, 6], [0, 2e6, 0])
    episode = the_queue(seen(STEADY, BURST, TARGET, backlog_bits=backlog))
    assert episode.shares == {"pacer": 1.0}


def test_a_key_frame():
    episode = the_queue(seen(STEADY, BURST, TARGET, sends_key_frame=BURST > 1e6))
    assert episode.shares == {"key_frame": 1.0}


def test_retransmissions_and_probes_above_the_target():
    extra = over(5, 6, 1.2e6, 0)
    assert the_queue(seen(STEADY, BURST, TARGET, retransmitted_bps=extra)).shares == {"loss": 1.0}
    assert the_queue(seen(STEADY, BURST, TARGET, probe_bps=extra)).shares == {"decision": 1.0}


def test_other_flows_that_fill_the_path():
    episode = the_queue(seen(STEADY, TARGET, other_flows_bps=over(5, 5.8, 1.2e6, 0)))
    assert episode.cause == "capacity"
    # After one reaction time the flow could yield.
    assert set(episode.shares) == {"capacity", "decision"}


def test_headers_are_no_overshoot():
    sent = over(5, 9, 1.06e6, 0.5e6)
    assert the_queue(seen(STEADY, sent, over(5, 9, 1e6, 0.5e6))).cause == "decision"


def the_freeze(observation, start_s, end_s):
    freeze = Freeze(round(start_s * 1e6), round((end_s - start_s) * 1e6))
    (episode,) = (one for one in find_episodes(observation, [freeze]) if one.kind == "freeze")
    assert (episode.start_s, episode.duration_s) == pytest.approx((start_s, end_s - start_s))
    return episode


def held(from_s, shown_s, **of_frames):
    """Frames that were captured from one time on are shown at another."""
    frames = video(**of_frames)
    late = (frames.captured_s >= from_s) & (frames.shown_s < shown_s)
    return replace(frames, shown_s=np.where(late, shown_s, frames.shown_s))


def quiet(**changes):
    return seen(STEADY, TARGET, **changes)


def test_a_freeze_without_a_captured_frame():
    frames = video()
    kept = (frames.captured_s < 5) | (frames.captured_s > 6)
    some = Frames(*(getattr(frames, name)[kept] for name in ("captured_s", "sent_s", "shown_s", "bytes", "key_frame")))
    episode = the_freeze(quiet(frames=some), frames.shown_s[frames.captured_s < 5][-1], 6.05)
    assert episode.cause == "encoder"
    assert episode.shares["encoder"] > 0.9


@pytest.mark.parametrize(("key_frame", "cause"), [(False, "pacer"), (True, "key_frame")])
def test_a_frame_that_waits_at_the_sender(key_frame, cause):
    frames = held(5.0, 6.0)
    first = np.searchsorted(frames.captured_s, 5.0)
    sent = np.where((frames.captured_s >= 5.0) & (frames.captured_s < 5.94), 5.94, frames.captured_s)
    keys = np.arange(len(sent)) == first
    frames = replace(frames, sent_s=sent, key_frame=keys & key_frame)
    episode = the_freeze(quiet(frames=frames), frames.shown_s[first - 1], 6.0)
    assert episode.cause == cause
    assert episode.shares[cause] > 0.85


def test_a_frame_that_waits_in_a_queue_has_the_causes_of_that_queue():
    observation = seen(STEADY, over(5, 7, 2e6, 0.5e6))
    frames = held(6.5, 8.0)
    first = np.searchsorted(frames.captured_s, 6.5)
    episode = the_freeze(replace(observation, frames=frames), frames.shown_s[first - 1], 8.0)
    assert episode.shares == {"decision": 1.0}


def test_a_frame_whose_packets_were_lost():
    frames = held(5.0, 6.0)
    first = np.searchsorted(frames.captured_s, 5.0)
    start_s = frames.shown_s[first - 1]
    lost = over(5.0, 5.1, 3, 0)
    assert the_freeze(quiet(frames=frames, lost=lost), start_s, 6.0).cause == "loss"
    assert the_freeze(quiet(frames=frames), start_s, 6.0).cause == "other"
    # A drop of the queue is the fault of whatever filled it.
    full = seen(STEADY, over(4, 6, 2e6, 0.5e6), frames=frames, lost=lost, lost_at_queue=lost)
    assert the_freeze(replace(full, queueing_delay_s=0.2 * full.queueing_delay_s), start_s, 6.0).cause == "decision"


def test_frames_that_were_never_complete_wait_for_a_key_frame():
    frames = video()
    missing = (frames.captured_s >= 5) & (frames.captured_s < 7)
    frames = replace(frames, shown_s=np.where(missing, np.nan, frames.shown_s))
    first = np.searchsorted(frames.captured_s, 5.0)
    episode = the_freeze(quiet(frames=frames, lost=over(5.0, 5.1, 3, 0)), frames.shown_s[first - 1], 7.05)
    assert episode.cause == "loss"


def test_a_freeze_in_an_outage():
    frames = held(5.0, 8.1)
    first = np.searchsorted(frames.captured_s, 5.0)
    observation = seen(over(5, 8, 0, 1e6), over(5, 8, 0.5e6, 0.5e6), frames=frames)
    episode = the_freeze(observation, frames.shown_s[first - 1], 8.1)
    assert episode.cause == "outage"


def test_a_call_that_never_showed_a_frame():
    frames = video(shown_s=np.full(len(video().captured_s), np.nan))
    episode = the_freeze(quiet(frames=frames, lost=np.ones(SAMPLES)), 0.0, 12.0)
    assert episode.cause == "loss"
    nothing = np.zeros(0)
    episode = the_freeze(quiet(frames=Frames(nothing, nothing, nothing, nothing, nothing > 0)), 0.0, 12.0)
    assert episode.cause == "encoder"


@st.composite
def observations(draw):
    """Any series, also those that contradict each other."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))

    def rates(highest=4e6):
        steps = random.uniform(0, highest, 6) * random.integers(0, 2, 6)
        return np.repeat(steps, SAMPLES // 6) * random.uniform(0.5, 1.5, SAMPLES)

    captured = np.sort(random.uniform(0, 11, random.integers(0, 200)))
    shown = np.maximum.accumulate(captured + random.exponential(0.1, len(captured)))
    frames = Frames(
        captured,
        captured + random.exponential(0.02, len(captured)),
        np.where(random.random(len(captured)) < 0.1, np.nan, shown),
        random.uniform(0, 1e5, len(captured)),
        random.random(len(captured)) < 0.02,
    )
    estimate = np.where(random.random(SAMPLES) < 0.2, np.nan, rates())
    return Observation(
        interval_s=INTERVAL_S,
        start_s=random.uniform(0, 11),
        round_trip_s=random.uniform(0, 2),
        one_way_delay_s=random.uniform(0, 1),
        capacity_bps=rates(),
        queueing_delay_s=random.exponential(0.1, SAMPLES),
        other_flows_bps=rates(),
        target_bps=rates(),
        estimate_bps=None if random.random() < 0.5 else estimate,
        feedback_age_s=random.exponential(0.3, SAMPLES),
        sent_bps=rates(),
        retransmitted_bps=rates(1e5),
        probe_bps=rates(1e5),
        backlog_bits=rates(1e5),
        sends_key_frame=random.random(SAMPLES) < 0.1,
        lost=random.integers(0, 3, SAMPLES),
        lost_at_queue=random.integers(0, 3, SAMPLES),
        frames=frames,
    )


@settings(max_examples=200, deadline=None)
@given(
    observations(),
    st.lists(st.tuples(st.integers(0, 11_000_000), st.integers(1, 5_000_000)), max_size=5),
)
def test_episodes_cover_all_freezes_and_long_queues_and_their_shares_sum_to_one(observation, spans):
    freezes = [Freeze(start, min(length, 12_000_000 - start)) for start, length in spans]
    episodes = find_episodes(observation, freezes)
    for one in episodes:
        assert set(one.shares) <= set(CAUSES)
        assert min(one.shares.values()) >= 0
        assert sum(one.shares.values()) == pytest.approx(1.0, abs=0.005)
        assert one.shares[one.cause] == max(one.shares.values())
    found = sorted((one.start_s, one.duration_s) for one in episodes if one.kind == "freeze")
    assert found == sorted((one.start_us / 1e6, one.duration_us / 1e6) for one in freezes)
    covered = np.zeros(SAMPLES, dtype=int)
    for one in (one for one in episodes if one.kind == "queue"):
        covered[round(one.start_s / INTERVAL_S) : round((one.start_s + one.duration_s) / INTERVAL_S)] += 1
    assert covered.tolist() == (1e3 * observation.queueing_delay_s > LONG_QUEUE_MS).astype(int).tolist()
