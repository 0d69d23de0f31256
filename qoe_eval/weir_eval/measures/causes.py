"""Attributes every freeze, and every queue above 100 ms, to causes.

A flow is a series of samples of 0.1 s; rates are means of three samples, as frames fall unevenly into samples. These
rules apply in order:

1. The path is *down* while it offers less than SMALLEST_BPS for three samples. Bytes sent then, and the part of a
   freeze in this time, are `outage`.
2. The *known rate* is the rate that the path offered to this flow in the half second that ended one reaction time ago
   (a round trip without queues, plus 0.1 s), minus the rate that would empty the queue of that time within a second,
   but at least half of it. No sender that observes the path only through feedback can follow it faster.
3. Bytes sent above the lower of the offered and the known rate lengthen or maintain the queue. From the bottom up they
   are: `capacity` up to the known rate; `decision` up to the receiver's estimate; `feedback` up to the sender's target,
   which differs from the estimate while feedback is in flight or lost (a controller at the sender has no such estimate:
   all bytes up to its target are `feedback` while no feedback has arrived for longer than FEEDBACK_LATE_S, else
   `decision`); above the target, `loss` for retransmissions, `decision` for probes, `key_frame` while one is being
   sent, `pacer` as far as a backlog of frames shrinks, and otherwise `encoder`, also if the target is below the lowest
   rate of audio and video.
4. The bytes of other flows above the capacity are `capacity`, too.
5. A queue consists of the causes of the bytes that built it, mixed evenly; as far as it drains slower than at the known
   capacity, its time is `capacity`, or `outage` for the part in which the path is down. The time of a queue above
   100 ms is divided by these shares.
6. A freeze ends with a frame. All times are those at the far end of an empty path, and exclude the usual time between
   two frames. The time before the frame's capture is `encoder`, or that of losses if earlier frames never became
   complete; from capture to its last packet, `pacer` or `key_frame`; in the network, the causes in the queue; after
   that, losses: `loss`, or for packets that the queue dropped the causes in that queue; without any loss, `other`:
   jitter, the receiver's buffer, or effects shorter than a sample.

The rules compare with an ideal sender that sees no noise and need not search for bandwidth: `decision` is the distance
from it, of which a real controller can avoid only a part.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weir_eval.measures.flow_series import Array
from weir_eval.measures.observation import Observation
from weir_eval.measures.queue_causes import (
    CAUSES,
    ENCODER,
    KEY_FRAME,
    LOSS,
    OTHER,
    OUTAGE,
    PACER,
    is_down,
    only,
    queue_shares,
)
from weir_eval.measures.viewer import Freeze
from weir_eval.records.record import Episode, EpisodeKind

LONG_QUEUE_MS = 100.0


def find_episodes(seen: Observation, freezes: Sequence[Freeze], flow: str = "") -> list[Episode]:
    """The freezes, and the queues above LONG_QUEUE_MS while the flow sends, in the order of their start."""
    down = is_down(seen)
    mixture = queue_shares(seen, down)
    found = [_episode("freeze", one, _freeze_shares(seen, one, mixture, down), flow) for one in freezes]
    long = np.concatenate(([0], (1e3 * seen.queueing_delay_s > LONG_QUEUE_MS).astype(np.int8), [0]))
    interval_us = seen.interval_s * 1e6
    for start, end in zip(np.flatnonzero(np.diff(long) > 0), np.flatnonzero(np.diff(long) < 0), strict=True):
        span = Freeze(round(start * interval_us), round((end - start) * interval_us))
        found.append(_episode("queue", span, mixture[start:end].mean(axis=0), flow))
    return sorted(found, key=lambda one: one.start_s)


def _episode(kind: EpisodeKind, span: Freeze, shares: Array, flow: str) -> Episode:
    rounded = {CAUSES[index]: round(float(share), 3) for index, share in enumerate(shares) if share >= 5e-4}
    return Episode(
        kind=kind,
        flow=flow,
        start_s=span.start_us / 1e6,
        duration_s=span.duration_us / 1e6,
        cause=CAUSES[int(np.argmax(shares))],
        shares=rounded,
    )


def _freeze_shares(seen: Observation, freeze: Freeze, mixture: Array, down: NDArray[np.bool_]) -> Array:
    """Rule 6: the shares of the causes in the time of a freeze; they sum to 1."""
    frames, last_sample = seen.frames, len(mixture) - 1
    begin, end = freeze.start_us / 1e6, (freeze.start_us + freeze.duration_us) / 1e6
    shown = np.flatnonzero(frames.shown_s <= begin + 1e-6)
    missing = int(shown[-1]) + 1 if len(shown) else 0
    later = missing + np.flatnonzero(frames.shown_s[missing:] <= end + 1e-6)
    ending = int(later[0]) if len(later) else missing

    def sample(at_s: float) -> int:
        return min(max(0, int(at_s / seen.interval_s)), last_sample)

    def losses(otherwise: int) -> Array:
        window = slice(sample(frames.captured_s[missing]), sample(end) + 1)
        lost, dropped = seen.lost[window].sum(), seen.lost_at_queue[window]
        if lost <= 0:
            return only(otherwise)
        share = min(1.0, dropped.sum() / lost)
        return (1 - share) * only(LOSS) + share * mixture[window.start + int(np.argmax(dropped))]

    if ending >= len(frames.captured_s):
        parts = [(end, only(ENCODER))]
    else:
        captured_s, sent_s = frames.captured_s[ending], frames.sent_s[ending]
        # The longer delay at the two ends of the sample in which the frame was sent.
        waited_s = seen.queueing_delay_s[max(0, sample(sent_s) - 1) : sample(sent_s) + 1].max()
        path_s = seen.one_way_delay_s
        parts = [
            (captured_s + path_s, losses(ENCODER) if ending > missing else only(ENCODER)),
            (sent_s + path_s, only(KEY_FRAME if frames.key_frame[ending] else PACER)),
            (sent_s + path_s + float(waited_s), mixture[sample(sent_s)]),
            (end, losses(OTHER)),
        ]
        # The next frame would have been shown a usual interval later in any case.
        usual_s = float(np.median(np.diff(frames.captured_s))) if len(frames.captured_s) > 1 else 0.0
        begin = min(begin + usual_s, max(begin, captured_s + path_s))
    shares = np.zeros(len(CAUSES))
    sample_begins_s = np.arange(len(mixture)) * seen.interval_s
    for until, causes in parts:
        until = min(max(begin, until), end)
        inside = np.minimum(until, sample_begins_s + seen.interval_s) - np.maximum(begin, sample_begins_s)
        without_path = min(float(np.maximum(0.0, inside)[down].sum()), until - begin)
        shares[OUTAGE] += without_path
        shares += (until - begin - without_path) * causes
        begin = until
    return shares / shares.sum() if shares.sum() > 0 else only(OTHER)
