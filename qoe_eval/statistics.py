"""Paired statistics: means, tails, and bootstrap intervals of differences.

Two controllers are compared run by run on the same scenario with the same seed. Seeds of one scenario are not
independent samples of "paths" - on a deterministic path they may even give the same bytes - so differences are first
averaged over the seeds of a scenario, and the interval comes from resampling scenarios. Where all runs are of one
scenario, seeds are resampled instead.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weir.qoe_eval.metric_table import Metric

RESAMPLES = 4999
CONFIDENCE = 0.95
_SEED = 20210928  # any constant: the same results give the same intervals

# Scenario and seed of a run, and the value of one metric in it.
RunValues = Mapping[tuple[str, int], float]


@dataclass(frozen=True)
class Spread:
    """Mean and tails of one metric over the runs of one controller.

    `worst` is the minimum or maximum, by what is better; `ci95` the 95 % bootstrap interval of the mean, (None, None)
    when there is nothing to resample.
    """

    mean: float
    p5: float
    p95: float
    worst: float
    ci95: tuple[float | None, float | None]
    n: int


@dataclass(frozen=True)
class PairedComparison:
    """`mean` of a - b over scenarios, its 95 % interval, and the pairs in which a is strictly better.

    `ci95` is (None, None) when there is nothing to resample: fewer than two scenarios and fewer than two seeds.
    """

    mean: float
    ci95: tuple[float | None, float | None]
    wins: int
    losses: int
    n: int
    scenarios: int


def spread(metric: Metric, values: RunValues) -> Spread | None:
    """Nothing for no values. Percentiles over runs, linearly interpolated (numpy's default)."""
    if not values:
        return None
    over_runs = list(values.values())
    p5, p95 = np.percentile(over_runs, [5, 95])
    means = _unit_means(values, sorted(values))
    return Spread(
        mean=float(np.mean(over_runs)),
        p5=float(p5),
        p95=float(p95),
        worst=float(metric.worst(over_runs)),
        ci95=bootstrap_interval(means, np.zeros_like(means)),
        n=len(over_runs),
    )


def compare_paired(metric: Metric, a: RunValues, b: RunValues) -> PairedComparison | None:
    """a against b over the runs that both have; nothing when there are none."""
    common = sorted(a.keys() & b.keys())
    if not common:
        return None
    differences = [a[run] - b[run] for run in common]
    first, second = _unit_means(a, common), _unit_means(b, common)
    return PairedComparison(
        mean=float(np.mean(first - second)),
        ci95=bootstrap_interval(first, second),
        wins=sum(metric.difference_favours_first(difference) for difference in differences),
        losses=sum(metric.difference_favours_first(-difference) for difference in differences),
        n=len(common),
        scenarios=len({scenario for scenario, _ in common}),
    )


def bootstrap_interval(a: NDArray[np.float64], b: NDArray[np.float64]) -> tuple[float | None, float | None]:
    """95 % bootstrap interval of mean(a - b), a and b being paired, by the bias-corrected and accelerated method
    (Efron 1987).

    (None, None) for fewer than two pairs; the one value twice when all differences are equal. Where the correction is
    undefined (very few pairs), the percentile interval.
    """
    # Takes seconds to import, which commands without statistics need not wait for.
    from scipy import stats

    differences = a - b
    if len(differences) < 2:
        return None, None
    if np.ptp(differences) <= 1e-12 * max(1.0, float(np.abs(differences).max())):
        value = float(differences.mean())
        return value, value

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


def _unit_means(values: RunValues, runs: Sequence[tuple[str, int]]) -> NDArray[np.float64]:
    """What is resampled: the mean over the seeds of each scenario; where there is but one scenario, its runs. `runs`
    is sorted.
    """
    by_scenario = [list(group) for _, group in itertools.groupby(runs, key=lambda run: run[0])]
    units = by_scenario if len(by_scenario) > 1 else [[run] for run in runs]
    return np.array([np.mean([values[run] for run in unit]) for unit in units])
