"""Extracts a mixture of trees from a teacher."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from weir_papers.imitation.teachers import Teacher
from weir_papers.muses import trees
from weir_papers.muses.flows import Flows, Paths, roll_out, twins, windows
from weir_papers.muses.kinds import Decomposition, Selector, decompose
from weir_papers.muses.mixture import Mixture, no_state
from weir_papers.muses.tree_inputs import TreeInputs, fit_lines, tree_inputs, whole_observation
from weir_papers.muses.trees import Student
from weir_traces.generate.random_domain import Split
from weir_train.configuration.scenarios import ScenarioSampler, ScenarioSettings
from weir_train.gym.specification import EnvironmentSpecification

# Called with the stage, and with the number of flows that are complete.
Progress = Callable[[str, int], None]

HIGHEST_MEAN_BPS: Final = 20e6
# Flows of other stages, as a share of those under the teacher: to fit the lines, of each round under the trees, and to
# check with.
_LINES_SHARE: Final = 1 / 8
_ROUND_SHARE: Final = 1 / 2
_CHECKED_SHARE: Final = 1 / 8
_LINES_STEPS: Final = 5
_EXAMPLES: Final = 4
_LISTED: Final = 5


@dataclass(frozen=True)
class Plan:
    """The size of an extraction.

    Attributes:
        flows: under the teacher, each of `duration_s`.
        kinds: numbers of kinds to try; (1,): one student for all paths.
        trees: of a student, whose answers are summed.
        leaves: of a tree, at most.
        interval_s: between two choices of a kind.
        lines: see `fit_lines`.
        rounds: of dataset aggregation: the trees run the flows, and learn how the teacher would have decided.
        seed: of paths, objectives and clusters.
        environments: simulator processes.
    """

    flows: int = 5000
    duration_s: float = 40.0
    kinds: Sequence[int] = tuple(range(2, 16))
    trees: int = 1
    leaves: int = 500
    interval_s: float = 10.0
    lines: int = 24
    rounds: int = 2
    seed: int = 1
    environments: int = 256

    def share(self, share: float) -> int:
        """A share of the flows, in whole batches."""
        return max(1, math.ceil(self.flows * share / self.environments)) * self.environments

    @property
    def all_flows(self) -> int:
        """The flows of all stages."""
        return sum(map(self.share, (_LINES_SHARE, 1.0, *[_ROUND_SHARE] * self.rounds, _CHECKED_SHARE)))


@dataclass(frozen=True)
class Extraction:
    """A mixture and how well it imitates. `decomposition` is None for one student; `measures` and `held_out` are of the
    trees over held-out paths.
    """

    mixture: Mixture
    decomposition: Decomposition | None
    held_out: Flows
    measures: dict[str, float]
    fewest_samples: int


def extract(
    teacher: Teacher,
    specification: EnvironmentSpecification,
    plan: Plan,
    *,
    on_progress: Progress = lambda stage, flows: None,
) -> Extraction:
    """The same arguments give the same trees. `specification` has an action around the rule.

    Raises:
        ComponentFailed: a simulator failed.
    """
    seeds = iter(np.random.SeedSequence(plan.seed).generate_state(plan.rounds + 3).tolist())
    complete = 0

    def run(
        stage: str, inputs: TreeInputs, share: float, mixture: Mixture | None = None, split: Split = "train"
    ) -> Flows:
        nonlocal complete
        before, complete = complete, complete + plan.share(share)
        return roll_out(
            teacher,
            inputs,
            _paths(plan, split),
            plan.share(share),
            plan.duration_s,
            seed=next(seeds),
            environments=plan.environments,
            mixture=mixture,
            on_progress=lambda done: on_progress(stage, before + done),
        )

    first = run("lines", whole_observation(specification), _LINES_SHARE)
    inputs = tree_inputs(specification, lines_of(first, plan.lines))
    flows = run("teacher", inputs, 1.0)
    samples = round(plan.interval_s * 1000 / specification.interval_ms)
    decomposition, selector = None, None
    if max(plan.kinds) > 1:
        on_progress("kinds", complete)
        decomposition, selector = find_kinds(flows, inputs.state_size, samples, plan.kinds, plan.seed)

    def learn(flows: Flows) -> tuple[Mixture, int]:
        on_progress("trees", complete)
        path_inputs = flows.inputs[..., : inputs.state_size]
        known = np.zeros(flows.actions.shape, int) if selector is None else selector.kinds_of(path_inputs)
        kinds = 0 if selector is None else selector.kinds
        students, fewest = trees.fit(flows.inputs, flows.actions, known, kinds, plan.trees, plan.leaves)
        return Mixture(inputs, selector, students), fewest

    mixture, fewest = learn(flows)
    for number in range(1, plan.rounds + 1):
        flows = Flows.joined([flows, run(f"round {number}", inputs, _ROUND_SHARE, mixture)])
        mixture, fewest = learn(flows)
    held_out = run("held out", inputs, _CHECKED_SHARE, mixture, "held_out")
    return Extraction(mixture, decomposition, held_out, measure(mixture, decomposition, held_out), fewest)


def _paths(plan: Plan, split: Split) -> Paths:
    settings = ScenarioSettings(
        maximum_mean_bps=HIGHEST_MEAN_BPS, minimum_duration_s=plan.duration_s, maximum_duration_s=plan.duration_s
    )
    return ScenarioSampler(settings, split)


def lines_of(flows: Flows, parts: int) -> np.ndarray:
    """See `fit_lines`; of flows whose inputs are the whole observation."""
    some = flows.inputs[:, ::_LINES_STEPS]
    return fit_lines(some.reshape(-1, some.shape[-1]), flows.actions[:, ::_LINES_STEPS].ravel(), parts)


def find_kinds(
    flows: Flows, state_size: int, samples: int, kinds: Sequence[int], seed: int
) -> tuple[Decomposition, Selector]:
    """The kinds of flows under `balanced`, and their choice, whatever the objective: the twin's histogram is what a
    flow's states stand for.
    """
    states = windows(flows.inputs[..., :state_size], samples)
    actions = windows(flows.actions, samples)
    balanced = np.repeat(np.arange(len(flows.actions)) % 2 == 0, len(states) // len(flows.actions))
    decomposition = decompose(states[balanced], actions[balanced], kinds, seed=seed)
    joint = twins(decomposition.joint(states, actions), len(flows.actions))
    return decomposition, Selector.fitted(decomposition, states, joint, samples)


def measure(mixture: Mixture, decomposition: Decomposition | None, flows: Flows) -> dict[str, float]:
    """How well trees and choice do on flows: `action_error`, mean absolute; `action_r2`, explained variance; with kinds
    also `chosen_nearest` and `chosen_among_two_nearest`, shares of windows under `balanced`.
    """
    size = mixture.inputs.state_size
    answers, state = np.empty_like(flows.actions), no_state(len(flows.actions))
    for step in range(flows.actions.shape[1]):
        answers[:, step], state = mixture.decide(flows.inputs[:, step], state)
    found = {
        "action_error": float(np.abs(answers - flows.actions).mean()),
        "action_r2": float(1 - ((answers - flows.actions) ** 2).mean() / flows.actions.var()),
    }
    if decomposition is None or mixture.selector is None:
        return found
    samples = mixture.selector.samples
    states, actions = windows(flows.inputs[::2, :, :size], samples), windows(flows.actions[::2], samples)
    nearest = decomposition.nearest(decomposition.joint(states, actions)) + 1
    chosen = mixture.selector.choose(mixture.selector.axes.histograms(states))
    return found | {
        "chosen_nearest": float((nearest[:, 0] == chosen).mean()),
        "chosen_among_two_nearest": float((nearest[:, :2] == chosen[:, None]).any(axis=1).mean()),
    }


def describe_kinds(mixture: Mixture, flows: Flows) -> list[dict[str, Any]]:
    """Describes each student, from 0 on, for the provenance of the model.

    Returns:
        Per student `kind`, `splits` and `asks` (the inputs of most splits, with their share of its splits); with kinds
        also `share` (of windows of `flows` under `balanced`), `differs` (the inputs whose mean differs most from that
        of all windows, in standard deviations of the windows' means) and `examples` (names of paths of this kind).
    """
    found = [{"kind": kind} | _asks(mixture, student) for kind, student in enumerate(mixture.students)]
    if mixture.selector is None:
        return found
    samples, size = mixture.selector.samples, mixture.inputs.state_size
    states = windows(flows.inputs[::2, :, :size], samples)
    chosen = mixture.selector.choose(mixture.selector.axes.histograms(states))
    means = states.mean(axis=1)
    spread = np.maximum(means.std(axis=0), 1e-9)
    by_flow = chosen.reshape(len(flows.paths[::2]), -1)
    for kind, entry in enumerate(found[1:], start=1):
        is_kind = chosen == kind
        entry["share"] = float(is_kind.mean())
        if not is_kind.any():
            continue
        differences = (means[is_kind].mean(axis=0) - means.mean(axis=0)) / spread
        largest = np.argsort(-np.abs(differences))[:_LISTED]
        entry["differs"] = {mixture.inputs.names[index]: round(float(differences[index]), 2) for index in largest}
        often = (by_flow == kind).mean(axis=1)
        order = np.argsort(-often, kind="stable")[:_EXAMPLES]
        entry["examples"] = [flows.paths[::2][index] for index in order if often[index] > 0]
    return found


def _asks(mixture: Mixture, student: Student) -> dict[str, Any]:
    names = mixture.inputs.names
    splits = Counter(names[feature] for tree in student.trees for feature in tree.feature[tree.feature >= 0])
    shares = {name: round(count / student.splits, 3) for name, count in splits.most_common(_LISTED)}
    return {"splits": student.splits, "asks": shares}
