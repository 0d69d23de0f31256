"""Flows in competition with calls of Weir: the rate that each of them keeps with each way of repair and of playout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from weir_eval.measures.families import GCC
from weir_eval.runs.call_media import CallMedia, Encoder
from weir_sim.controllers import POLICY
from weir_suites import scenarios
from weir_suites.aggregations import WORST
from weir_suites.comparison import Comparison
from weir_suites.suite import Goal, Replays, Suite, at_least
from weir_suites.suites.competition import competitor_bitrate_bps
from weir_traces.schema.scenario import Scenario

_CHOSEN: Final = CallMedia(Encoder.FAKE)
_SHARED: Final = "shared queues"
# The set of the same links with other repair, or without a limit of playout.
_OTHER_MEDIA: Final = {
    f"{_SHARED}, FEC always": replace(_CHOSEN, repair="fec"),
    f"{_SHARED}, FEC never": replace(_CHOSEN, repair="nack"),
    f"{_SHARED}, playout unlimited": replace(_CHOSEN, playout="unlimited"),
}


def _flow_and_loss(scenario: Scenario) -> list[str]:
    return [scenario.description]


def _goals() -> Iterator[Goal]:
    for name in (_SHARED, *_OTHER_MEDIA):
        kept = partial(
            Comparison, name, competitor_bitrate_bps, WORST, others=(GCC,), contrast="ratio", baseline=_SHARED
        )
        what = f"{name}: rate of the competing flow over its rate in competition with gcc"
        key = name.replace(",", "").replace(" ", "_")
        yield Goal(
            key,
            f"{what}, lowest flow and loss, mean over queues",
            kept(groups=_flow_and_loss),
            at_least(0.8, "times"),
        )
        yield Goal(f"{key}_worst", f"{what}, lowest link", kept(), at_least(0.8, "times"))


SUITE: Final = Suite(
    name="shared-queues",
    about="GCC, TCP Cubic, TCP BBR and a flow of the same controller in competition with a virtual call (VP8's frame "
    "sizes without pictures) of Weir, or of GCC in its place, on 4 Mbps with queues of 20, 100 and 300 ms and 0, 1 and "
    "4 % of random loss: with repair and playout of Weir, with FEC always and never, and without a limit of playout.",
    seeds=2,
    only_named=True,
    replays=(
        Replays(_SHARED, scenarios.shared_queues, (POLICY, GCC), call=_CHOSEN),
        *(Replays(name, scenarios.shared_queues, (POLICY,), call=media) for name, media in _OTHER_MEDIA.items()),
    ),
    goals=tuple(_goals()),
)
