"""Realistic networks that training never draws: mixtures (`weir_traces.generate.natural_domain`), and single
impairments (`natural_grids`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from weir_eval.measures.families import GCC
from weir_eval.runs import scenario_sets as sets
from weir_sim.controllers import LIBWEBRTC_SENDERS
from weir_suites import scenarios
from weir_suites.aggregations import WORST, share_where
from weir_suites.comparison import Comparison
from weir_suites.special_measures import explained
from weir_suites.suite import Goal, Replays, Suite, at_least, at_most
from weir_traces.generate.natural_domain import natural_scenario, troubles_of
from weir_traces.generate.natural_grids import natural_grids
from weir_traces.schema.media import MEDIA

MIXTURES: Final = "mixtures"
ABLATED: Final = f"{MIXTURES}, without one trouble"
FAR_BELOW: Final = -5.0
"""The difference, in points, below which a viewer would prefer another controller."""


@dataclass(frozen=True)
class Placement:
    """The place where Weir decides: `label` for readers; `variant`: the suffix of its sets."""

    controller: str
    label: str = ""
    variant: str = ""


PLACEMENTS: Final = {
    "weir": Placement("weir"),
    "weir-remb-alone": Placement("weir", ", with REMB alone", sets.REMB_ALONE),
    "weir-send": Placement("weir-send", ", at the sender"),
}
_CONTROLLERS: Final = (*dict.fromkeys(one.controller for one in PLACEMENTS.values()), *LIBWEBRTC_SENDERS)
_BETTER: Final = "the better of gcc and scream"
_MEASURES: Final = {"viewer_quality": ("viewer's quality", 0.05, -15.0), "challenge": ("challenge", 0.06, -12.0)}
_GRIDS: Final = {
    sets.of_media(f"{name} alone", media): sets.fixed(functools.partial(family.scenarios, media))
    for name, family in natural_grids().items()
    for media in MEDIA
    if media in family.media
}
_points: Final = functools.partial(at_least, signed=True, decimals=1)


def _ablated(settings: sets.Settings) -> sets.ScenarioSet:
    seeds = range(settings.random or 0)
    return sets.ScenarioSet([natural_scenario(seed, trouble) for seed in seeds for trouble in troubles_of(seed)])


# fmt: off
def _mixture_goals(name: str, placement: Placement, metric: str) -> Iterator[Goal]:
    label, share, lowest = _MEASURES[metric]
    own, what = placement.controller, f"mixtures{placement.label}: {label}"
    against = functools.partial(
        Comparison, MIXTURES + placement.variant, metric, controller=own, others=LIBWEBRTC_SENDERS
    )
    yield Goal(f"mean_{metric}_{name}", f"{what} against {_BETTER}, mean", against(), _points(0.0))
    yield Goal(f"below_{metric}_{name}", f"{what} 5 points below {_BETTER}, share of scenarios",
               against(aggregation=share_where(lambda gain: gain < FAR_BELOW)),
               at_most(share, "%", scale=100, decimals=0))
    yield Goal(f"worst_{metric}_{name}", f"{what} against {_BETTER}, worst scenario", against(aggregation=WORST),
               _points(lowest))
    if not placement.variant:
        yield Goal(f"explained_{metric}_{name}", f"{what}, the ten worst scenarios and their causes",
                   functools.partial(explained, name=MIXTURES, ablated=ABLATED, controller=own, metric=metric),
                   _points(lowest), unbounded=True)


def _grid_goals(name: str, placement: Placement) -> Iterator[Goal]:
    variant, label, own = placement.variant, placement.label, placement.controller

    def used(*grids: str) -> Comparison:
        return Comparison([grid + variant for grid in grids], "utilisation", WORST, own, (GCC,), "ratio")

    def worst(grid: str, metric: str) -> Comparison:
        return Comparison(grid + variant, metric, WORST, own, LIBWEBRTC_SENDERS)

    yield Goal(f"jitter_{name}", f"jitter of 20 to 200 ms{label}: utilisation as a ratio of gcc's, worst scenario",
               used("jitter alone"), at_least(0.95))
    yield Goal(f"clock_{name}", f"clock within 3000 ppm{label}: utilisation as a ratio of gcc's, worst scenario",
               used("clock alone", "clock alone, filler"), at_least(0.97))
    yield Goal(f"round_trip_{name}",
               f"round trips of 300 to 1000 ms, short queues{label}: frozen less than {_BETTER}, worst scenario",
               worst("round alone", "frozen_share"), _points(-0.01, "points", scale=100))
    yield Goal(f"screen_{name}",
               f"screens of 5 to 15 frames/s, pauses, DTX{label}: utility against {_BETTER}, worst scenario",
               worst("screen alone", "utility"), _points(-1.0))
    yield Goal(f"interrupted_{name}",
               f"links that stop for 100 to 500 ms{label}: viewer's quality against {_BETTER}, worst scenario",
               worst("interrupted alone", "viewer_quality"), _points(-5.0))


def _goals() -> Iterator[Goal]:
    for name, placement in PLACEMENTS.items():
        for metric in _MEASURES:
            yield from _mixture_goals(name, placement, metric)
    for name, placement in PLACEMENTS.items():
        yield from _grid_goals(name, placement)


# fmt: on
_SETS: Final = {MIXTURES: sets.mixtures, **_GRIDS}

SUITE: Final = Suite(
    name="natural",
    about="Mixtures of ordinary networks and calls outside the domain of training, and grids of single troubles, at "
    "the receiver, with transport-cc and with REMB alone, and at the sender, against the better of gcc and scream, "
    "scenario by scenario.",
    random=300,
    replays=(
        *(Replays(name, build, _CONTROLLERS) for name, build in _SETS.items()),
        Replays(ABLATED, _ablated, _CONTROLLERS),
        *(
            Replays(
                name + sets.REMB_ALONE,
                sets.changed(build, scenarios.with_remb_alone),
                ("weir", *LIBWEBRTC_SENDERS),
            )
            for name, build in _SETS.items()
        ),
    ),
    goals=tuple(_goals()),
)
