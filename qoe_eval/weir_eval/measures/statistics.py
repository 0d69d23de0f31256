"""Paired statistics: means, tails, and bootstrap intervals of differences.

Two controllers are compared run by run on the same scenario with the same seed. Scenarios are independent samples;
their seeds are not, as they vary one path only slightly (`weir_traces.schema.variation`). Thus differences are
first averaged over the seeds of a scenario, wins are counted over scenarios, and intervals come from resampling
scenarios; with fewer than MINIMUM_SCENARIOS there are none.

Scenarios are independent if they come from different captures, or from different seeds of one generator. Two directions
of one capture, two windows of one file, or one path with several queues are not: an interval over these is too narrow,
which cannot be detected here. Runs that repeat another in every measure are counted once (`distinct_runs`); scenarios
of almost the same path (`copies`: name of the path by scenario) are averaged as one.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from weir_eval.measures.table import Measure
from weir_eval.records.comparisons import PairedComparison, Spread
from weir_eval.records.results_file import RecordType

RESAMPLES = 4999
CONFIDENCE = 0.95
MINIMUM_SCENARIOS = 6
"""With fewer, a bootstrap draws the same few samples repeatedly: its intervals cover far less than 95 %."""
_SEED = 20210928  # arbitrary constant: the same results give the same intervals

# Scenario and seed of a run, and the value of one measure in it.
RunValues = Mapping[tuple[str, int], float]
_NO_COPIES: Mapping[str, str] = {}


def distinct_runs(results: Sequence[RecordType]) -> list[RecordType]:
    """Removes repeated runs: a scenario and seed for which every controller has the same measures as for an earlier one
    adds no information. Examples are seeds of a scenario without randomness, and a trace given twice.
    """
    runs: dict[tuple[str, int], list[RecordType]] = {}
    for result in results:
        runs.setdefault((result.scenario, result.seed), []).append(result)
    seen = set()
    distinct = []
    for group in runs.values():
        measured = frozenset((one.controller, tuple(sorted(one.measures.items()))) for one in group)
        if measured not in seen:
            distinct += group
        seen.add(measured)
    return distinct


def spread(measure: Measure, values: RunValues, copies: Mapping[str, str] = _NO_COPIES) -> Spread | None:
    """Mean, tails and interval; None without values. Percentiles over runs: linearly interpolated (numpy's default)."""
    if not values:
        return None
    over_runs = list(values.values())
    p5, p95 = np.percentile(over_runs, [5, 95])
    means = _scenario_means(values, values, copies)
    return Spread(
        mean=float(np.mean(over_runs)),
        p5=float(p5),
        p95=float(p95),
        worst=float(measure.worst(over_runs)),
        ci95=bootstrap_interval(means, np.zeros_like(means)),
        n=len(over_runs),
        independent=len(means),
    )


def compare_paired(
    measure: Measure, a: RunValues, b: RunValues, copies: Mapping[str, str] = _NO_COPIES
) -> PairedComparison | None:
    """Compares a with b over the runs that both have; None without common runs."""
    common = sorted(a.keys() & b.keys())
    if not common:
        return None
    first, second = _scenario_means(a, common, copies), _scenario_means(b, common, copies)
    differences = first - second
    return PairedComparison(
        mean=float(np.mean(differences)),
        ci95=bootstrap_interval(first, second),
        wins=sum(measure.difference_favours_first(difference) for difference in differences.tolist()),
        losses=sum(measure.difference_favours_first(-difference) for difference in differences.tolist()),
        n=len(common),
        independent=len(differences),
    )


def bootstrap_interval(a: NDArray[np.float64], b: NDArray[np.float64]) -> tuple[float | None, float | None]:
    """95 % bootstrap interval of mean(a - b), a and b being paired and the pairs independent, by the bias-corrected and
    accelerated method (Efron 1987).

    (None, None) for fewer than MINIMUM_SCENARIOS pairs; the same value twice if all differences are equal. The
    percentile interval if the correction is undefined.
    """
    differences = a - b
    if len(differences) < MINIMUM_SCENARIOS:
        return None, None
    if np.ptp(differences) <= 1e-12 * max(1.0, float(np.abs(differences).max())):
        value = float(differences.mean())
        return value, value
    # Imported late: it takes half a second, and results without intervals do not need it.
    from scipy import stats

    def mean_difference(x: NDArray[np.float64], y: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
        return np.mean(x - y, axis=axis)

    for method in ("BCa", "percentile"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", stats.DegenerateDataWarning)
            result = stats.bootstrap(
                (a, b),
                mean_difference,
                paired=True,
                vectorized=True,
                n_resamples=RESAMPLES,
                confidence_level=CONFIDENCE,
                method=method,
                rng=np.random.default_rng(_SEED),
            )
        low, high = map(float, result.confidence_interval)
        if np.isfinite(low) and np.isfinite(high):
            return low, high
    return None, None


def _scenario_means(
    values: RunValues, runs: Iterable[tuple[str, int]], copies: Mapping[str, str]
) -> NDArray[np.float64]:
    """The mean over the runs of each path, in the order of path names."""
    by_path: dict[str, list[float]] = {}
    for run in sorted(runs):
        by_path.setdefault(copies.get(run[0], run[0]), []).append(values[run])
    return np.array([np.mean(by_path[path]) for path in sorted(by_path)])
