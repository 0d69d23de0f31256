"""Flows in competition with Weir on queues of 2 to 20 packets with random loss: the rate that each of them keeps."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from weir_eval.measures.families import GCC
from weir_eval.records.run_record import RunRecord
from weir_eval.runs.call_media import CallMedia, Encoder
from weir_sim.controllers import POLICY
from weir_suites import scenarios
from weir_suites.aggregations import RATIO_OF_MEANS, WORST
from weir_suites.comparison import Comparison
from weir_suites.suite import Goal, Replays, Suite, at_least

_SCREAM: Final = "scream"
_SENDER: Final = "weir-send"
_CONTROLLERS: Final = (POLICY, GCC, _SCREAM)
_SIZES_ALONE: Final = CallMedia(Encoder.FAKE)
_REPLAYS: Final = {f"{other}, {percent} %": links for (other, percent), links in scenarios.short_queues.items()}
_CALLS: Final = {f"{other} called, {percent} %": links for (other, percent), links in scenarios.called_queues.items()}


def competitor_bitrate_bps(record: RunRecord) -> float:
    """Mean received rate of the competing flow over the whole run, bps."""
    flow = next(flow for flow in record.flows if flow.id == scenarios.COMPETITOR)
    return 8 * flow.bytes_received / record.duration_s


def _goals() -> Iterator[Goal]:
    for place, controller, groups in (
        ("", POLICY, _REPLAYS),
        ("", POLICY, _CALLS),
        ("sender_", _SENDER, _CALLS),
    ):
        kept = partial(Comparison, metric=competitor_bitrate_bps, controller=controller, others=(GCC,))
        what = f"rate of the competing flow with {controller} over its rate in competition with gcc"
        for name in groups:
            key = name.replace(",", "").replace(" %", "").replace(" ", "_")
            yield Goal(
                f"competitor_{place}{key}",
                f"{name}: {what}, mean over paths",
                kept(name, aggregation=RATIO_OF_MEANS, listed=(_SCREAM,)),
                at_least(0.8, "times"),
            )
        kind = "replays" if groups is _REPLAYS else "calls"
        yield Goal(
            f"competitor_{place}worst_{kind}",
            f"worst link of {kind}: {what}, mean over seeds",
            kept([*groups], aggregation=WORST, contrast="ratio", listed=(_SCREAM,)),
            at_least(0.8, "times"),
        )


SUITE: Final = Suite(
    name="competition",
    about="GCC, TCP Cubic, TCP BBR and a flow of the same controller in competition with Weir, or with GCC in its "
    "place, on links of 4, 10 and 20 Mbps with queues of 2, 4 and 20 packets and 0 to 12 % of random loss, in "
    "replays, and on two of these links in virtual calls (VP8's frame sizes without pictures), there at both ends.",
    seeds=8,
    only_named=True,
    replays=(
        *(Replays(name, build, _CONTROLLERS) for name, build in _REPLAYS.items()),
        *(Replays(name, build, (*_CONTROLLERS, _SENDER), call=_SIZES_ALONE) for name, build in _CALLS.items()),
    ),
    goals=tuple(_goals()),
)
