"""Sets of scenarios: the settings that they are built from, and the builders that suites use.

A builder makes a set from the settings of the command line, or gives the reason why it cannot.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from weir_cli.errors import InputError
from weir_traces.bounds import TRACE_SETS
from weir_traces.formats.convert import to_scenario
from weir_traces.formats.importers import read_trace
from weir_traces.formats.plain_trace import DEFAULT_ONE_WAY_DELAY_MS, DEFAULT_QUEUE
from weir_traces.generate.families.families import families_with, small_grid
from weir_traces.generate.natural_domain import natural_scenario
from weir_traces.generate.random_domain import random_scenario
from weir_traces.schema.media import MediaKind, with_media
from weir_traces.schema.scenario import Scenario

CALL_TRACES = ("ATT-LTE-driving.up", "TMobile-UMTS-driving.up", "Verizon-EVDO-driving.down")
# Far from the small seeds that developers of a model are likely to use on the held-out split.
FIRST_RANDOM_SEED = 1_000_000
CALL_DURATION_S = 60.0
_NEEDS_TRACES = "needs the {} traces: name their folder with --traces"
REMB_ALONE = ", REMB alone"
"""Suffix of the names of sets of calls whose answers exclude transport-cc."""


@dataclass(frozen=True)
class Settings:
    """The settings of the command line. None: the suite's default.

    Attributes:
        model: the policy under test.
        models: folder for the fault-injected models of a suite.
        traces: folder with `opennetlab/` and `mahimahi/`, either of which may be missing.
        random: number of random scenarios.
        seeds: number of seeds, which begin at 1.
        size: picture size of calls, such as 640x360.
        chosen: sets by name; empty: all.
        only: patterns of scenario names; empty: all.
        calls: make calls.
    """

    model: Path
    models: Path
    traces: Path | None = None
    random: int | None = None
    seeds: int | None = None
    size: str | None = None
    chosen: Sequence[str] = ()
    only: Sequence[str] = ()
    calls: bool = False


@dataclass(frozen=True)
class ScenarioSet:
    """Scenarios that are judged together; `missing` is why there are none."""

    scenarios: Sequence[Scenario] = ()
    missing: str = ""


SetBuilder = Callable[[Settings], ScenarioSet]


def base_name(name: str) -> str:
    """The name of the set in "SET, VARIANT"."""
    return name.partition(",")[0]


def with_part(*parts: str) -> Callable[[Scenario], bool]:
    """A condition that is true for scenarios with one of these parts, between hyphens, in their names."""
    return lambda scenario: bool({*parts} & {*scenario.name.split("-")})


def of_media(name: str, media: MediaKind) -> str:
    """The name of a set whose calls send this kind of media."""
    return name if media == "video" else f"{name}, {media}"


def sending(media: MediaKind, sets: Mapping[str, SetBuilder]) -> dict[str, SetBuilder]:
    """The sets with this kind of media in their flows under test, by the names that `of_media` gives them."""
    return {
        of_media(name, media): changed(builder, lambda scenario: with_media(scenario, media))
        for name, builder in sets.items()
    }


def fixed(build: Callable[[], Sequence[Scenario]]) -> SetBuilder:
    """A set that depends on no setting."""
    return lambda settings: ScenarioSet(build())


def joined(*builders: SetBuilder) -> SetBuilder:
    """Joins several sets into one."""

    def build(settings: Settings) -> ScenarioSet:
        sets = [builder(settings) for builder in builders]
        missing = "; ".join(found.missing for found in sets if found.missing)
        scenarios = [scenario for found in sets for scenario in found.scenarios]
        return ScenarioSet(scenarios, "" if scenarios else missing)

    return build


def traces(name: str) -> SetBuilder:
    """All traces of a folder, in full: 25 ms one way, queue of 300 ms of the mean capacity, faults repaired, video."""

    def build(settings: Settings) -> ScenarioSet:
        if settings.traces is None:
            return ScenarioSet(missing=_NEEDS_TRACES.format(name))
        folder = settings.traces / name
        files = sorted(path for path in folder.glob("*") if path.is_file() and not path.name.startswith("."))
        files = [path for path in files if path.suffix.lower() not in (".md", ".txt")]
        if not files:
            return ScenarioSet(missing=f"no traces in {settings.traces.name}/{name}")
        return ScenarioSet([_trace_scenario(path, name) for path in files])

    return build


whole_traces: Final = {name: traces(name) for name in TRACE_SETS}


def random(first: int = 0, times: int = 1) -> SetBuilder:
    """Held-out random scenarios: numbers `first` n to `times` n - 1, where n is the suite's number of scenarios."""

    def build(settings: Settings) -> ScenarioSet:
        count = settings.random or 0
        seeds = range(FIRST_RANDOM_SEED + first * count, FIRST_RANDOM_SEED + times * count)
        return ScenarioSet([_held_out(seed) for seed in seeds])

    return build


def mixtures(settings: Settings) -> ScenarioSet:
    """Scenarios of the domain of mixtures (`natural_domain`), the suite's number of them."""
    return ScenarioSet([natural_scenario(seed) for seed in range(settings.random or 0)])


def families(media: MediaKind) -> dict[str, SetBuilder]:
    """All scenarios of each family that supports this kind of media."""
    return {
        of_media(name, media): fixed(functools.partial(family.scenarios, media))
        for name, family in families_with(media).items()
    }


def family_sample(name: str) -> SetBuilder:
    """Two scenarios of a family, with video."""
    return lambda settings: ScenarioSet(small_grid("video")[name])


def mahimahi_calls(settings: Settings, duration_s: float = CALL_DURATION_S) -> ScenarioSet:
    """Three cellular traces as calls.

    Raises:
        InputError: the folder of traces lacks one of them, or one cannot be used.
    """
    if settings.traces is None:
        return ScenarioSet(missing=_NEEDS_TRACES.format("mahimahi"))
    files = [settings.traces / "mahimahi" / name for name in CALL_TRACES]
    if absent := next((file for file in files if not file.is_file()), None):
        raise InputError(f"--traces '{settings.traces}': no mahimahi/{absent.name} in it")
    return ScenarioSet([_trace_scenario(file, "mahimahi", duration_s) for file in files])


def changed(builder: SetBuilder, change: Callable[[Scenario], Scenario]) -> SetBuilder:
    """The set with each scenario changed."""

    def build(settings: Settings) -> ScenarioSet:
        found = builder(settings)
        return replace(found, scenarios=[change(scenario) for scenario in found.scenarios])

    return build


# Suites have many sets of the same scenarios.
@functools.cache
def _held_out(seed: int) -> Scenario:
    return random_scenario(seed, split="held_out")


@functools.cache
def _trace_scenario(path: Path, set_name: str, duration_s: float | None = None) -> Scenario:
    return to_scenario(
        read_trace(path, repair=True),
        name=f"{set_name}-{path.stem}",
        one_way_delay_ms=DEFAULT_ONE_WAY_DELAY_MS,
        queue=DEFAULT_QUEUE,
        duration_s=duration_s,
    )
