"""Facts of a receiver's reports beside each freeze. Which part of the sender was at fault is not in them."""

from __future__ import annotations

import itertools
from collections import Counter

from weir.qoe_eval.call.webrtc_stats import StatsObject

_REPAIRED = ("packetsLost", "nackCount", "pliCount")


def freeze_reasons(stream: StatsObject) -> Counter[str]:
    """Number of freezes by reason: `no packets` where none came between two reports, `loss` where packets were lost or
    requested, else `late`: a queue, or the sender.

    A freeze is counted at its end, in the report after it; the time since the report before the last one is examined.
    """
    times, counts = stream.series("freezeCount")
    reasons: Counter[str] = Counter()
    for index in range(1, len(times)):
        number = int(counts[index] - counts[index - 1])
        if number <= 0:
            continue
        marks = times[max(0, index - 2) : index + 1].tolist()
        came = [stream.growth("packetsReceived", *span) for span in itertools.pairwise(marks)]
        if 0.0 in came:
            reason = "no packets"
        elif any(stream.growth(name, marks[0], marks[-1]) for name in _REPAIRED):
            reason = "loss"
        else:
            reason = "late"
        reasons[reason] += number
    return reasons


def freeze_text(stream: StatsObject) -> str:
    """As in "2 loss, 1 late"; empty without a freeze."""
    return ", ".join(f"{number} {reason}" for reason, number in freeze_reasons(stream).most_common())
