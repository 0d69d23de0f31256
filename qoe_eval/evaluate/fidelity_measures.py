"""The distance of simulated calls from repeated real ones, beside the scatter of the real ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weir.qoe_eval.evaluate.results import Results, metric, undisturbed
from weir.qoe_eval.evaluate.suite import Outcome, goal_measure
from weir.qoe_eval.records import RunRecord
from weir.qoe_eval.report.goal_table import Bound

_MOST_SHOWN = 6


@dataclass(frozen=True)
class PathErrors:
    """Mean distance, on one path, of a simulated call from the mean of the real ones, and of a real call from the mean
    of the others; as shares of the real mean if relative.
    """

    name: str
    simulated: float
    real: float

    @classmethod
    def of(cls, name: str, real: Sequence[float], simulated: Sequence[float], *, relative: bool) -> PathErrors | None:
        """None with fewer than two real calls, without a simulated one, or relative to 0."""
        if len(real) < 2 or not simulated:
            return None
        mean = float(np.mean(real))
        unit = mean if relative else 1.0
        if unit <= 0:
            return None
        others = [(sum(real) - one) / (len(real) - 1) for one in real]
        scatter = np.mean([abs(one - other) for one, other in zip(real, others, strict=True)])
        return cls(name, float(np.mean([abs(one - mean) for one in simulated])) / unit, float(scatter) / unit)


@goal_measure
def error_over_scatter(
    results: Results,
    bound: Bound,
    simulated: Mapping[str, str],
    name: str,
    of_replay: Callable[[RunRecord], float | None] | None = None,
    *,
    relative: bool,
) -> Outcome:
    """Mean error of simulated calls over that of single real ones. The figures hold both for each path.

    Args:
        results: of the suite.
        bound: of the goal.
        simulated: the set of simulated calls by the set of real ones.
        name: the metric of calls.
        of_replay: that of simulated calls, where it differs; it gets the record with its series.
        relative: errors are shares of the real mean.
    """
    of_call, of_run = metric(name), of_replay or metric(name)
    paths: list[PathErrors] = []
    for called, runs_of in simulated.items():
        calls = undisturbed(results.calls.get(called, []))
        for scenario in dict.fromkeys(one.scenario for one in calls):
            real = _values([of_call(one) for one in calls if one.scenario == scenario])
            runs = [one for one in results.of(runs_of) if one.scenario == scenario]
            # They are files.
            runs = [results.with_series(one) for one in runs] if of_replay else runs
            values = _values([of_run(one) for one in runs])
            if found := PathErrors.of(f"{called}, {scenario}", real, values, relative=relative):
                paths.append(found)
    if not paths:
        first = next(iter(simulated))
        return Outcome(reason=results.why_no_pair(first, results.calls.get(first, [])))
    error, scatter = (float(np.mean([getattr(one, kind) for one in paths])) for kind in ("simulated", "real"))
    farthest = sorted(paths, key=lambda one: one.real - one.simulated)[:_MOST_SHOWN]
    shown = "; ".join(f"{one.name}: {one.simulated:.1%} ({one.real:.1%})" for one in farthest)
    detail = f"{error:.1%}, of one real call {scatter:.1%}, {len(paths)} paths. The farthest: {shown}"
    figures = {"error": error, "scatter": scatter, "paths": [vars(one) for one in paths]}
    return Outcome(error / scatter if scatter else None, detail, figures, "" if scatter else "real calls do not differ")


def _values(found: Sequence[float | None]) -> list[float]:
    return [value for value in found if value is not None]
