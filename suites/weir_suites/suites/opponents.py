"""Weir at the receiver and at the sender, and every opponent, on each set of paths: for the tables in documents.

The suite has no goals: those on these paths are in `policy` and `impairments`.
"""

from __future__ import annotations

from typing import Final

from weir_eval.runs import scenario_sets as sets
from weir_eval.runs.scenario_sets import base_name
from weir_sim.controllers import COMPARED, knows_path
from weir_suites import scenarios
from weir_suites.suite import Replays, Suite
from weir_traces.schema.media import MEDIA

_CONTROLLERS: Final = (*(name for name in COMPARED if not knows_path(name)), "weir-send")
# Weir's model behind MOCC's interface, in place of the packets.
_MOCC: Final = "mocc"
_PATHS: Final[dict[str, sets.SetBuilder]] = {
    "bundled": scenarios.bundled,
    **sets.whole_traces,
    "random": sets.random(),
}
_SETS: Final = {
    name: build
    for media in MEDIA
    for name, build in (
        sets.sending(media, _PATHS) | {sets.of_media("impairments", media): sets.joined(*sets.families(media).values())}
    ).items()
}

SUITE: Final = Suite(
    name="opponents",
    about="Weir at the receiver and at the sender, and every opponent, on the bundled scenarios, OpenNetLab's and "
    "Mahimahi's traces, held-out random scenarios and all families of impairments, with video and with filler; on the "
    "bundled scenarios also the model behind MOCC's interface.",
    seeds=5,
    random=200,
    replays=tuple(
        Replays(name, build, (*_CONTROLLERS, _MOCC) if base_name(name) == "bundled" else _CONTROLLERS)
        for name, build in _SETS.items()
    ),
    goals=(),
)
