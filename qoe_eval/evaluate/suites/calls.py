"""The goals of real calls on cellular and impaired paths: Weir against libwebrtc's controllers, and replays like calls.

Chromium, unmodified, sends to weir-peer. The suite `virtual` has Weir at the sender.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from weir.qoe_eval.evaluate import call_measures as calls
from weir.qoe_eval.evaluate import comparison as of
from weir.qoe_eval.evaluate import scenario_sets as sets
from weir.qoe_eval.evaluate import scenarios
from weir.qoe_eval.evaluate.comparison import Comparison
from weir.qoe_eval.evaluate.results import delay_p95_ms
from weir.qoe_eval.evaluate.suite import Calls, Goal, Replays, Suite, at_least, at_most
from weir.qoe_eval.measures.playout import end_to_end_delay_ms_p95
from weir.registry import LIBWEBRTC_SENDERS, POLICY

_CONTROLLERS: Final = (POLICY, *LIBWEBRTC_SENDERS)
_MUSES: Final = "muses"
_IMPAIRED: Final = "impaired"
# The policy takes so long for each decision.
_SLOW: Final = {ms: f"slow decisions, {ms} ms" for ms in (0, 30)}
_CELLULAR: Final = ("cellular", "cellular, 720p")
# Sets whose answers exclude transport-cc, by those that keep it on the same paths.
_REMB_ALONE: Final = {name: name + sets.REMB_ALONE for name in (_CELLULAR[0], _IMPAIRED)}
_SMALL: Final = "640x360"
_LARGE: Final = "1280x720"
_BITRATE: Final = "received_bitrate_bps"
_NETWORK: Final = "network_delay_ms_p95"
_END_TO_END: Final = "end_to_end_delay_ms_p95"
_IMPAIRED_CALLS: Final = sets.fixed(scenarios.impaired_calls)
# One replay of a path for its calls at both sizes: the simulated encoder is the same for both.
_REPLAYS: Final = {"cellular, replayed": sets.cellular_calls, "impaired, replayed": _IMPAIRED_CALLS}
_REPLAYED: Final = {_CELLULAR[0]: "cellular", _CELLULAR[1]: "cellular", _IMPAIRED: "impaired"}
_SIMULATED: Final = [
    calls.SimulatedSet(called, f"{path}, replayed", controller)
    for called, path in _REPLAYED.items()
    for controller in _CONTROLLERS
]
_NEAR: Final = at_least(0.9, "%", scale=100, decimals=0)
_SIGNED: Final = at_most(0.0, signed=True)
# The end of a goal's name, its text, the metric, whether it is compared as a ratio (else a difference), and the bound
# without its limit.
_COMPARED: Final = (
    ("bitrate", "received bitrate", _BITRATE, True, at_least(0.0, "times")),
    ("network", "p95 network delay", _NETWORK, True, at_most(0.0, "times")),
    ("frozen", "time frozen", "frozen_share", False, replace(_SIGNED, unit="points", scale=100)),
    ("end_to_end", "p95 end-to-end delay", _END_TO_END, False, replace(_SIGNED, unit="ms", decimals=0)),
    ("vmaf", "VMAF", "vmaf_mean", False, replace(_SIGNED, kind="at least", decimals=1)),
)
_remb_alone: Final = partial(sets.changed, change=scenarios.with_remb_alone)
_compare: Final = partial(Comparison, how="difference", by="call")
_near: Final = partial(calls.near_replays, sets=_SIMULATED)


def _goals(
    name: str, called: Sequence[str], others: Sequence[str], limits: Sequence[float | None], usual: str = ""
) -> Iterator[Goal]:
    """A goal for each of _COMPARED with a limit: the policy against the best of others in each measure, or itself in
    the set `usual`.
    """
    rivals = "that with REMB alone" if usual else f"{'the better of ' * (len(others) > 1)}{' and '.join(others)}'s"
    for (key, what, metric, of_ratio, bound), limit in zip(_COMPARED, limits, strict=True):
        if limit is not None:
            text = f"{sets.base_name(called[0])}: {POLICY}'s {what}{' over' if of_ratio else ', less'} {rivals}"
            statistic = of.ratio_of_means if of_ratio else of.mean
            yield Goal(f"{name}_{key}", text, _compare(called, metric, statistic, others=others, usual=usual),
                       replace(bound, limit=limit))  # fmt: skip


SUITE: Final = Suite(
    name="calls",
    about="Chromium, unmodified, sends over weir-sim link to weir-peer on twelve cellular paths, at two sizes, on one "
    "path of each of nine families of impairments, and on Muses' path: Weir by REMB against the browser's own GCC and "
    "SCReAM v2, and with REMB alone. Network delay is the queue's delay as the link logged it, and the path's own; "
    "freezes are W3C's; VMAF is of every rendered frame. Replays of the same paths have no key frames but those that "
    "receivers request.",
    seeds=3,
    only_calls=True,
    calls=(
        Calls(_MUSES, sets.fixed(scenarios.muses_call), _CONTROLLERS, _LARGE),
        Calls(_CELLULAR[0], sets.cellular_calls, _CONTROLLERS, _SMALL),
        Calls(_CELLULAR[1], sets.cellular_calls, _CONTROLLERS, _LARGE),
        Calls(_REMB_ALONE[_CELLULAR[0]], _remb_alone(sets.cellular_calls), (POLICY,), _SMALL),
        Calls(_REMB_ALONE[_IMPAIRED], _remb_alone(_IMPAIRED_CALLS), (POLICY,), _SMALL,
              max_bitrate_bps=scenarios.FAMILY_CALL_MAX_BITRATE_BPS),
        Calls(_IMPAIRED, _IMPAIRED_CALLS, _CONTROLLERS, _SMALL,
              max_bitrate_bps=scenarios.FAMILY_CALL_MAX_BITRATE_BPS),
        *(
            Calls(name, sets.fixed(scenarios.slow_decision_calls), (POLICY,), _SMALL, decision_delay_ms=ms)
            for ms, name in _SLOW.items()
        ),
    ),
    replays=tuple(
        Replays(name, sets.changed(build, scenarios.as_called), _CONTROLLERS, "kept", with_calls=True)
        for name, build in _REPLAYS.items()
    ),
    goals=(
        Goal("muses_bitrate", "Muses' path: received bitrate over gcc's",
             _compare(_MUSES, _BITRATE, of.ratio_of_means, others=("gcc",)),
             at_least(1.34, "times"), "Muses (INFOCOM 2022)"),
        *_goals("scream", _CELLULAR, ("scream",), (1.05, 1.1, 0.0, 0.0, 0.0)),
        *_goals("gcc", _CELLULAR, ("gcc",), (1.25, 1.0, 0.0, 0.0, 0.0)),
        *_goals("impaired", (_IMPAIRED,), LIBWEBRTC_SENDERS, (0.97, None, 0.001, 5.0, -0.2)),
        *_goals("transport_cc", _CELLULAR[:1], (), (1.0, 0.8, 0.0, 0.0, 0.0), _REMB_ALONE[_CELLULAR[0]]),
        *_goals("transport_cc_impaired", (_IMPAIRED,), (), (1.0, 1.0, 0.0, 0.0, 0.0), _REMB_ALONE[_IMPAIRED]),
        Goal("slow_bitrate", "decisions of 30 ms: received bitrate over that at 0 ms",
             _compare(_SLOW[30], _BITRATE, of.ratio_of_means, usual=_SLOW[0]), at_least(0.97, "times", decimals=3)),
        Goal("slow_end_to_end", "decisions of 30 ms: p95 end-to-end delay over that at 0 ms",
             _compare(_SLOW[30], _END_TO_END, of.ratio_of_means, usual=_SLOW[0]), at_most(1.03, "times", decimals=3)),
        Goal("call_score", "cellular and impaired: pairs in which weir's call score is not below the better of both",
             _compare((*_CELLULAR, _IMPAIRED), "call_score", of.share(lambda gain: gain >= 0),
                      others=LIBWEBRTC_SENDERS), _NEAR),
        Goal("near_rate", "paths and controllers whose receive rate in calls is within 10 % of that in replays",
             partial(_near, metric="receive_rate_bps", within=0.1), _NEAR),
        Goal("near_delay", "the same: p95 network delay within 15 %",
             partial(_near, metric=_NETWORK, simulated_metric=delay_p95_ms, within=0.15), _NEAR),
        Goal("near_end_to_end", "the same: p95 end-to-end delay within 15 %",
             partial(_near, metric=_END_TO_END, simulated_metric=end_to_end_delay_ms_p95, within=0.15), _NEAR),
        Goal("near_frozen", "the same: time frozen within 20 % or 0.3 s",
             partial(_near, metric="total_freezes_duration_s", within=0.2, or_within=0.3), _NEAR),
        Goal("link_capacity", "link: bytes carried under a standing queue against the scenario's capacity, worst call",
             partial(calls.link_error, sets=(_MUSES, *_REPLAYED)), at_most(0.02, "%", scale=100)),
        Goal("link_delay", "link: lateness of packets, p95, worst call",
             partial(calls.link_error, sets=(_MUSES, *_REPLAYED), of_delay=True), at_most(2.0, "ms")),
        Goal("cpu", "estimator's CPU at 5 Mbps", partial(calls.cpu_share, rate_bps=5e6, sets=(_MUSES, *_REPLAYED)),
             at_most(0.01, "% of a core", strict=True, scale=100)),
    ),
)  # fmt: skip
