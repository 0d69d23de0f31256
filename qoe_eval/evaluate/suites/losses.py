"""Real calls on paths that lose packets, at random, in bursts, at a policer and in short queues: Weir at the receiver
of an unmodified Chromium, which omits losses that no rate ends from its feedback, against the browser's own GCC.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Final

from weir.qoe_eval.evaluate import call_measures as calls
from weir.qoe_eval.evaluate import scenario_sets as sets
from weir.qoe_eval.evaluate.lossy_calls import lossy_calls
from weir.qoe_eval.evaluate.suite import Calls, Goal, Suite
from weir.qoe_eval.measures.families import GCC
from weir.qoe_eval.report.goal_table import Bound
from weir.registry import POLICY

_SIZE: Final = "640x360"
_CALLED: Final = lossy_calls()


def _goals(name: str) -> Iterator[Goal]:
    key = name.replace(", ", "_").replace(" %", "").replace(" ", "_")
    text = f"{name}: {POLICY}'s"
    points = functools.partial(Bound, signed=True, decimals=1)
    yield Goal(f"bitrate_{key}", f"{text} received bitrate over {GCC}'s", calls.ratio(calls.BITRATE, name),
               Bound("at least", 1.0, "times"))  # fmt: skip
    yield Goal(f"score_{key}", f"{text} call score, less {GCC}'s", calls.difference("call_score", name),
               points("at least", 0.0))  # fmt: skip
    yield Goal(f"freezes_{key}", f"{text} freezes a call, less {GCC}'s", calls.difference("freeze_count", name),
               points("at most", 0.0))  # fmt: skip


SUITE: Final = Suite(
    name="losses",
    about="An unmodified Chromium sends to weir-peer at 640x360 over links of 4 Mbps that lose at random, in bursts, "
    "at a policer of 2 Mbps or in a queue of two packets, and over a cellular one that also loses at random: Weir by "
    "REMB, with such losses omitted from feedback as its guard judges, against the browser's own GCC.",
    seeds=2,
    only_calls=True,
    calls=tuple(
        Calls(name, sets.fixed(functools.partial(list, [scenario])), size=_SIZE) for name, scenario in _CALLED.items()
    ),
    goals=tuple(goal for name in _CALLED for goal in _goals(name)),
)
