"""Goals of the model files themselves: imitation as delays widen (Figure 1b), and the kind of path that is chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from weir.qoe_eval.experiments.muses.flow_rows import NO_MIXTURE
from weir.qoe_eval.experiments.muses.imitation import LARGEST_DELAYS_MS
from weir.qoe_eval.experiments.muses.results import GLOBAL_TREE, MUSES
from weir.qoe_eval.report.goal_table import Goal, Row, measured, not_measured

TEACHER = "teacher"


def model_rows(f1: Mapping[str, Mapping[float, float]], nearest: float | None) -> Iterator[Row]:
    """All of them.

    Args:
        f1: by model and largest delay, ms; empty where it was not measured.
        nearest: share of held-out flows whose kind is among the true two nearest; None: the model does not say.
    """
    widest = LARGEST_DELAYS_MS[-1]
    gap = Goal("at least", 0.09, "%", scale=100, decimals=1)
    closed = Goal("at least", 0.7, "%", scale=100, decimals=0)
    what = f"delays up to {widest:g} ms: F1 against the oracle's actions,"
    gap_what, closed_what = f"{what} teacher less one global tree", f"{what} part of that gap closed by the mixture"
    why = "give the files with --model, --global and --teacher"
    if not {MUSES, GLOBAL_TREE, TEACHER} <= f1.keys():
        yield not_measured("f1_gap", gap_what, gap, why)
        yield not_measured("f1_closed", closed_what, closed, why)
    else:
        own, tree, teacher = (f1[who][widest] for who in (MUSES, GLOBAL_TREE, TEACHER))
        detail = "; ".join(
            f"{who} " + ", ".join(f"{score:.3f} ({largest_ms:g} ms)" for largest_ms, score in scores.items())
            for who, scores in f1.items()
        )
        yield measured("f1_gap", gap_what, gap, teacher - tree, detail)
        if teacher > tree:
            yield measured("f1_closed", closed_what, closed, (own - tree) / (teacher - tree))
        else:
            yield not_measured("f1_closed", closed_what, closed, "there is no gap to close")
    goal = Goal("at least", 0.97, "%", scale=100, decimals=1)
    what = "held-out flows: chosen kind among the true two nearest"
    if nearest is None:
        yield not_measured("nearest", what, goal, NO_MIXTURE)
    else:
        yield measured("nearest", what, goal, nearest)
