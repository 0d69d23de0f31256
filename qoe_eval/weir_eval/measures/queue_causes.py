"""Rules 1 to 5 of `causes.py`: the causes in the queue of a path."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weir_eval.measures.flow_series import Array
from weir_eval.measures.observation import Observation

CAUSES: Final = ("outage", "capacity", "decision", "feedback", "encoder", "pacer", "key_frame", "loss", "other")
OUTAGE, CAPACITY, DECISION, FEEDBACK, ENCODER, PACER, KEY_FRAME, LOSS, OTHER = range(len(CAUSES))
SMALLEST_BPS = 30e3
FEEDBACK_LATE_S = 0.3
_KNOWN_OVER_S = 0.5
_OBSERVED_S = 0.1
_EMPTIED_WITHIN_S = 1.0
_LEAST_WHILE_EMPTIED = 0.5
# Headers of IP and UDP, which a target does not count: a factor for large packets, and fifty small ones per second.
_HEADERS_FACTOR, _HEADERS_BPS = 1.05, 15e3


def only(cause: int) -> Array:
    """The shares of a single cause."""
    return np.eye(len(CAUSES))[cause]


def is_down(seen: Observation) -> NDArray[np.bool_]:
    """Rule 1, for each sample."""
    low = np.concatenate(([False, False], seen.capacity_bps < SMALLEST_BPS, [False, False]))
    three = low[:-2] & low[1:-1] & low[2:]
    found: NDArray[np.bool_] = three[:-2] | three[1:-1] | three[2:]
    return found


def queue_shares(seen: Observation, down: NDArray[np.bool_]) -> Array:
    """Rule 5: the shares of the causes in the queue at each sample's end, shape [samples, causes]; they sum to 1."""
    bits = _queue_bits(seen)
    mixed = np.zeros((len(bits), len(CAUSES)))
    held = np.zeros(len(CAUSES))
    for index, added in enumerate(_blame(seen, bits, down)):
        held = held + added
        total = held.sum()
        mixed[index] = held / total if total > 0 else 0.0
        held = mixed[index] * bits[index]
    mixed[mixed.sum(axis=1) == 0, CAPACITY] = 1.0
    delay_s = np.maximum(seen.queueing_delay_s, 1e-9)
    known_bps = np.maximum(_known(seen, seen.capacity_bps), 1.0)
    slowed = np.clip(1 - bits / delay_s / known_bps, 0.0, 1.0)[:, None]
    times_s = np.arange(len(down) + 1) * seen.interval_s
    down_s = np.concatenate(([0.0], np.cumsum(down) * seen.interval_s))
    waited_s = np.interp(times_s[1:] + delay_s, times_s, down_s) - down_s[1:]
    nothing = np.minimum(slowed, (waited_s / delay_s)[:, None])
    found: Array = nothing * only(OUTAGE) + (slowed - nothing) * only(CAPACITY) + (1 - slowed) * mixed
    return found


def _queue_bits(seen: Observation) -> Array:
    """The bits that the path carries in the time of its queueing delay; beyond the end, at its mean rate."""
    carried = np.concatenate(([0.0], np.cumsum(seen.capacity_bps) * seen.interval_s))
    times_s = np.arange(len(carried)) * seen.interval_s
    until_s = times_s[1:] + seen.queueing_delay_s
    beyond = np.maximum(0.0, until_s - times_s[-1]) * carried[-1] / max(times_s[-1], seen.interval_s)
    found: Array = np.interp(until_s, times_s, carried) + beyond - carried[1:]
    return found


def _reaction(seen: Observation) -> int:
    """The reaction time in samples."""
    return int(np.ceil((seen.round_trip_s + _OBSERVED_S) / seen.interval_s))


def _known(seen: Observation, values: Array) -> Array:
    """Rule 2: the mean of earlier values; a sample's own value before any could be known."""
    window = max(1, round(_KNOWN_OVER_S / seen.interval_s))
    first = int(seen.start_s / seen.interval_s)
    total = np.concatenate(([0.0], np.cumsum(values)))
    end = np.arange(len(values)) - _reaction(seen) + 1
    begin = np.maximum(end - window, first)
    known = end > first
    begin, end = np.where(known, begin, 0), np.where(known, end, 1)
    return np.where(known, (total[end] - total[begin]) / (end - begin), values)


def _blame(seen: Observation, queue_bits: Array, down: NDArray[np.bool_]) -> Array:
    """Rules 1 to 4: bits of each sample by cause, shape [samples, causes]."""
    sent, capacity, others = map(_smooth, (seen.sent_bps, seen.capacity_bps, seen.other_flows_bps))
    retransmitted, probes = _smooth(seen.retransmitted_bps), _smooth(seen.probe_bps)
    in_total = np.maximum(sent + others, 1.0)
    offered = np.maximum(capacity - others, capacity * sent / in_total)
    emptying = np.concatenate((np.zeros(_reaction(seen)), queue_bits / _EMPTIED_WITHIN_S))[: len(queue_bits)]
    known = _known(seen, offered)
    known = np.maximum(known * _LEAST_WHILE_EMPTIED, known - emptying)
    # Unused capacity before or after a burst does not offset it.
    room = seen.capacity_bps - seen.other_flows_bps - np.append(0.0, queue_bits[:-1]) / seen.interval_s
    target = _smooth(np.maximum(_in_force(seen.target_bps), room))
    if seen.estimate_bps is None:
        estimate = np.where(seen.feedback_age_s > FEEDBACK_LATE_S, 0.0, target)
    else:
        estimate = _smooth(np.maximum(_in_force(seen.estimate_bps), room))
        estimate = np.where(np.isnan(estimate), target, estimate)
    backlog = _smooth(-np.diff(seen.backlog_bits, prepend=0.0) / seen.interval_s)
    growth = np.maximum(0.0, _smooth(np.maximum(seen.sent_bps, room)) - offered)
    kept = np.maximum(0.0, np.minimum(sent, offered) - known)
    highest = np.where(growth > 0, offered + growth, sent)
    endless = np.full(len(sent), np.inf)
    layers = (
        (CAPACITY, known),
        (DECISION, np.minimum(estimate, target)),
        (FEEDBACK, target),
        (LOSS, target + retransmitted),
        (DECISION, target + retransmitted + probes),
        (KEY_FRAME, np.where(_smooth(seen.sends_key_frame) > 0, endless, 0.0)),
        (ENCODER, highest - np.maximum(backlog, 0.0)),
        (PACER, endless),
    )
    blame = np.zeros((len(sent), len(CAUSES)))
    level = highest - growth - kept
    for cause, top in layers:
        reached = np.minimum(highest, np.maximum(level, top))
        blame[:, cause] += reached - level
        level = reached
    blame[:, CAPACITY] += others * np.maximum(0.0, 1 - capacity / in_total)
    blame[down] = 0.0
    blame[down, OUTAGE] = seen.sent_bps[down]
    return blame * seen.interval_s


def _smooth(values: ArrayLike) -> Array:
    """The means of each sample and its neighbors, as some samples have two frames and others four."""
    padded = np.pad(np.asarray(values, dtype=np.float64), 1, mode="edge")
    found: Array = (padded[:-2] + padded[1:-1] + padded[2:]) / 3
    return found


def _in_force(rate_bps: Array) -> Array:
    """The largest rate within each sample, including headers; `rate_bps` is that at the samples' ends."""
    largest: Array = np.fmax(rate_bps, np.concatenate((rate_bps[:1], rate_bps[:-1])))
    return largest * _HEADERS_FACTOR + _HEADERS_BPS
