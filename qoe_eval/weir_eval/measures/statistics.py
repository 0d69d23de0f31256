"""Paired statistics: means, tails, and intervals of differences.

Two controllers are compared run by run on the same scenario with the same seed. Scenarios are independent samples;
their seeds are not, as they vary one path only slightly (`weir_traces.schema.variation`). Thus differences are
first averaged over the seeds of a scenario, and wins and intervals are over scenarios; with fewer than
MINIMUM_SCENARIOS there are no intervals. Reports have `mean_interval`, which covers with few scenarios. Goals, whose
values are in records, keep `bootstrap_interval`.

Scenarios are independent if they come from different captures, or from different seeds of one generator. Two directions
of one capture, two windows of one file, or one path with several queues are not: an interval over these is too narrow,
which is detected only in part (`weir_eval.runs.near_copies`). Runs that repeat another in every measure are counted
once (`distinct_runs`); scenarios that are not independent (`copies`: name of the path by scenario) are averaged as one.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from weir_eval.measures.run_values import Run, RunValues
from weir_eval.measures.table import Measure
from weir_eval.records.comparisons import PairedComparison, Spread

RESAMPLES = 4999
CONFIDENCE = 0.95
MINIMUM_SCENARIOS = 6
"""With fewer, no interval of a mean both covers 95 % and is narrow enough to be of use."""
_NO_SKEW = 1e-9
_PERMUTATIONS = 1999
_SEED = 20210928  # arbitrary constant: the same results give the same intervals
_NO_COPIES: Mapping[str, str] = {}


def spread(measure: Measure, values: RunValues, copies: Mapping[str, str] = _NO_COPIES) -> Spread | None:
    """Mean, tails and interval; None without values. Percentiles over runs: linearly interpolated (numpy's default)."""
    if not values:
        return None
    over_runs = list(values.values())
    p5, p95 = np.percentile(over_runs, [5, 95])
    paths, runs = _runs_by_path(values, copies)
    means = path_means(paths, [values[run] for run in runs])
    return Spread(
        mean=float(np.mean(over_runs)),
        p5=float(p5),
        p95=float(p95),
        worst=float(measure.worst(over_runs)),
        ci95=mean_interval(means),
        n=len(over_runs),
        independent=len(means),
    )


def compare_paired(
    measure: Measure, a: RunValues, b: RunValues, copies: Mapping[str, str] = _NO_COPIES
) -> PairedComparison | None:
    """Compares a with b over the runs that both have; None without common runs."""
    paths, common = _runs_by_path(a.keys() & b.keys(), copies)
    if not common:
        return None
    differences = path_differences(paths, [a[run] for run in common], [b[run] for run in common])
    mean = float(np.mean(differences))
    over_runs = [a[run] - b[run] for run in common]
    return PairedComparison(
        mean=mean,
        ci95=mean_interval(differences),
        wins=sum(measure.difference_favours_first(difference) for difference in differences.tolist()),
        losses=sum(measure.difference_favours_first(-difference) for difference in differences.tolist()),
        n=len(common),
        agreeing=sum(difference * mean > 0 for difference in over_runs),
        opposing=sum(difference * mean < 0 for difference in over_runs),
        median=float(np.median(over_runs)),
        independent=len(differences),
    )


def path_differences(paths: Sequence[str], a: Sequence[float], b: Sequence[float]) -> NDArray[np.float64]:
    """Mean of a minus mean of b on each path, in the order in which paths first appear; all arguments have an element
    for each run.
    """
    return path_means(paths, a) - path_means(paths, b)


def path_means(paths: Sequence[str], values: Sequence[float]) -> NDArray[np.float64]:
    """The mean over the runs of each path, in the order in which paths first appear."""
    by_path: dict[str, list[float]] = {}
    for path, value in zip(paths, values, strict=True):
        by_path.setdefault(path, []).append(value)
    return np.array([np.mean(of_path) for of_path in by_path.values()])


def mean_interval(values: NDArray[np.float64]) -> tuple[float | None, float | None]:
    """95 % interval of the mean of independent values, such as differences by path: the wider, at each end, of
    Student's t interval and of the t interval corrected for skewness by Hall's transformation (Hall 1992, "On the
    removal of skewness by transformation").

    (None, None) for fewer than MINIMUM_SCENARIOS values; the same value twice if all are equal.
    """
    count = len(values)
    if count < MINIMUM_SCENARIOS:
        return None, None
    mean = float(values.mean())
    if _are_equal(values):
        return mean, mean
    # Imported late, as in `bootstrap_interval`.
    from scipy import stats

    quantile = float(stats.t.ppf((1 + CONFIDENCE) / 2, count - 1)) / math.sqrt(count)
    third = float(stats.skew(values, bias=False)) / 3

    def untransformed(shifted: float) -> float:
        # The inverse of t + third * t^2 + third^2 * t^3 / 3 + third / (2 * count), in units of the deviation.
        centered = shifted - third / (2 * count)
        return centered if abs(third) < _NO_SKEW else (math.cbrt(1 + 3 * third * centered) - 1) / third

    deviation = float(values.std(ddof=1))
    low = max(quantile, untransformed(quantile))
    high = min(-quantile, untransformed(-quantile))
    return mean - deviation * low, mean - deviation * high


def independent_interval(a: NDArray[np.float64], b: NDArray[np.float64]) -> tuple[float | None, float | None]:
    """95 % interval of the mean of a minus the mean of b, of two groups that share no sample: Welch's t interval,
    extended to 0 unless the permutation test rejects that the groups are equal. Alone, Welch's excludes 0 too often if
    values are skewed and one group is small.

    (None, None) if a group has fewer than MINIMUM_SCENARIOS values.
    """
    if min(len(a), len(b)) < MINIMUM_SCENARIOS:
        return None, None
    difference = float(a.mean() - b.mean())
    of_a, of_b = (0.0 if _are_equal(group) else float(group.var(ddof=1)) / len(group) for group in (a, b))
    if of_a + of_b == 0:
        return difference, difference
    # Imported late, as in `bootstrap_interval`.
    from scipy import stats

    freedom = (of_a + of_b) ** 2 / (of_a**2 / (len(a) - 1) + of_b**2 / (len(b) - 1))
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom)) * math.sqrt(of_a + of_b)
    if abs(difference) <= half:
        return difference - half, difference + half
    low, high = np.quantile(_permuted_differences(a, b), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    bound = 0.0 if low <= difference <= high else difference
    return min(difference - half, bound), max(difference + half, bound)


def _permuted_differences(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Differences of the means of two groups of these sizes, into which all values are divided at random."""
    values, random = np.concatenate([a, b]), np.random.default_rng(_SEED)
    total, sums = values.sum(), np.empty(_PERMUTATIONS)
    for place in range(_PERMUTATIONS):
        sums[place] = random.permutation(values)[: len(a)].sum()
    return sums / len(a) - (total - sums) / len(b)


def _are_equal(values: NDArray[np.float64]) -> bool:
    return bool(np.ptp(values) <= 1e-12 * max(1.0, float(np.abs(values).max())))


def bootstrap_interval(values: NDArray[np.float64]) -> tuple[float | None, float | None]:
    """95 % bootstrap interval of the mean of independent values, such as differences by path, by the bias-corrected and
    accelerated method (Efron 1987).

    (None, None) for fewer than MINIMUM_SCENARIOS values; the same value twice if all are equal. The percentile interval
    if the correction is undefined.
    """
    if len(values) < MINIMUM_SCENARIOS:
        return None, None
    if _are_equal(values):
        value = float(values.mean())
        return value, value
    # Imported late: it takes half a second, and results without intervals do not need it.
    from scipy import stats

    for method in ("BCa", "percentile"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", stats.DegenerateDataWarning)
            result = stats.bootstrap(
                (values,),
                np.mean,
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


def _runs_by_path(runs: Iterable[Run], copies: Mapping[str, str]) -> tuple[list[str], list[Run]]:
    """The path of each run and the runs, in the order of path names."""
    ordered = sorted((copies.get(run[0], run[0]), run) for run in runs)
    return [path for path, _ in ordered], [run for _, run in ordered]
