"""The parts of a suite: sets of runs, goals, and the bounds of the goals.

A suite is a declarative file in `suites/`. The runner plans and makes its runs, and each goal's measure reads their
results.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from weir_eval.measurement import Subject
from weir_eval.report.goal_table import Bound, GoalRow
from weir_eval.report.page_blocks import Section
from weir_eval.runs.call_media import DEFAULT_MAX_BITRATE_BPS, CallMedia, SenderKind
from weir_eval.runs.custom_controllers import CustomController
from weir_eval.runs.jobs import SeriesOfPlan
from weir_eval.runs.scenario_sets import SetBuilder, Settings, base_name
from weir_suites.results import Results


@dataclass(frozen=True)
class Replays:
    """Scenarios replayed under controllers.

    A name "SET, VARIANT" marks runs of the scenarios of SET under other conditions. `controllers` are names of
    controllers or of a suite's custom ones. `objective`: a preset, or weights "T,L,P". `first_seed`: one run per
    scenario. `with_calls`: run only if calls are made, for comparison. `call`: virtual calls with these media.
    `path_seed`: the seed of the path of all runs.
    """

    name: str
    scenarios: SetBuilder
    controllers: Sequence[str]
    series: SeriesOfPlan = "measured"
    objective: str = "balanced"
    first_seed: bool = False
    guard_off: Sequence[str] = ()
    decision_delay_ms: float = 0.0
    with_calls: bool = False
    call: CallMedia | None = None
    path_seed: int | None = None


@dataclass(frozen=True)
class Calls:
    """Scenarios of real calls under each of the controllers. `path_seed`: the seed of the path of all calls."""

    name: str
    scenarios: SetBuilder
    controllers: Sequence[str]
    size: str
    sender: SenderKind = "chromium"
    receiver: SenderKind = "native"
    max_bitrate_bps: int = DEFAULT_MAX_BITRATE_BPS
    decision_delay_ms: float = 0.0
    quality: bool = True
    path_seed: int | None = None


@dataclass(frozen=True)
class CustomControllers:
    """Controllers that are not built in, by name; `pools`: specifications by the suite's names for them."""

    controllers: Mapping[str, CustomController] = field(default_factory=dict)
    pools: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """The result of a measure. Without a value, `reason` is why there is none, or `text` describes the result and
    `reached` is true if it reaches the goal. With a value, a `reason` leaves the goal undecided.
    """

    value: float | None = None
    detail: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    text: str = ""
    reached: bool = False


Measure = Callable[[Results, Bound], Outcome]
at_least: Final = functools.partial(Bound, "at least")
at_most: Final = functools.partial(Bound, "at most")


@dataclass(frozen=True)
class Goal:
    """A measure and its bound, from `source`: a paper, an RFC, or a decision of the project.

    `unbounded`: the figure is reported but not judged; `bound` then defines only its unit.
    """

    name: str
    what: str
    measure: Measure
    bound: Bound
    source: str = "project"
    unbounded: bool = False

    def row(self, results: Results) -> GoalRow:
        """Measures the goal and compares the value with the bound."""
        outcome = self.measure(results, self.bound)
        reached = self.bound.met(outcome.value) if outcome.value is not None else outcome.reached
        return GoalRow(
            self.name,
            self.what,
            None if self.unbounded else self.bound,
            outcome.value,
            outcome.text or (self.bound.show(outcome.value) if outcome.value is not None else ""),
            None if outcome.reason or self.unbounded else reached,
            outcome.reason,
            outcome.detail,
            dict(outcome.figures),
            self.source,
        )


@dataclass(frozen=True)
class Suite:
    """Runs and goals on one subject (`about`); goals are in the order of the table.

    Attributes:
        seeds: default number of seeds.
        random: default number of random scenarios.
        custom: makes the suite's custom controllers.
        only_calls: the suite measures nothing without calls.
        only_named: the suite runs only by name, not by default.
        subject: the subject of its values; those about simulators remain valid when the model changes.
        section: makes one more section of the page.
    """

    name: str
    about: str
    goals: Sequence[Goal]
    replays: Sequence[Replays] = ()
    calls: Sequence[Calls] = ()
    seeds: int = 1
    random: int = 100
    custom: Callable[[Settings], CustomControllers] = lambda settings: CustomControllers()
    only_calls: bool = False
    only_named: bool = False
    subject: Subject = "model"
    section: Callable[[Results], Section | None] = lambda results: None

    @property
    def sets(self) -> list[str]:
        """Names of the selectable sets, without variants."""
        names = [runs.name for runs in self.replays if not runs.with_calls] + [runs.name for runs in self.calls]
        return list(dict.fromkeys(map(base_name, names)))
