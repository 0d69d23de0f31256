"""A suite with the scenarios that were chosen."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weir_eval.measures.families import GCC
from weir_eval.runs.scenario_sets import ScenarioSet, Settings
from weir_sim.controllers import POLICY
from weir_suites.suite import Calls, CustomControllers, Replays, Suite


@dataclass(frozen=True)
class PlannedSuite:
    """A suite with the scenarios of its chosen sets, by name of the set."""

    suite: Suite
    settings: Settings
    sets: Mapping[str, ScenarioSet]
    replays: Sequence[Replays]
    calls: Sequence[Calls]

    @property
    def seeds(self) -> range:
        """The seeds of all runs."""
        return range(1, (self.settings.seeds or 1) + 1)

    @property
    def compared(self) -> list[Replays]:
        """The replays in which weir and gcc run, and the virtual calls under several controllers."""
        return [
            replays
            for replays in self.replays
            if {POLICY, GCC} <= set(replays.controllers) or (replays.call and len(replays.controllers) > 1)
        ]

    @functools.cached_property
    def custom(self) -> CustomControllers:
        """The suite's custom controllers; writes their files on first use."""
        return self.suite.custom(self.settings) if self.replays or self.calls else CustomControllers()
