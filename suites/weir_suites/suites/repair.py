"""Repair of losses in virtual calls: chosen by Weir, against FEC always and never, and against libwebrtc's controllers.

VP8's frame sizes, no pictures. "Always" is libwebrtc's own table, which uses FEC once anything is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from weir_eval.measures.families import GCC
from weir_eval.runs.call_media import CallMedia, Encoder
from weir_sim.controllers import LIBWEBRTC_SENDERS, POLICY
from weir_suites import scenarios
from weir_suites.aggregations import WORST
from weir_suites.comparison import Comparison
from weir_suites.suite import Goal, Replays, Suite, at_least
from weir_traces.schema.scenario import Scenario

_CHOSEN: Final = CallMedia(Encoder.FAKE)
_ALTERNATIVES: Final = {"always": replace(_CHOSEN, repair="fec"), "never": replace(_CHOSEN, repair="nack")}
_OWN: Final = (POLICY, "weir-send")
_SETS: Final = {"bundled": scenarios.bundled, "random loss": scenarios.random_losses}
_quality: Final = partial(Comparison, metric="viewer_quality")


def _of(name: str, alternative: str) -> str:
    return f"{name}, FEC {alternative}"


def _is(name: str, scenario: Scenario) -> bool:
    return scenario.name == name


# fmt: off
def _goals() -> Iterator[Goal]:
    for own in _OWN:
        for alternative in _ALTERNATIVES:
            compared = partial(_quality, "bundled", controller=own, baseline=_of("bundled", alternative))
            what = f"bundled, {own}: viewer's quality, repair chosen less FEC {alternative}"
            yield Goal(f"bundled_{alternative}_{own}", f"{what}, mean", compared(),
                       at_least(1.5 if alternative == "always" else 0.0, signed=True, decimals=1))
            yield Goal(f"bundled_worst_{alternative}_{own}", f"{what}, worst path", compared(aggregation=WORST),
                       at_least(-1.0, signed=True, decimals=1))
    for percent in scenarios.RANDOM_LOSS_PERCENTS:
        path = scenarios.random_loss_name(30, percent)
        yield Goal(f"repair_loss_{percent}", f"{path}: viewer's quality against gcc, with FEC of its own table",
                   _quality("random loss", others=(GCC,), where=partial(_is, path)),
                   at_least(3.0, signed=True, decimals=1))


# fmt: on
SUITE: Final = Suite(
    name="repair",
    about="Repair in virtual calls with VP8's frame sizes: the bundled scenarios, and random loss of 1, 3 and 8 % at "
    "round trips of 30, 120 and 240 ms on 2 Mbps; with FEC where Weir chooses it, always and never.",
    seeds=2,
    only_named=True,
    replays=(
        *(Replays(name, build, (*_OWN, *LIBWEBRTC_SENDERS), call=_CHOSEN) for name, build in _SETS.items()),
        *(
            Replays(_of(name, alternative), build, _OWN, call=media)
            for name, build in _SETS.items()
            for alternative, media in _ALTERNATIVES.items()
        ),
    ),
    goals=tuple(_goals()),
)
