"""Real calls from an unmodified Chromium to weir-peer: the suites `calls` and `losses`. The suite `virtual` also has
Weir at the sender.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from weir_eval.measures.families import GCC
from weir_eval.report.goal_table import Bound
from weir_eval.runs import scenario_sets as sets
from weir_sim.controllers import LIBWEBRTC_SENDERS, POLICY
from weir_suites import call_measures as calls
from weir_suites import scenarios
from weir_suites.aggregations import MEAN, RATIO_OF_MEANS, Aggregation, share_where
from weir_suites.call_comparison import CallComparison
from weir_suites.suite import Calls, Goal, Suite, at_least, at_most

_CONTROLLERS: Final = (POLICY, *LIBWEBRTC_SENDERS)
_MUSES: Final = "muses"
_IMPAIRED: Final = "impaired"
# Sets by the time that the policy takes for a decision, ms.
_SLOW: Final = {ms: f"slow decisions, {ms} ms" for ms in (0, 30)}
_CELLULAR: Final = ("cellular", "cellular, 720p")
# Sets whose answers exclude transport-cc, by those that keep it on the same paths.
_REMB_ALONE: Final = {name: name + sets.REMB_ALONE for name in (_CELLULAR[0], _IMPAIRED)}
_SMALL: Final = "640x360"
_LARGE: Final = "1280x720"
_BITRATE: Final = "received_bitrate_bps"
_NETWORK: Final = "network_delay_ms_p95"
_END_TO_END: Final = "end_to_end_delay_ms_p95"
_ALL: Final = (_MUSES, *_CELLULAR, _IMPAIRED)
_remb_alone: Final = partial(sets.changed, change=scenarios.with_remb_alone)


@dataclass(frozen=True)
class Compared:
    """A metric that goals compare. `key`: its part of the names of goals; `text`: its name and "less" or "over"."""

    key: str
    text: str
    metric: str
    bound: Bound
    aggregation: Aggregation = MEAN


def compared_calls(
    name: str,
    called: str | Sequence[str],
    metrics: Iterable[Compared],
    others: Sequence[str] = (),
    controller: str = POLICY,
    baseline: str = "",
) -> Iterator[Goal]:
    """A goal for each metric: compares a controller with the best of the others, or with itself in the set `baseline`.
    Braces in `name` stand for the metric's key.
    """
    other = "that with REMB alone" if baseline else f"{'the better of ' * (len(others) > 1)}{' and '.join(others)}'s"
    label = called if isinstance(called, str) else sets.base_name(called[0])
    for compared in metrics:
        measure = CallComparison(
            called, compared.metric, compared.aggregation, controller, others=others, baseline=baseline
        )
        text = f"{label}: {controller}'s {compared.text} {other}"
        yield Goal(name.format(compared.key), text, measure, compared.bound)


def _metrics(
    bitrate: float, network: float | None, frozen: float, end_to_end: float, vmaf: float
) -> Iterator[Compared]:
    """The metrics that goals compare, with their bounds."""
    yield Compared("bitrate", "received bitrate over", _BITRATE, at_least(bitrate, "times"), RATIO_OF_MEANS)
    if network is not None:
        yield Compared("network", "p95 network delay over", _NETWORK, at_most(network, "times"), RATIO_OF_MEANS)
    yield Compared("frozen", "time frozen, less", "frozen_share", at_most(frozen, "points", scale=100, signed=True))
    bound = at_most(end_to_end, "ms", decimals=0, signed=True)
    yield Compared("end_to_end", "p95 end-to-end delay, less", _END_TO_END, bound)
    yield Compared("vmaf", "VMAF, less", "vmaf_mean", at_least(vmaf, decimals=1, signed=True))


# fmt: off
def _goals() -> Iterator[Goal]:
    yield Goal("muses_bitrate", "Muses' path: received bitrate over gcc's",
               CallComparison(_MUSES, _BITRATE, RATIO_OF_MEANS, others=("gcc",)),
               at_least(1.34, "times"), "Muses (INFOCOM 2022)")
    yield from compared_calls("scream_{}", _CELLULAR, _metrics(1.05, 1.1, 0.0, 0.0, 0.0), ("scream",))
    yield from compared_calls("gcc_{}", _CELLULAR, _metrics(1.25, 1.0, 0.0, 0.0, 0.0), ("gcc",))
    yield from compared_calls("impaired_{}", _IMPAIRED, _metrics(0.97, None, 0.001, 5.0, -0.2), LIBWEBRTC_SENDERS)
    yield from compared_calls("transport_cc_{}", _CELLULAR[0], _metrics(1.0, 0.8, 0.0, 0.0, 0.0),
                              baseline=_REMB_ALONE[_CELLULAR[0]])
    yield from compared_calls("transport_cc_impaired_{}", _IMPAIRED, _metrics(1.0, 1.0, 0.0, 0.0, 0.0),
                              baseline=_REMB_ALONE[_IMPAIRED])
    slow = partial(CallComparison, _SLOW[30], aggregation=RATIO_OF_MEANS, baseline=_SLOW[0])
    yield Goal("slow_bitrate", "decisions of 30 ms: received bitrate over that at 0 ms",
               slow(metric=_BITRATE), at_least(0.97, "times", decimals=3))
    yield Goal("slow_end_to_end", "decisions of 30 ms: p95 end-to-end delay over that at 0 ms",
               slow(metric=_END_TO_END), at_most(1.03, "times", decimals=3))
    yield Goal("call_score", "cellular and impaired: pairs in which weir's call score is not below the better of both",
               CallComparison((*_CELLULAR, _IMPAIRED), "call_score", share_where(lambda gain: gain >= 0),
                        others=LIBWEBRTC_SENDERS), at_least(0.9, "%", scale=100, decimals=0))
    yield Goal("link_capacity",
               "link: bytes carried under a standing queue against the scenario's capacity, worst call",
               partial(calls.link_error, sets=_ALL), at_most(0.02, "%", scale=100))
    yield Goal("link_delay", "link: lateness of packets, p95, worst call",
               partial(calls.link_error, sets=_ALL, of_delay=True), at_most(2.0, "ms"))
    yield Goal("cpu", "estimator's CPU at 5 Mbps", partial(calls.cpu_share, rate_bps=5e6, sets=_ALL),
               at_most(0.01, "% of a core", strict=True, scale=100))


# fmt: on
SUITE: Final = Suite(
    name="calls",
    about="Chromium, unmodified, sends over weir-sim link to weir-peer on twelve cellular paths, at two sizes, on one "
    "path of each of nine families of impairments, and on Muses' path: Weir by REMB against the browser's own GCC and "
    "SCReAM v2, and with REMB alone. Network delay is the queue's delay as the link logged it, and the path's own; "
    "freezes are W3C's; VMAF is of every rendered frame.",
    seeds=3,
    only_calls=True,
    calls=(
        Calls(_MUSES, scenarios.muses_call, _CONTROLLERS, _LARGE),
        Calls(_CELLULAR[0], scenarios.cellular_calls, _CONTROLLERS, _SMALL),
        Calls(_CELLULAR[1], scenarios.cellular_calls, _CONTROLLERS, _LARGE),
        Calls(_REMB_ALONE[_CELLULAR[0]], _remb_alone(scenarios.cellular_calls), (POLICY,), _SMALL),
        Calls(
            _REMB_ALONE[_IMPAIRED],
            _remb_alone(scenarios.impaired_calls),
            (POLICY,),
            _SMALL,
            max_bitrate_bps=scenarios.FAMILY_CALL_MAX_BITRATE_BPS,
        ),
        Calls(
            _IMPAIRED,
            scenarios.impaired_calls,
            _CONTROLLERS,
            _SMALL,
            max_bitrate_bps=scenarios.FAMILY_CALL_MAX_BITRATE_BPS,
        ),
        *(
            Calls(name, scenarios.slow_decision_calls, (POLICY,), _SMALL, decision_delay_ms=ms)
            for ms, name in _SLOW.items()
        ),
    ),
    goals=tuple(_goals()),
)  # fmt: skip

_WITH_LOSSES: Final = (
    Compared("bitrate", "received bitrate over", _BITRATE, at_least(1.0, "times"), RATIO_OF_MEANS),
    Compared("score", "call score, less", "call_score", at_least(0.0, signed=True, decimals=1)),
    Compared("freezes", "freezes a call, less", "freeze_count", at_most(0.0, signed=True, decimals=1)),
)


def _goals_with_losses() -> Iterator[Goal]:
    for name in scenarios.lossy_calls:
        key = name.replace(", ", "_").replace(" %", "").replace(" ", "_")
        yield from compared_calls(f"{{}}_{key}", name, _WITH_LOSSES, (GCC,))


LOSSES: Final = Suite(
    name="losses",
    about="An unmodified Chromium sends to weir-peer at 640x360 over links of 4 Mbps that lose at random, in bursts, "
    "at a policer of 2 Mbps or in a queue of two packets, and over a cellular one that also loses at random: Weir by "
    "REMB, with such losses omitted from feedback as its guard judges, against the browser's own GCC.",
    seeds=2,
    only_calls=True,
    calls=tuple(Calls(name, build, (POLICY, GCC), _SMALL) for name, build in scenarios.lossy_calls.items()),
    goals=tuple(_goals_with_losses()),
)
