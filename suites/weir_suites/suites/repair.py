"""Repair of losses in virtual calls: chosen by Weir, against FEC always and never, and against libwebrtc's controllers.

VP8's frame sizes, no pictures. "Always" is libwebrtc's own table, which uses FEC once anything is lost.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from weir_eval.measures.families import GCC
from weir_eval.runs import scenario_sets as sets
from weir_eval.runs.call_media import CallMedia, Encoder
from weir_sim.controllers import LIBWEBRTC_SENDERS, POLICY
from weir_suites import scenarios
from weir_suites.aggregations import WORST
from weir_suites.comparison import Comparison
from weir_suites.suite import Goal, Replays, Suite, at_least
from weir_suites.suites.natural import MIXTURES

_CHOSEN: Final = CallMedia(Encoder.FAKE)
_ALTERNATIVES: Final = {"always": replace(_CHOSEN, repair="fec"), "never": replace(_CHOSEN, repair="nack")}
_OWN: Final = (POLICY, "weir-send")
# With the mean gain over FEC always, and over FEC never.
_CHOICES: Final = {"bundled": {"always": 1.5, "never": 0.0}, MIXTURES: {"always": 0.5, "never": 0.0}}
_SETS: Final = {"bundled": scenarios.bundled, **scenarios.random_losses}
_quality: Final = partial(Comparison, metric="viewer_quality")


def _of(name: str, alternative: str) -> str:
    return f"{name}, FEC {alternative}"


# fmt: off
def _goals() -> Iterator[Goal]:
    for own in _OWN:
        for name, alternative in itertools.product(_CHOICES, _ALTERNATIVES):
            compared = partial(_quality, name, controller=own, baseline=_of(name, alternative))
            what = f"{name}, {own}: viewer's quality, repair chosen less FEC {alternative}"
            yield Goal(f"{name}_{alternative}_{own}", f"{what}, mean", compared(),
                       at_least(_CHOICES[name][alternative], signed=True, decimals=1))
            yield Goal(f"{name}_worst_{alternative}_{own}", f"{what}, worst path", compared(aggregation=WORST),
                       at_least(-1.0, signed=True, decimals=1))
    for percent in scenarios.RANDOM_LOSS_PERCENTS:
        name = scenarios.random_loss_name(30, percent)
        yield Goal(f"repair_loss_{percent}", f"{name}: viewer's quality against gcc, with FEC of its own table",
                   _quality(name, others=(GCC,)), at_least(3.0, signed=True, decimals=1))


# fmt: on
SUITE: Final = Suite(
    name="repair",
    about="Repair in virtual calls with VP8's frame sizes: the bundled scenarios, mixtures of ordinary networks, and "
    "random loss of 1, 3 and 8 % at round trips of 30, 120 and 240 ms on 2 Mbps; with FEC where Weir chooses it, "
    "always and never.",
    seeds=2,
    only_named=True,
    replays=(
        *(Replays(name, build, (*_OWN, *LIBWEBRTC_SENDERS), call=_CHOSEN) for name, build in _SETS.items()),
        Replays(MIXTURES, sets.mixtures, _OWN, call=_CHOSEN),
        *(
            Replays(_of(name, alternative), build, _OWN, call=media)
            for name, build in (*_SETS.items(), (MIXTURES, sets.mixtures))
            for alternative, media in _ALTERNATIVES.items()
        ),
    ),
    goals=tuple(_goals()),
)
