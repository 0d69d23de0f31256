"""Differences of rewards on held-out scenarios, paired by path, with an interval.

Needs neither torch nor stable-baselines3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from weir_eval.measures.statistics import mean_interval, path_differences
from weir_eval.report.text import too_few_text
from weir_eval.runs.near_copies import near_copies
from weir_traces.schema.scenario import Scenario


class HeldOutDifference(NamedTuple):
    """The mean difference of rewards per step over independent paths, and its 95 % interval, None with too few."""

    mean: float
    low: float | None
    high: float | None
    independent: int

    @property
    def text(self) -> str:
        """The difference and its interval in words."""
        if self.low is None or self.high is None:
            return f"{self.mean:+.4f}, {too_few_text(self.independent)}"
        return f"{self.mean:+.4f}, 95 % interval {self.low:+.4f} to {self.high:+.4f}"


def independent_paths(documents: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns the name of the path of each scenario: near copies of one path have its name."""
    copies = near_copies([Scenario.from_dict(document) for document in documents])
    names = [str(document["name"]) for document in documents]
    return [copies.get(name, name) for name in names]


def held_out_difference(paths: Sequence[str], after: np.ndarray, before: np.ndarray) -> HeldOutDifference:
    """Returns the difference of rewards per step, each of shape (scenarios,), on scenarios with these paths."""
    found = path_differences(paths, after.tolist(), before.tolist())
    return HeldOutDifference(float(found.mean()), *mean_interval(found), len(found))
