"""The goals of real calls: an unmodified Chromium sends to weir-peer, Weir by REMB against the browser's own GCC."""

from __future__ import annotations

from typing import Final

from weir.qoe_eval.evaluate import call_measures as calls
from weir.qoe_eval.evaluate import scenario_sets as sets
from weir.qoe_eval.evaluate import scenarios
from weir.qoe_eval.evaluate.suite import Calls, Goal, Replays, Suite
from weir.qoe_eval.report.goal_table import Bound

_SETS: Final = {
    "muses": sets.fixed(scenarios.muses_call),
    "mahimahi": sets.mahimahi_calls,
    "step": sets.fixed(scenarios.step_call),
}
_REPLAYED: Final = {
    "muses-cross-traffic": "muses",
    **{f"mahimahi-{name.rpartition('.')[0]}": "mahimahi" for name in sets.CALL_TRACES},
    "step-down-up": "step",
}
_BOTH: Final = ("muses", "mahimahi")
_CLOSED: Final = Bound("at least", 0.6, "%", scale=100, decimals=0)
_NOT_ABOVE: Final = Bound("at most", 0.0, "ms", signed=True, decimals=1)
_VMAF: Final = Bound("at least", 0.0, signed=True, decimals=1)
_REAL: Final = Bound("at most", 0.15, "%", scale=100, decimals=0)
_MUSES: Final = "Muses (INFOCOM 2022)"

SUITE: Final = Suite(
    name="calls",
    about="Real calls with Weir against Chromium's own GCC, and against replays of the same scenarios.",
    seeds=3,
    only_calls=True,
    calls=tuple(
        Calls(name, build, ("weir",) if name == "step" else ("weir", "gcc"), resizable=True)
        for name, build in _SETS.items()
    ),
    replays=(
        Replays("calls, replayed", sets.as_called(sets.joined(*_SETS.values())), ("weir",), "measured",
                with_calls=True),
    ),
    goals=(
        Goal("bitrate", "Muses' scenario: received bitrate against GCC", calls.ratio(calls.BITRATE, "muses"),
             Bound("at least", 1.34, "times"), _MUSES),
        Goal("closed", "the same: gap between GCC's bitrate and the achievable one closed", calls.gap_closed("muses"),
             _CLOSED),
        Goal("frame_rate", "the same: frame rate against GCC", calls.ratio("frames_per_second", "muses"),
             Bound("at least", 0.95, "times")),
        Goal("delay", "the same: p95 network delay, Weir less GCC", calls.difference(calls.NETWORK_DELAY, "muses"),
             _NOT_ABOVE),
        Goal("end_to_end", "the same: p95 end-to-end delay, Weir less GCC",
             calls.difference("end_to_end_delay_ms_p95", "muses"), _NOT_ABOVE),
        Goal("mahimahi_calls_closed", "Mahimahi traces: the same gap closed", calls.gap_closed("mahimahi"), _CLOSED),
        Goal("lte_bitrate", "LTE while driving: received bitrate against GCC",
             calls.ratio(calls.BITRATE, "mahimahi", part="LTE-driving"), Bound("at least", 1.75, "times"), _MUSES),
        Goal("frozen", "Mahimahi traces: time frozen, how much less than GCC", calls.less_frozen("mahimahi"),
             Bound("at least", 0.6, "%", scale=100, decimals=0)),
        Goal("vmaf", "VMAF over all these calls, mean, Weir less GCC", calls.difference("vmaf_mean", *_BOTH), _VMAF),
        Goal("vmaf_p5", "VMAF over all these calls, p5, Weir less GCC", calls.difference("vmaf_p5", *_BOTH), _VMAF),
        Goal("link_capacity", "link: bytes carried under a standing queue against the scenario's capacity, worst call",
             calls.link_error(*_SETS), Bound("at most", 0.02, "%", scale=100)),
        Goal("link_delay", "link: lateness of packets, p95, worst call", calls.link_error(*_SETS, of_delay=True),
             Bound("at most", 2.0, "ms")),
        *(
            Goal(f"sim_to_real_{scenario}", f"sim-to-real, {scenario}: larger of rate's and p95 delay's deviation",
                 calls.sim_to_real(name, "calls, replayed", scenario=scenario), _REAL)
            for scenario, name in _REPLAYED.items()
        ),
        Goal("cpu", "estimator's CPU at 5 Mbps", calls.cpu_share(5e6, *_SETS),
             Bound("at most", 0.01, "% of a core", strict=True, scale=100)),
    ),
)  # fmt: skip
