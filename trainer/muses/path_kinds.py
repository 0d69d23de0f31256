"""Do kinds of path pay? Students of all sorts, from the same flows, by how near they are to their teacher.

Nearness is the explained variance of the teacher's actions on held-out paths that the teacher flies; the interval of a
difference is by bootstrap over paths.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from scipy.stats import bootstrap
from sklearn.tree import DecisionTreeClassifier

from weir.traces.generate.random_domain import Split
from weir.trainer.configuration.scenarios import ScenarioSettings
from weir.trainer.gym.specification import EnvironmentSpecification
from weir.trainer.imitation.teachers import Teacher
from weir.trainer.muses import kind_assignments
from weir.trainer.muses.decomposition import Decomposition
from weir.trainer.muses.extraction import find_kinds, lines_of, sampler_of
from weir.trainer.muses.flows import Flows, roll_out
from weir.trainer.muses.inputs import TreeInputs, tree_inputs, whole_observation
from weir.trainer.muses.selector import Selector
from weir.trainer.muses.students import Size, grow

TREE: Final = Size(1, 500)
OTHER_LEAVES: Final = (100, 2000)
SUM: Final = Size(10, 50)
LARGE_SUM: Final = Size(30, 250)
"""60 kB."""
KINDS: Final = (tuple(range(2, 15)), (14,))
"""Those to try, of which the best silhouette is taken."""
INTERVAL_S: Final = 10.0
OTHER_INTERVALS_S: Final = (3.0, 20.0)
CLASSES: Final = 7
_CLASSIFIED_SAMPLES: Final = 100_000
_LINES: Final = 24


@dataclass(frozen=True)
class Plan:
    """`flows`: under the teacher to learn from; a quarter as many to judge by, and as many for the lines."""

    flows: int = 1024
    duration_s: float = 40.0
    seed: int = 1
    environments: int = 128
    scenarios: ScenarioSettings = field(default_factory=ScenarioSettings)

    @property
    def quarter(self) -> int:
        """In whole batches."""
        return self.environments * max(1, round(self.flows / 4 / self.environments))

    @property
    def all_flows(self) -> int:
        """That are flown in all."""
        return self.flows + 2 * self.quarter


@dataclass(frozen=True)
class Judged:
    """Students of a sort: `explained` of the teacher's variance; `gain`: that less the first sort's, which is one tree
    for all, with its interval of 95 %; `among_two_nearest`: see `kind_assignments`.
    """

    name: str
    splits: int
    explained: float
    gain: tuple[float, float, float] | None
    among_two_nearest: float | None = None


def judge_path_kinds(
    teacher: Teacher,
    specification: EnvironmentSpecification,
    plan: Plan,
    *,
    simulator: str | os.PathLike[str] | None = None,
    on_progress: Callable[[str, int], None] = lambda what, flown: None,
) -> Iterator[Judged]:
    """Flies, and judges one sort after the other; the same arguments give the same answers."""
    seeds = iter(np.random.SeedSequence(plan.seed).generate_state(3).tolist())
    flown = 0

    def fly(what: str, flows: int, split: Split, inputs: TreeInputs) -> Flows:
        nonlocal flown
        before, flown = flown, flown + flows
        return roll_out(
            teacher,
            inputs,
            sampler_of(plan.scenarios, plan.duration_s, split),
            flows,
            seed=next(seeds),
            environments=plan.environments,
            simulator=simulator,
            on_progress=lambda done: on_progress(what, before + done),
        )

    lines = lines_of(fly("lines", plan.quarter, "train", whole_observation(specification)), _LINES)
    inputs = tree_inputs(specification, lines)
    learned = fly("to learn from", plan.flows, "train", inputs)
    unseen = fly("to judge by", plan.quarter, "held_out", inputs)
    for judged in _Comparison(learned, unseen, inputs.state_size, specification.interval_ms, plan.seed).all():
        yield judged
        on_progress("students", flown)


class _Comparison:
    def __init__(self, learned: Flows, unseen: Flows, state_size: int, interval_ms: float, seed: int) -> None:
        self._learned, self._unseen = learned, unseen
        self._state_size, self._interval_ms, self._seed = state_size, interval_ms, seed
        self._first_errors: np.ndarray | None = None

    def all(self) -> Iterator[Judged]:
        yield self._one(f"one tree of {TREE.leaves} leaves", TREE)
        for leaves in OTHER_LEAVES:
            yield self._one(f"one tree of {leaves}", Size(1, leaves))
        for size in (SUM, LARGE_SUM):
            yield self._one(f"one sum of {size.trees} trees of {size.leaves}", size)
        yield self._classes()
        for tried in KINDS:
            yield from self._kinds(tried)
        learned, names = kind_assignments.dynamics(self._learned)
        unseen, others = kind_assignments.dynamics(self._unseen)
        if names == others:
            yield self._mixture(f"{len(names)} dynamics of the capacity, known", TREE, len(names), learned, unseen)

    def _kinds(self, tried: tuple[int, ...]) -> Iterator[Judged]:
        learned, unseen = self._learned, self._unseen
        decomposition, selector = self._find(tried, INTERVAL_S)
        count = selector.kinds
        chosen = [kind_assignments.by_selector(selector, flows) for flows in (learned, unseen)]
        name = f"{count} kinds" + (", by silhouette" if len(tried) > 1 else "")
        nearest = kind_assignments.among_two_nearest(decomposition, selector, unseen)
        yield replace(self._mixture(name, TREE, count, *chosen), among_two_nearest=nearest)
        as_many = TREE.leaves * (count + 1)
        yield self._one(f"... one tree of as many leaves, {as_many}", Size(1, as_many))
        yield self._mixture(f"... sums of {SUM.trees} trees of {SUM.leaves}", SUM, count, *chosen)
        own = [kind_assignments.own_kind(decomposition, selector, flows) for flows in (learned, unseen)]
        yield self._mixture("... the window's own kind, known", TREE, count, *own)
        frozen = kind_assignments.first_choice(chosen[1])
        yield self._mixture("... the first choice for ever", TREE, count, chosen[0], frozen)
        logistic = kind_assignments.logistic(decomposition, selector, learned)
        by_logistic = [kind_assignments.by_selector(logistic, flows) for flows in (learned, unseen)]
        nearest = kind_assignments.among_two_nearest(decomposition, logistic, unseen)
        judged = self._mixture("... chosen by logistic regression", TREE, count, *by_logistic)
        yield replace(judged, among_two_nearest=nearest)
        for interval_s in OTHER_INTERVALS_S:
            other = self._find((count,), interval_s)[1]
            kinds = [kind_assignments.by_selector(other, flows) for flows in (learned, unseen)]
            yield self._mixture(f"... a choice every {interval_s:g} s", TREE, count, *kinds)
        generator = np.random.default_rng(self._seed)
        dealt = [kind_assignments.at_random(count, flows, generator) for flows in (learned, unseen)]
        yield self._mixture("... paths dealt out at random", TREE, count, *dealt)

    def _find(self, tried: tuple[int, ...], interval_s: float) -> tuple[Decomposition, Selector]:
        samples = round(interval_s * 1000 / self._interval_ms)
        return find_kinds(self._learned, self._state_size, samples, tried, self._seed)

    def _one(self, name: str, size: Size) -> Judged:
        return self._mixture(
            name, size, 0, *(np.zeros(one.actions.shape, int) for one in (self._learned, self._unseen))
        )

    def _mixture(self, name: str, size: Size, count: int, learned: np.ndarray, unseen: np.ndarray) -> Judged:
        """Students 1 to `count` and student 0; the kinds of intervals to learn from and to judge by."""
        answers = np.zeros_like(self._unseen.actions)
        splits = count * size.trees
        for kind in range(count + 1):
            of_kind = learned == kind
            if kind == 0 or of_kind.sum() < 2 * size.fewest_samples:
                of_kind = np.ones_like(of_kind)
            student = grow(self._learned.inputs[of_kind], self._learned.actions[of_kind], size)
            splits += student.splits
            asked = unseen == kind
            answers[asked] = student.decide(self._unseen.inputs[asked])
        return self._judge(name, splits, answers)

    def _classes(self) -> Judged:
        """The paper's own students: CART by entropy over seven actions; a class answers with its mean."""
        inputs = self._learned.inputs.reshape(-1, self._learned.inputs.shape[-1])
        actions = self._learned.actions.reshape(-1)
        some = np.random.default_rng(self._seed).permutation(len(actions))[:_CLASSIFIED_SAMPLES]
        classes = np.digitize(actions[some], np.quantile(actions, np.arange(1, CLASSES) / CLASSES))
        means = np.array([actions[some][classes == one].mean() for one in range(CLASSES)])
        found = DecisionTreeClassifier(
            criterion="entropy", max_leaf_nodes=TREE.leaves, min_samples_leaf=TREE.fewest_samples, random_state=1
        ).fit(inputs[some], classes)
        answers = means[found.predict(self._unseen.inputs.reshape(-1, inputs.shape[1]))]
        name = f"one tree of {TREE.leaves}, {CLASSES} classes by entropy ({len(some):,} samples)"
        return self._judge(name, int(found.get_n_leaves()) - 1, answers.reshape(self._unseen.actions.shape))

    def _judge(self, name: str, splits: int, answers: np.ndarray) -> Judged:
        actions = self._unseen.actions
        # Flows 2i and 2i + 1 are on one path.
        errors = ((answers - actions) ** 2).mean(axis=1).reshape(-1, 2).mean(axis=1) / actions.var()
        explained = float(1 - errors.mean())
        if self._first_errors is None:
            self._first_errors = errors
            return Judged(name, splits, explained, None)
        gains = self._first_errors - errors
        interval = bootstrap((gains,), np.mean, method="percentile", random_state=1).confidence_interval
        return Judged(name, splits, explained, (float(gains.mean()), float(interval.low), float(interval.high)))
