"""Real calls on paths that lose packets, at random, in bursts, at a policer and in short queues: Weir at the receiver
of an unmodified Chromium, which omits losses that no rate ends from its feedback, against the browser's own GCC.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from weir.qoe_eval.evaluate import comparison as of
from weir.qoe_eval.evaluate import scenario_sets as sets
from weir.qoe_eval.evaluate.comparison import Comparison
from weir.qoe_eval.evaluate.lossy_calls import lossy_calls
from weir.qoe_eval.evaluate.suite import Calls, Goal, Suite, at_least, at_most
from weir.qoe_eval.measures.families import GCC
from weir.registry import POLICY

_SIZE: Final = "640x360"
_CALLED: Final = lossy_calls()


def _goals(name: str) -> Iterator[Goal]:
    key = name.replace(", ", "_").replace(" %", "").replace(" ", "_")
    compare = partial(Comparison, name, how="difference", by="call", others=(GCC,))
    for measure, metric, text, statistic, bound in (
        (
            "bitrate",
            "received_bitrate_bps",
            f"received bitrate over {GCC}'s",
            of.ratio_of_means,
            at_least(1.0, "times"),
        ),
        ("score", "call_score", f"call score, less {GCC}'s", of.mean, at_least(0.0, signed=True, decimals=1)),
        ("freezes", "freeze_count", f"freezes a call, less {GCC}'s", of.mean, at_most(0.0, signed=True, decimals=1)),
    ):
        yield Goal(f"{measure}_{key}", f"{name}: {POLICY}'s {text}", compare(metric, statistic), bound)


SUITE: Final = Suite(
    name="losses",
    about="An unmodified Chromium sends to weir-peer at 640x360 over links of 4 Mbps that lose at random, in bursts, "
    "at a policer of 2 Mbps or in a queue of two packets, and over a cellular one that also loses at random: Weir by "
    "REMB, with such losses omitted from feedback as its guard judges, against the browser's own GCC.",
    seeds=2,
    only_calls=True,
    calls=tuple(
        Calls(name, sets.fixed(partial(list, [scenario])), (POLICY, GCC), _SIZE) for name, scenario in _CALLED.items()
    ),
    goals=tuple(goal for name in _CALLED for goal in _goals(name)),
)
