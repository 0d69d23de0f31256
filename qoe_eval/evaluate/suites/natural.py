"""Ordinary networks that no training draws, against the better of libwebrtc's senders, scenario by scenario.

`weir.traces.generate.natural_domain` has the mixtures, `natural_grids` one trouble at a time.
"""

from __future__ import annotations

import functools
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
SEATS: Final = {"weir": "", "weir-send": ", at the sender"}
_CONTROLLERS: Final = (*SEATS, *LIBWEBRTC_SENDERS)
_BETTER: Final = "the better of gcc and scream"
_MEASURES: Final = {"viewer_quality": ("viewer's quality", 0.05, -15.0), "challenge": ("challenge", 0.06, -12.0)}
_GRIDS: Final = {
    sets.of_media(f"{name} alone", media): sets.fixed(functools.partial(family.scenarios, media))
    for name, family in natural_grids().items()
    for media in MEDIA
    if media in family.media
}
_points: Final = functools.partial(Bound, signed=True, decimals=1)


def _mixtures(settings: sets.Settings) -> sets.ScenarioSet:
    return sets.ScenarioSet("", [natural_scenario(seed) for seed in range(settings.random or 0)])


def _ablated(settings: sets.Settings) -> sets.ScenarioSet:
    seeds = range(settings.random or 0)
    return sets.ScenarioSet("", [natural_scenario(seed, trouble) for seed in seeds for trouble in troubles_of(seed)])


def _worst(name: str, own: str, metric: str) -> Measure:
    return scores.worst_gain(name, others=LIBWEBRTC_SENDERS, own=own, metric_name=metric)


def _mixture_goals() -> tuple[Goal, ...]:
    return tuple(
        goal
        for own, seat in SEATS.items()
        for metric, (label, share, lowest) in _MEASURES.items()
        for goal in (
            Goal(f"mean_{metric}_{own}", f"mixtures{seat}: {label} against {_BETTER}, mean",
                 natural.mean_gain(MIXTURES, own, metric), _points("at least", 0.0)),
            Goal(f"below_{metric}_{own}", f"mixtures{seat}: {label} 5 points below {_BETTER}, share of scenarios",
                 natural.far_below(MIXTURES, own, metric), Bound("at most", share, "%", scale=100, decimals=0)),
            Goal(f"worst_{metric}_{own}", f"mixtures{seat}: {label} against {_BETTER}, worst scenario",
                 _worst(MIXTURES, own, metric), _points("at least", lowest)),
            Goal(f"explained_{metric}_{own}", f"mixtures{seat}: {label}, the ten worst scenarios and their causes",
                 natural.explained(MIXTURES, ABLATED, own, metric), _points("at least", lowest), unbounded=True),
        )
    )  # fmt: skip


def _grid_goals() -> tuple[Goal, ...]:
    return tuple(
        goal
        for own, seat in SEATS.items()
        for goal in (
            Goal(f"jitter_{own}", f"jitter of 20 to 200 ms{seat}: utilisation as a ratio of gcc's, worst scenario",
                 scores.worst_utilisation_ratio("jitter alone", own=own), Bound("at least", 0.95)),
            Goal(f"clock_{own}", f"clock within 3000 ppm{seat}: utilisation as a ratio of gcc's, worst scenario",
                 scores.worst_utilisation_ratio("clock alone", "clock alone, filler", own=own),
                 Bound("at least", 0.97)),
            Goal(f"round_trip_{own}", f"round trips of 300 to 1000 ms, short queues{seat}: frozen less than"
                 f" {_BETTER}, worst scenario", _worst("round alone", own, "frozen_share"),
                 _points("at least", -0.01, "points", scale=100)),
            Goal(f"screen_{own}", f"screens of 5 to 15 frames/s, pauses, DTX{seat}: utility against {_BETTER}, worst "
                 "scenario", _worst("screen alone", own, "utility"), _points("at least", -1.0)),
        )
    )  # fmt: skip


SUITE: Final = Suite(
    name="natural",
    about="Mixtures of ordinary networks and calls outside the domain of training, and grids of single troubles, at "
    "the receiver and at the sender, against the better of gcc and scream, scenario by scenario.",
    random=300,
    replays=(
        Replays(MIXTURES, _mixtures, _CONTROLLERS, series="measured"),
        Replays(ABLATED, _ablated, _CONTROLLERS, series="measured"),
        *(Replays(name, build, _CONTROLLERS, series="measured") for name, build in _GRIDS.items()),
    ),
    goals=(*_mixture_goals(), *_grid_goals()),
)  # fmt: skip
