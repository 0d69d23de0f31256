"""The goals of calls on twelve paths: replays of the same controllers close to them, and Weir at the sender ahead."""

from __future__ import annotations

from typing import Final

from weir.qoe_eval.evaluate import call_measures as calls
from weir.qoe_eval.evaluate import scenario_sets as sets
from weir.qoe_eval.evaluate import scenarios
from weir.qoe_eval.evaluate.suite import Calls, Goal, Replays, Suite
from weir.qoe_eval.report.goal_table import Bound
from weir.registry import LIBWEBRTC_SENDERS, POLICY

_CONTROLLERS: Final = (POLICY, *LIBWEBRTC_SENDERS)
_AT_SENDER: Final = "weir-send"
_CALLED: Final = "calls of twelve paths"
_NATIVE: Final = "native calls of twelve paths"
_REPLAYED: Final = "twelve paths, replayed"
_PATHS: Final = sets.fixed(scenarios.twelve_calls)
_MAX_BITRATE_BPS: Final = scenarios.FAMILY_CALL_MAX_BITRATE_BPS
# At 640x360 Chromium's output is its whole target, which it follows faster than that of larger pictures. It begins at
# the first target of its own estimate.
_ENCODER: Final = {
    "minimum_output_share": 1.0, "rise_time_constant_s": 0.8, "fall_time_constant_s": 0.05, "initial_rate_bps": 0.0,
}  # fmt: skip
_BOUNDS: Final = {
    "rate": ("receive rate", Bound("at most", 0.1, "%", scale=100, decimals=0)),
    "delay": ("p95 network delay", Bound("at most", 0.2, "%", scale=100, decimals=0)),
}

SUITE: Final = Suite(
    name="real",
    about="Weir and Chromium's own controllers in calls to weir-peer, against the same ones in replays with an encoder "
    "like Chromium's, on twelve paths; and Weir at the sender against libwebrtc's controllers, from weir-peer to "
    "weir-peer. weir-sim needs the libwebrtc of `make webrtc`.",
    only_calls=True,
    calls=(
        Calls(_CALLED, _PATHS, _CONTROLLERS, "640x360", max_bitrate_bps=_MAX_BITRATE_BPS),
        Calls(_NATIVE, _PATHS, (_AT_SENDER, *LIBWEBRTC_SENDERS), "640x360", sender="native",
              max_bitrate_bps=_MAX_BITRATE_BPS),
    ),
    replays=(
        Replays(_REPLAYED, sets.as_called(_PATHS, **_ENCODER), _CONTROLLERS, "measured", with_calls=True),
    ),
    goals=(
        Goal("native_bitrate", "native calls: received bitrate of weir-send against gcc",
             calls.ratio(calls.BITRATE, _NATIVE, controller=_AT_SENDER), Bound("at least", 1.0, "times")),
        Goal("native_end_to_end", "native calls: p95 end-to-end delay of weir-send, less gcc's",
             calls.difference("end_to_end_delay_ms_p95", _NATIVE, controller=_AT_SENDER),
             Bound("at most", 0.0, "ms", signed=True, decimals=0)),
        *(
            Goal(f"{controller}_{of}_{scenario}", f"{controller}, {scenario}: {text} in calls off that in replays",
                 calls.sim_to_real(_CALLED, _REPLAYED, controller, of, scenario), bound)
            for controller in _CONTROLLERS
            for of, (text, bound) in _BOUNDS.items()
            for scenario in scenarios.TWELVE_CALLS
        ),
    ),
)  # fmt: skip
