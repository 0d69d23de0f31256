"""From a teacher to a mixture of trees, from beginning to end."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import numpy as np

from weir.errors import InputError
from weir.traces.generate.random_domain import Split
from weir.trainer.configuration.scenarios import ScenarioSampler, ScenarioSettings
from weir.trainer.gym.specification import EnvironmentSpecification
from weir.trainer.imitation.teachers import Teacher
from weir.trainer.muses import students
from weir.trainer.muses.decomposition import Decomposition, decompose
from weir.trainer.muses.flows import Flows, roll_out
from weir.trainer.muses.inputs import TreeInputs, fit_lines, tree_inputs, whole_observation
from weir.trainer.muses.mixture import Mixture, MixturePilot
from weir.trainer.muses.selector import Selector

# Told what is being done, and how many flows have been flown.
Progress = Callable[[str, int], None]

# Of the flows: how many more are flown to fit the lines, under the trees in each further round, and to check with.
_LINES_SHARE: Final = 1 / 8
_ROUND_SHARE: Final = 1 / 2
_CHECKED_SHARE: Final = 1 / 8
_LINES_STEPS: Final = 5


@dataclass(frozen=True)
class Lesson:
    """Who teaches on which paths. Files are flown for the plan's duration, which none may be shorter than."""

    teacher: Teacher
    scenarios: ScenarioSettings = field(default_factory=ScenarioSettings)


@dataclass(frozen=True)
class Plan:
    """`lessons`: the flows are divided evenly among them; the first one's held-out paths are checked with. `flows`:
    under the teachers, of `duration_s`. `kinds`: numbers of kinds to choose among; (1,): one student for
    all. `trees`: of a student. `leaves`: of a tree. `interval_s`: between two choices. `lines`: see `fit_lines`.
    `rounds`: how often trees fly and learn from what the teacher would have done there (DAgger).
    """

    lessons: Sequence[Lesson]
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
        """So much of the flows for each lesson, in whole batches."""
        of_lesson = self.flows * share / len(self.lessons)
        return max(1, math.ceil(of_lesson / self.environments)) * self.environments

    @property
    def all_flows(self) -> int:
        """That are flown in all."""
        shares = (_LINES_SHARE, 1.0, *[_ROUND_SHARE] * self.rounds)
        return len(self.lessons) * sum(self.share(share) for share in shares) + self.share(_CHECKED_SHARE)


@dataclass(frozen=True)
class Extraction:
    """`decomposition`: None for one student alone. `held_out`: flows of paths that nothing was learned from, under the
    trees; `measures` of these. `fewest_samples`: of a leaf, see `students.fit`.
    """

    mixture: Mixture
    decomposition: Decomposition | None
    held_out: Flows
    measures: dict[str, float]
    fewest_samples: int


def extract(
    specification: EnvironmentSpecification,
    plan: Plan,
    *,
    simulator: str | os.PathLike[str] | None = None,
    on_progress: Progress = lambda what, flown: None,
) -> Extraction:
    """The same arguments give the same trees.

    Args:
        specification: what the teachers see and do, around the rule.
        plan: how.
        simulator: path of `weir-sim`; see `find_simulator`.
        on_progress: called at every step.

    Raises:
        InputError: a file of a lesson is shorter than the flows are to be, or no scenario.
        SimulatorError: a simulator failed.
    """
    seeds = iter(np.random.SeedSequence(plan.seed).generate_state(plan.rounds + 3).tolist())
    samplers = [sampler_of(lesson.scenarios, plan.duration_s, "train") for lesson in plan.lessons]
    flown = 0

    def advance(what: str, before: int, done: int) -> None:
        on_progress(what, before + done)

    def fly(
        what: str, inputs: TreeInputs, share: float, mixture: Mixture | None = None, split: Split = "train"
    ) -> Flows:
        nonlocal flown
        seed, parts = next(seeds), []
        of_split = samplers
        if split == "held_out":
            of_split = [sampler_of(plan.lessons[0].scenarios, plan.duration_s, split)]
        for lesson, sampler in zip(plan.lessons, of_split, strict=False):
            before, flown = flown, flown + plan.share(share)
            parts.append(
                roll_out(
                    lesson.teacher,
                    inputs,
                    sampler,
                    plan.share(share),
                    seed=seed,
                    environments=plan.environments,
                    pilot=None if mixture is None else MixturePilot(mixture),
                    simulator=simulator,
                    on_progress=partial(advance, what, before),
                )
            )
        return Flows.joined(parts)

    first = fly("lines", whole_observation(specification), _LINES_SHARE)
    inputs = tree_inputs(specification, lines_of(first, plan.lines))
    flows = fly("teacher", inputs, 1.0)
    samples = round(plan.interval_s * 1000 / specification.interval_ms)
    decomposition, selector = None, None
    if max(plan.kinds) > 1:
        on_progress("kinds", flown)
        decomposition, selector = find_kinds(flows, inputs.state_size, samples, plan.kinds, plan.seed)

    def learn(flows: Flows) -> tuple[Mixture, int]:
        on_progress("trees", flown)
        of_path = flows.inputs[..., : inputs.state_size]
        known = np.zeros(flows.actions.shape, int) if selector is None else selector.kinds_of(of_path)
        kinds = 0 if selector is None else selector.kinds
        learned, fewest = students.fit(flows.inputs, flows.actions, known, kinds, plan.trees, plan.leaves)
        return Mixture(inputs, selector, learned), fewest

    mixture, fewest = learn(flows)
    for number in range(1, plan.rounds + 1):
        flows = Flows.joined([flows, fly(f"round {number}", inputs, _ROUND_SHARE, mixture)])
        mixture, fewest = learn(flows)
    held_out = fly("held out", inputs, _CHECKED_SHARE, mixture, "held_out")
    return Extraction(mixture, decomposition, held_out, measure(mixture, decomposition, held_out), fewest)


def sampler_of(settings: ScenarioSettings, duration_s: float, split: Split) -> ScenarioSampler:
    """Paths that all last that long; files, none of them shorter, are cut to it.

    Raises:
        InputError: a file is shorter, or no scenario.
    """
    durations = {"minimum_duration_s": duration_s, "maximum_duration_s": duration_s}
    sampler = ScenarioSampler(settings.model_copy(update=durations), split)
    for document in sampler.documents:
        if document["duration_s"] < duration_s:
            raise InputError(f"{document['name']}: lasts {document['duration_s']:g} s, and flows {duration_s:g} s")
    return sampler


def lines_of(flows: Flows, parts: int) -> np.ndarray:
    """See `fit_lines`; of flows whose inputs are the whole observation."""
    some = flows.inputs[:, ::_LINES_STEPS]
    return fit_lines(some.reshape(-1, some.shape[-1]), flows.actions[:, ::_LINES_STEPS].ravel(), parts)


def windows(flows: np.ndarray, samples: int) -> np.ndarray:
    """(flows, intervals, ...) cut into (windows, samples, ...), in order, without a rest that is no whole window."""
    whole = flows.shape[1] // samples * samples
    return flows[:, :whole].reshape(-1, samples, *flows.shape[2:])


def twins(values: np.ndarray, flows: int) -> np.ndarray:
    """For each window of `flows` flows the value of its path's window under `balanced`."""
    by_flow = values.reshape(flows, -1, *values.shape[1:])
    return np.repeat(by_flow[::2], 2, axis=0).reshape(values.shape)


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
    pilot = MixturePilot(mixture)
    pilot.reset(len(flows.actions))
    answers = np.stack([pilot.decide(flows.inputs[:, step]) for step in range(flows.actions.shape[1])], axis=1)
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
