"""The parts of a suite: sets of runs, goals, and the bounds of these goals.

A suite is a declarative file of `suites/`. The runner plans and makes its runs, and each goal's measure reads their
results.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from weir.qoe_eval.evaluate.results import Results
from weir.qoe_eval.evaluate.scenario_sets import SetBuilder, Settings, base_name
from weir.qoe_eval.measurement import Subject
from weir.qoe_eval.options.call import DEFAULT_MAX_BITRATE_BPS, SenderKind
from weir.qoe_eval.report.goal_table import Bound, GoalRow
from weir.qoe_eval.runs.call_media import CallMedia
from weir.qoe_eval.runs.custom_controllers import CustomController
from weir.qoe_eval.runs.jobs import SeriesOfPlan


@dataclass(frozen=True)
class Replays:
    """Scenarios replayed under controllers.

    A name "SET, VARIANT" marks runs of the scenarios of SET under other conditions. `controllers` are names of
    controllers or of a suite's custom ones. `first_seed`: only one run of each scenario. `with_calls`: only when calls
    are made, to compare with. `call`: virtual calls of these media. `path_seed`: all seeds have the path of that one.
    """

    name: str
    scenarios: SetBuilder
    controllers: Sequence[str]
    series: SeriesOfPlan = "measured"
    preset: str = "balanced"
    first_seed: bool = False
    guard_off: Sequence[str] = ()
    decision_delay_ms: float = 0.0
    with_calls: bool = False
    call: CallMedia | None = None
    path_seed: int | None = None


@dataclass(frozen=True)
class Calls:
    """Scenarios called for real, in pairs of the controllers. `path_seed`: all seeds have the path of that one."""

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
    """`controllers` by their name; `pools`: specifications by the name a suite uses."""

    controllers: Mapping[str, CustomController] = field(default_factory=dict)
    pools: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """The result of a measure. Without a value, `reason` is why there is none, or `text` is what happened instead and
    `reached` whether that reaches the goal. With a value, a `reason` leaves the goal undecided.
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
    """A measure and the bound it is held to, from `source`: a paper, an RFC, or the project's own decision.

    `unbounded`: a figure that is reported and not judged; `bound` then has its unit alone.
    """

    name: str
    what: str
    measure: Measure
    bound: Bound
    source: str = "project"
    unbounded: bool = False

    def row(self, results: Results) -> GoalRow:
        """The goal against what was measured."""
        found = self.measure(results, self.bound)
        reached = self.bound.met(found.value) if found.value is not None else found.reached
        return GoalRow(
            self.name,
            self.what,
            None if self.unbounded else self.bound,
            found.value,
            found.text or (self.bound.show(found.value) if found.value is not None else ""),
            None if found.reason or self.unbounded else reached,
            found.reason,
            found.detail,
            dict(found.figures),
            self.source,
        )


@dataclass(frozen=True)
class Suite:
    """Runs and goals that belong together, `about` a subject; goals are in the order of the table.

    Attributes:
        seeds: default number of seeds.
        random: default number of random scenarios.
        custom: makes the suite's own controllers.
        only_calls: without calls there is nothing to measure.
        only_named: not one of those that run by default.
        subject: what its values are about; those about simulators stay true when the model changes.
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

    @property
    def sets(self) -> list[str]:
        """Names of the sets that can be chosen, without their variants."""
        names = [one.name for one in self.replays if not one.with_calls] + [one.name for one in self.calls]
        return list(dict.fromkeys(map(base_name, names)))
