"""The measure of goals on real calls: a comparison call by call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weir_suites.comparison import Comparison, Contrast
from weir_suites.results import Results
from weir_suites.rows import Unit


@dataclass(frozen=True)
class CallComparison(Comparison):
    """Compares undisturbed calls of the same path and seed. A call counts if those of all others are there; a part of
    the calls decides the goal.
    """

    contrast: Contrast = "difference"
    unit: Unit = "call"

    def why_absent(self, results: Results) -> str:
        """Why there is no pair of calls."""
        return results.why_no_pair(self._all_sets)

    def _is_complete(self, others: Sequence[float]) -> bool:
        return len(others) == len(self._opponents)

    def _undecided(self, reason: str) -> str:
        return ""
