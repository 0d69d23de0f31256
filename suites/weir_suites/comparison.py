"""The measure of most goals: a metric of a controller, alone or compared with others, and a statistic over scenarios.

Obtains from records the values of the controller and of the best of the others, compares them by scenario, and computes
a statistic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from weir_cli.console import counted
from weir_eval.measures.families import SCORE
from weir_eval.measures.statistics import bootstrap_interval, distinct_runs
from weir_eval.measures.table import MEASURES
from weir_eval.report.goal_table import Bound
from weir_eval.report.text import too_few_text
from weir_sim.controllers import POLICY
from weir_suites.results import Among, By, Metric, Results, Run, Values
from weir_suites.suite import Outcome
from weir_traces.schema.scenario import Scenario

How = Literal["gain", "difference", "ratio", "relative"]
"""Own minus other with the sign so that above 0 is better; own minus other; own / other; own / other minus 1."""
# Limits of the scenarios named in details, and of those with their own figures.
_NAMED = 10
_FIGURES = 15


@dataclass(frozen=True)
class Sample:
    """The input of a statistic: the compared values by scenario, and the values behind them with their paths."""

    values: Mapping[str, float]
    own: NDArray[np.float64]
    other: NDArray[np.float64]
    paths: Sequence[str]

    def interval(self) -> tuple[float | None, float | None]:
        """95 % interval of the mean of own minus other, over paths, as the seeds of one path are not independent."""
        chosen = [[path == one for path in self.paths] for one in dict.fromkeys(self.paths)]
        own, other = (np.array([values[one].mean() for one in chosen]) for values in (self.own, self.other))
        return bootstrap_interval(own, other)


Statistic = Callable[[Sample, Bound], float | None]


def mean(sample: Sample, bound: Bound) -> float:
    """The mean; scenarios have equal weight."""
    return fmean(sample.values.values())


def median(sample: Sample, bound: Bound) -> float:
    """The median over scenarios."""
    return float(np.median([*sample.values.values()]))


def geometric_mean(sample: Sample, bound: Bound) -> float:
    """The geometric mean, for ratios."""
    return math.exp(fmean(map(math.log, sample.values.values())))


def worst(sample: Sample, bound: Bound) -> float:
    """The worst scenario relative to the bound."""
    return (min if bound.kind == "at least" else max)(sample.values.values())


def low_end(sample: Sample, bound: Bound) -> float | None:
    """The lower end of the 95 % interval of the mean difference."""
    return sample.interval()[0]


def ratio_of_means(sample: Sample, bound: Bound) -> float | None:
    """The ratio of means; scenarios are weighted by their values."""
    return float(sample.own.sum() / sample.other.sum()) if sample.other.sum() else None


def part_lost(sample: Sample, bound: Bound) -> float | None:
    """The share of the others' total that the controller falls short of."""
    ratio = ratio_of_means(sample, bound)
    return None if ratio is None else 1 - ratio


def share(condition: Callable[[float], bool]) -> Statistic:
    """The share of scenarios that meet a condition."""
    return lambda sample, bound: fmean(map(condition, sample.values.values()))


def quantile(part: float) -> Statistic:
    """The quantile over scenarios, 0 to 1."""
    return lambda sample, bound: float(np.quantile([*sample.values.values()], part))


@dataclass(frozen=True)
class Comparison:
    """A goal's measure. The time of an event that never happens is infinite.

    Attributes:
        sets: sets of scenarios.
        metric: see `Metric`.
        statistic: the statistic over values by scenario, or by the unit of `by`.
        own: the controller.
        others: controllers of which the best is compared; empty: uses the controller's values alone.
        how: the comparison of own and other, see `How`.
        by: the unit of a value, see `By`.
        among: condition on scenarios; None: all.
        groups: the groups of a scenario; values are then means over the scenarios of each group.
        usual: a set of the same scenarios under usual conditions; `own` is compared with itself there.
        beside: other controllers in the detail.
        also: further metrics in the detail, by their description.
        paired: use only runs that all controllers have; identical runs count once.
        least: with fewer values the goal is undecided.
    """

    sets: str | Sequence[str]
    metric: Metric = SCORE
    statistic: Statistic = mean
    own: str = POLICY
    others: Sequence[str] = ()
    how: How = "gain"
    by: By = "scenario"
    among: Among | None = None
    groups: Callable[[Scenario], Iterable[str]] | None = None
    usual: str = ""
    beside: Sequence[str] = ()
    also: Mapping[str, Metric] = field(default_factory=dict)
    paired: bool = False
    least: int = 1

    def __call__(self, results: Results, bound: Bound) -> Outcome:
        """The statistic; undecided if a controller or set that it needs is missing."""
        sample, why = self.sample(results), self._why_absent(results)
        if len(sample.values) < self.least:
            return Outcome(reason=why or "no run has what is measured")
        value, means = self.statistic(sample, bound), self._means(results, self.metric)
        detail = "; ".join(self._parts(results, sample, bound, means))
        if value is None:
            return Outcome(detail=detail, reason=too_few_text(len(sample.values)))
        # Omit differences by scenario and values of many scenarios, which would fill a record.
        differences = self._rivals and self.how in ("gain", "difference") and self.by != "set"
        by_value = sample.values if self.groups or (len(sample.values) <= _FIGURES and not differences) else {}
        figures = {name: one for name, one in {**means, **by_value}.items() if math.isfinite(one)}
        figures["n"] = len(sample.values)
        if self.statistic is low_end:
            figures["mean"] = mean(sample, bound)
        # Some of the calls are enough.
        undecided = "" if self.by == "call" else why
        if not math.isfinite(value):
            never = f"never with {self.others[0]}" if value == -math.inf else "never"
            return Outcome(None, detail, figures, undecided, never, bound.met(value))
        return Outcome(value, detail, figures, undecided)

    def sample(self, results: Results) -> Sample:
        """The compared values."""
        compared: dict[str, float] = {}
        groups: dict[str, list[float]] = {}
        own, other, paths = [], [], []
        for name in self._names:
            runs = self._paired_runs(results, name)
            rivals = [self._values(results, of or name, one, runs) for of, one in self._rivals]
            groups_of = {one.name: self.groups(one) for one in results.scenarios(name)} if self.groups else {}
            for (path, seed), value in self._values(results, name, self.own, runs).items():
                known = [of[path, seed] for of in rivals if (path, seed) in of]
                if rivals and (not known or (self.by == "call" and len(known) < len(rivals))):
                    continue
                best = self._best(known) if rivals else math.nan
                own.append(value)
                other.append(best)
                paths.append(path)
                if not rivals or self.how in ("gain", "difference") or best > 0:
                    label = f"{name}, {path}, seed {seed}" if seed else path
                    compared[label] = self._compare(value, best) if rivals else value
                    for group in groups_of.get(path, ()):
                        groups.setdefault(group, []).append(compared[label])
        if self.groups:
            compared = {group: fmean(values) for group, values in groups.items()}
        return Sample(compared, np.array(own), np.array(other), paths)

    @property
    def _names(self) -> Sequence[str]:
        return (self.sets,) if isinstance(self.sets, str) else self.sets

    @property
    def _rivals(self) -> Sequence[tuple[str, str]]:
        """The set, if it is another one, and the controller."""
        return [(self.usual, self.own)] if self.usual else [("", one) for one in self.others]

    def _values(
        self, results: Results, name: str, controller: str, runs: set[Run] | None, metric: Metric = ""
    ) -> Values:
        return results.values(name, controller, metric or self.metric, self.by, self.among, runs)

    def _paired_runs(self, results: Results, name: str) -> set[Run] | None:
        """The runs of a set to use; None: all."""
        if not self.paired:
            return None
        sides = [(name, self.own), *((of or name, one) for of, one in self._rivals)]
        distinct = [
            {(run.scenario, run.seed) for run in distinct_runs(results.of(of))} for of in {of for of, _ in sides}
        ]
        return set.intersection(*distinct, *(set(results.values(*side, self.metric, "run")) for side in sides))

    def _best(self, known: Sequence[float]) -> float:
        return MEASURES[self.metric].best(known) if isinstance(self.metric, str) else known[0]

    def _compare(self, own: float, other: float) -> float:
        if self.how in ("ratio", "relative"):
            return own / other - (self.how == "relative")
        lower_is_better = isinstance(self.metric, str) and MEASURES[self.metric].better == "lower"
        return other - own if self.how == "gain" and lower_is_better else own - other

    def _why_absent(self, results: Results) -> str:
        names = [*self._names, *([self.usual] if self.usual else [])]
        if self.by == "call":
            return results.why_no_pair(names)
        # The worst of several sets is taken over those that ran.
        if self.by == "set" or self.statistic is worst:
            names = [name for name in names if results.of(name)] or names
        return results.why_absent(names, self.own, self.others)

    def _means(self, results: Results, metric: Metric) -> dict[str, float]:
        """The mean of each controller, and of the usual set, over the scenarios that they have in common."""
        sides = {one: ("", one) for one in (self.own, *self.others, *self.beside)}
        sides |= {self.usual: (self.usual, self.own)} if self.usual else {}
        known: dict[str, dict[tuple[str, Run], float]] = {label: {} for label in sides}
        for name in self._names:
            runs = self._paired_runs(results, name)
            for label, (of, one) in sides.items():
                values = self._values(results, of or name, one, runs, metric)
                known[label] |= {(name, run): value for run, value in values.items()}
        known = {label: values for label, values in known.items() if values}
        common = set.intersection(*map(set, known.values())) if known else set()
        return {label: fmean(values[run] for run in common) for label, values in known.items() if common}

    def _parts(self, results: Results, sample: Sample, bound: Bound, means: Mapping[str, float]) -> Iterator[str]:
        """Parts of the detail."""
        yield _shown(self.metric, means)
        for what, metric in self.also.items():
            yield f"{what}: {_shown(metric, self._means(results, metric))}"
        values = sample.values
        yield counted(len(values), "group" if self.groups else self.by)
        if self.statistic is worst:
            wrong = 1 if bound.kind == "at least" else -1
            missed = sorted((one for one in values if not bound.met(values[one])), key=lambda one: wrong * values[one])
            listed = ", ".join(f"{one} {bound.show(values[one])}" for one in missed[:_NAMED])
            yield f"{len(missed)} miss it: {listed}" if missed else "all reach it"
        elif self._rivals and self.by != "set" and self.statistic in (mean, ratio_of_means, low_end):
            low, high = sample.interval()
            if low is not None and high is not None:
                shown = _shown(self.metric, {"from": low, "to": high})
                yield f"95 % interval of the difference over {len(set(sample.paths))} paths {shown}"
        elif len(values) > 1:
            lowest = min(values, key=lambda one: values[one])
            yield f"lowest {lowest} {values[lowest]:.4g}"


def _shown(metric: Metric, values: Mapping[str, float]) -> str:
    """Displays the values of a metric by name."""
    show = MEASURES[metric].display if isinstance(metric, str) else "{:.4g}".format
    return ", ".join(f"{name} {show(value) if math.isfinite(value) else 'never'}" for name, value in values.items())
