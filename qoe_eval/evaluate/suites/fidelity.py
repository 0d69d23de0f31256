"""How near replays and virtual calls are to real calls: repeated calls of one path, and the same path in each
simulator.

A path has one of three controllers in turn. Its seeds are calls of the very same path, so that the scatter of real
calls, which no model can predict, stands beside each error.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from weir.qoe_eval.evaluate import scenario_sets as sets
from weir.qoe_eval.evaluate import scenarios
from weir.qoe_eval.evaluate.call_measures import SimulatedSet, error_over_scatter
from weir.qoe_eval.evaluate.results import delay_p95_ms
from weir.qoe_eval.evaluate.scenario_sets import ScenarioSet, Settings
from weir.qoe_eval.evaluate.suite import Calls, Goal, Replays, Suite
from weir.qoe_eval.measures.playout import end_to_end_delay_ms_p95
from weir.qoe_eval.options.call import DEFAULT_MAX_BITRATE_BPS, SenderKind
from weir.qoe_eval.report.goal_table import Bound
from weir.qoe_eval.runs.call_media import CallMedia
from weir.registry import LIBWEBRTC_SENDERS, POLICY

_PATH_SEED: Final = 1
_SIZE: Final = "640x360"
_PATHS: Final = {
    "cellular": (sets.cellular_calls, DEFAULT_MAX_BITRATE_BPS),
    "impaired": (sets.fixed(scenarios.impaired_calls), scenarios.FAMILY_CALL_MAX_BITRATE_BPS),
}
_SENDERS: Final[dict[SenderKind, tuple[str, ...]]] = {
    "chromium": (POLICY, *LIBWEBRTC_SENDERS),
    "native": ("weir-send", *LIBWEBRTC_SENDERS),
}


@dataclass(frozen=True)
class _Called:
    """Every third path of a kind, under one controller."""

    sender: SenderKind
    kind: str
    turn: int

    @property
    def controller(self) -> str:
        return _SENDERS[self.sender][self.turn]

    @property
    def name(self) -> str:
        return f"{self.sender}, {self.kind}, {self.controller}"

    def scenarios(self, settings: Settings) -> ScenarioSet:
        found = _PATHS[self.kind][0](settings)
        return replace(found, scenarios=found.scenarios[self.turn :: len(_SENDERS[self.sender])])


_CALLED: Final = [
    _Called(sender, kind, turn)
    for kind in _PATHS
    for sender, controllers in _SENDERS.items()
    for turn in range(len(controllers))
]
_SCREAM: Final = "scream"
# The goals' parts: Chromium's SCReAM v2 is later than that of libwebrtc M150, and stands apart.
_PARTS: Final = {
    "native": [one for one in _CALLED if one.sender == "native"],
    "chromium": [one for one in _CALLED if one.sender == "chromium" and one.controller != _SCREAM],
    "chromium-scream": [one for one in _CALLED if one.sender == "chromium" and one.controller == _SCREAM],
}


def _simulated() -> Iterator[Replays]:
    for one in _CALLED:
        replays = functools.partial(
            Replays,
            scenarios=sets.as_called(one.scenarios),
            controllers=(one.controller,),
            with_calls=True,
            path_seed=_PATH_SEED,
        )
        yield replays(f"{one.name}, replayed", series="kept", first_seed=True)
        yield replays(f"{one.name}, virtual", call=CallMedia(sender=one.sender))


def _goals() -> Iterator[Goal]:
    measures = (
        ("rate", "receive rate", "receive_rate_bps", None, True),
        ("network", "p95 network delay", "network_delay_ms_p95", delay_p95_ms, True),
        ("end_to_end", "p95 end-to-end delay", "end_to_end_delay_ms_p95", end_to_end_delay_ms_p95, True),
        ("frozen", "share of time frozen", "frozen_share", None, False),
    )
    for part, called in _PARTS.items():
        for simulated in ("virtual", "replayed"):
            of_part = [SimulatedSet(one.name, f"{one.name}, {simulated}", one.controller) for one in called]
            for key, what, name, of_replay, relative in measures:
                metric = of_replay if simulated == "replayed" else None
                yield Goal(
                    f"{part}_{simulated}_{key}",
                    f"{part}, {simulated}: error of {what} over that of one real call against the others",
                    functools.partial(
                        error_over_scatter, sets=of_part, metric=name, simulated_metric=metric, relative=relative
                    ),
                    Bound("at most", 1.0, "times"),
                )


SUITE: Final = Suite(
    name="fidelity",
    about="Whether virtual calls and replays are like real calls: cellular and impaired paths at 640x360, from "
    "Chromium and natively, each path under one controller in turn and several times. The error is the mean distance "
    "of one simulated call from the mean of the real ones; real calls' own is the mean distance of one from the mean "
    "of the others.",
    seeds=5,
    only_calls=True,
    subject="simulator",
    calls=tuple(
        Calls(
            one.name,
            one.scenarios,
            (one.controller,),
            _SIZE,
            sender=one.sender,
            max_bitrate_bps=_PATHS[one.kind][1],
            quality=False,
            path_seed=_PATH_SEED,
        )
        for one in _CALLED
    ),
    replays=tuple(_simulated()),
    goals=tuple(_goals()),
)
