"""Ordinary networks that no training draws, against the better of libwebrtc's senders, scenario by scenario.

`weir.traces.generate.natural_domain` has the mixtures, `natural_grids` one trouble at a time.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from weir.qoe_eval.evaluate import natural_measures as natural
from weir.qoe_eval.evaluate import scenario_sets as sets
from weir.qoe_eval.evaluate import score_measures as scores
from weir.qoe_eval.evaluate.suite import Goal, Measure, Replays, Suite
from weir.qoe_eval.report.goal_table import Bound
from weir.registry import LIBWEBRTC_SENDERS
from weir.traces.generate.natural_domain import natural_scenario, troubles_of
from weir.traces.generate.natural_grids import natural_grids
from weir.traces.schema.media import MEDIA

MIXTURES: Final = "mixtures"
ABLATED: Final = f"{MIXTURES}, without one trouble"


@dataclass(frozen=True)
class Placement:
    """Where Weir decides: `label` for readers; `variant` of the sets in which it does."""

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
_points: Final = functools.partial(Bound, signed=True, decimals=1)


def mixtures(settings: sets.Settings) -> sets.ScenarioSet:
    """So many of the domain of mixtures."""
    return sets.ScenarioSet("", [natural_scenario(seed) for seed in range(settings.random or 0)])


def _ablated(settings: sets.Settings) -> sets.ScenarioSet:
    seeds = range(settings.random or 0)
    return sets.ScenarioSet("", [natural_scenario(seed, trouble) for seed in seeds for trouble in troubles_of(seed)])


def _worst(name: str, placement: Placement, metric: str) -> Measure:
    return scores.worst_gain(
        name + placement.variant, others=LIBWEBRTC_SENDERS, own=placement.controller, metric_name=metric
    )


def _mixture_goals(name: str, placement: Placement) -> Iterator[Goal]:
    mixtures, own = MIXTURES + placement.variant, placement.controller
    for metric, (label, share, lowest) in _MEASURES.items():
        what = f"mixtures{placement.label}: {label}"
        yield Goal(
            f"mean_{metric}_{name}",
            f"{what} against {_BETTER}, mean",
            natural.mean_gain(mixtures, own, metric),
            _points("at least", 0.0),
        )
        yield Goal(
            f"below_{metric}_{name}",
            f"{what} 5 points below {_BETTER}, share of scenarios",
            natural.far_below(mixtures, own, metric),
            Bound("at most", share, "%", scale=100, decimals=0),
        )
        yield Goal(
            f"worst_{metric}_{name}",
            f"{what} against {_BETTER}, worst scenario",
            _worst(MIXTURES, placement, metric),
            _points("at least", lowest),
        )
        if not placement.variant:
            causes = natural.explained(MIXTURES, ABLATED, own, metric)
            yield Goal(f"explained_{metric}_{name}", f"{what}, the ten worst scenarios and their causes", causes,
                       _points("at least", lowest), unbounded=True)  # fmt: skip


def _grid_goals(name: str, placement: Placement) -> Iterator[Goal]:
    def ratio(*grids: str) -> Measure:
        return scores.worst_utilisation_ratio(*(grid + placement.variant for grid in grids), own=placement.controller)

    yield Goal(
        f"jitter_{name}",
        f"jitter of 20 to 200 ms{placement.label}: utilisation as a ratio of gcc's, worst scenario",
        ratio("jitter alone"),
        Bound("at least", 0.95),
    )
    yield Goal(
        f"clock_{name}",
        f"clock within 3000 ppm{placement.label}: utilisation as a ratio of gcc's, worst scenario",
        ratio("clock alone", "clock alone, filler"),
        Bound("at least", 0.97),
    )
    yield Goal(
        f"round_trip_{name}",
        f"round trips of 300 to 1000 ms, short queues{placement.label}: frozen less than {_BETTER}, worst scenario",
        _worst("round alone", placement, "frozen_share"),
        _points("at least", -0.01, "points", scale=100),
    )
    yield Goal(
        f"screen_{name}",
        f"screens of 5 to 15 frames/s, pauses, DTX{placement.label}: utility against {_BETTER}, worst scenario",
        _worst("screen alone", placement, "utility"),
        _points("at least", -1.0),
    )
    yield Goal(
        f"interrupted_{name}",
        f"links that stop for 100 to 500 ms{placement.label}: viewer's quality against {_BETTER}, worst scenario",
        _worst("interrupted alone", placement, "viewer_quality"),
        _points("at least", -5.0),
    )


_SETS: Final = {MIXTURES: mixtures, **_GRIDS}

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
            Replays(name + sets.REMB_ALONE, sets.with_remb_alone(build), ("weir", *LIBWEBRTC_SENDERS))
            for name, build in _SETS.items()
        ),
    ),
    goals=(
        *(goal for name, placement in PLACEMENTS.items() for goal in _mixture_goals(name, placement)),
        *(goal for name, placement in PLACEMENTS.items() for goal in _grid_goals(name, placement)),
    ),
)  # fmt: skip
