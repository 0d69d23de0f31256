"""The errors of replays and virtual calls relative to real calls.

The seeds of a path are calls of the same path. Each error is compared with the scatter of these calls, which no model
can predict.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from weir_eval.runs import scenario_sets as sets
from weir_eval.runs.call_media import DEFAULT_MAX_BITRATE_BPS, CallMedia, SenderKind
from weir_sim.controllers import LIBWEBRTC_SENDERS, POLICY
from weir_suites import scenarios
from weir_suites.call_measures import SimulatedSet, error_over_scatter
from weir_suites.results import delay_p95_ms
from weir_suites.suite import Calls, Goal, Replays, Suite, at_most

_PATH_SEED: Final = 1
_PATHS: Final = {
    "cellular": (scenarios.cellular_calls, DEFAULT_MAX_BITRATE_BPS),
    "impaired": (scenarios.impaired_calls, scenarios.FAMILY_CALL_MAX_BITRATE_BPS),
}
_SENDERS: Final[dict[SenderKind, tuple[str, ...]]] = {
    "chromium": (POLICY, *LIBWEBRTC_SENDERS),
    "native": ("weir-send", *LIBWEBRTC_SENDERS),
}


def _every_third(build: sets.SetBuilder, turn: int) -> sets.SetBuilder:
    def some(settings: sets.Settings) -> sets.ScenarioSet:
        found = build(settings)
        return replace(found, scenarios=found.scenarios[turn::3])

    return some


_CALLED: Final = [
    Calls(f"{sender}, {kind}, {controller}", _every_third(build, turn), (controller,), "640x360", sender=sender,
          max_bitrate_bps=max_bitrate_bps, quality=False, path_seed=_PATH_SEED)
    for kind, (build, max_bitrate_bps) in _PATHS.items()
    for sender, controllers in _SENDERS.items()
    for turn, controller in enumerate(controllers)
]  # fmt: skip
# Chromium's SCReAM v2 is newer than that of libwebrtc M150, and is thus listed separately.
_PARTS: Final = {
    "native": [one for one in _CALLED if one.sender == "native"],
    "chromium": [one for one in _CALLED if one.sender == "chromium" and one.controllers != ("scream",)],
    "chromium-scream": [one for one in _CALLED if one.sender == "chromium" and one.controllers == ("scream",)],
}
# The suffix of a goal's name, its text, the metric of calls, that of replays if it differs, and true for relative
# errors.
_MEASURES: Final = (
    ("rate", "receive rate", "receive_rate_bps", None, True),
    ("network", "p95 network delay", "network_delay_ms_p95", delay_p95_ms, True),
    ("end_to_end", "p95 end-to-end delay", "end_to_end_delay_ms_p95", None, True),
    ("frozen", "share of time frozen", "frozen_share", None, False),
)


def _simulated() -> Iterator[Replays]:
    for one in _CALLED:
        simulate = partial(Replays, scenarios=sets.changed(one.scenarios, scenarios.as_called),
                           controllers=one.controllers, with_calls=True, path_seed=_PATH_SEED)  # fmt: skip
        yield simulate(f"{one.name}, replayed", series="kept", first_seed=True)
        yield simulate(f"{one.name}, virtual", call=CallMedia(sender=one.sender))


SUITE: Final = Suite(
    name="fidelity",
    about="Whether virtual calls and replays are like real calls: cellular and impaired paths at 640x360, from "
    "Chromium and natively, each path under one controller in turn and several times. The error is the mean distance "
    "of one simulated call from the mean of the real ones; real calls' own is the mean distance of one from the mean "
    "of the others.",
    seeds=5,
    only_calls=True,
    subject="simulator",
    calls=tuple(_CALLED),
    replays=tuple(_simulated()),
    goals=tuple(
        Goal(f"{part}_{simulated}_{key}",
             f"{part}, {simulated}: error of {what} over that of one real call against the others",
             partial(error_over_scatter, metric=metric, relative=relative,
                     sets=[SimulatedSet(one.name, f"{one.name}, {simulated}", *one.controllers) for one in called],
                     simulated_metric=of_replay if simulated == "replayed" else None), at_most(1.0, "times"))
        for part, called in _PARTS.items()
        for simulated in ("virtual", "replayed")
        for key, what, metric, of_replay, relative in _MEASURES
    ),
)  # fmt: skip
