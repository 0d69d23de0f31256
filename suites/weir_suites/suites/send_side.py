"""Weir at the sender. In calls, both controllers decide there from the same feedback; loss on the return path also
affects receiver reports, NACKs and key frame requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from weir_eval.measures.fairness import settled_jain_index, settled_jain_index_with_tcp, settled_utilisation
from weir_eval.runs import scenario_sets as sets
from weir_suites import scenarios
from weir_suites.aggregations import RATIO_OF_MEANS, WORST
from weir_suites.comparison import Comparison
from weir_suites.suite import Calls, Goal, Replays, Suite, at_least, at_most
from weir_suites.suites.calls import Compared, compared_calls
from weir_traces.schema.media import MEDIA

_SENDER: Final = "weir-send"
_WHOLE: Final[dict[str, sets.SetBuilder]] = {
    "catalogue": scenarios.bundled,
    "random": sets.random(),
    **sets.whole_traces,
}
_SETS: Final = {
    name: build for media in MEDIA for name, build in (sets.sending(media, _WHOLE) | sets.families(media)).items()
}
_WITH_RFC8888: Final = "weir-send-ccfb"
_OTHERS_WITH_RFC8888: Final = ("scream-ccfb",)
_L4S: Final = {
    "l4s": scenarios.l4s_links,
    "l4s, with TCP": scenarios.l4s_links_with_tcp,
    "l4s, with an equal": scenarios.l4s_links_with_an_equal,
}
_PATHS: Final = {"muses": scenarios.muses_call, "mahimahi": sets.mahimahi_calls}
_CALLED: Final = {
    (path, percent): f"{path} calls, {percent} % of feedback lost" for percent in (0, 5, 20) for path in _PATHS
}
_COMPARED: Final = (
    Compared("bitrate", "received bitrate over", "received_bitrate_bps", at_least(1.0, "times"), RATIO_OF_MEANS),
    Compared("delay", "p95 network delay, less", "network_delay_ms_p95", at_most(0.0, "ms", signed=True, decimals=1)),
    Compared(
        "frozen", "time frozen a call, less", "total_freezes_duration_s", at_most(0.0, "s", signed=True, decimals=1)
    ),
)


# fmt: off
def _goals() -> Iterator[Goal]:
    for name in _SETS:
        yield Goal(f"{name.replace(', ', '_')}_at_sender", f"{name}: score at the sender less that at the receiver",
                   Comparison(name, controller=_SENDER, others=("weir",), listed=("gcc",), paired=True),
                   at_least(-1.0, "points", signed=True))
    for key, text, links, metric, bound in (
        ("utilisation", "alone: settled utilisation", "l4s", settled_utilisation, at_least(0.95, decimals=3)),
        ("delay", "alone: p95 queueing delay", "l4s", "p95_queueing_delay_ms", at_most(5.0, "ms", decimals=1)),
        ("jain", "in competition with TCP Cubic: Jain's index of the settled rates", "l4s, with TCP",
         settled_jain_index_with_tcp, at_least(0.8)),
        ("jain_equal", "two flows: Jain's index of the settled rates", "l4s, with an equal", settled_jain_index,
         at_least(0.9)),
    ):
        yield Goal(f"l4s_{key}", f"L4S queue, filler, {text}",
                   Comparison(links, metric, WORST, _WITH_RFC8888, listed=_OTHERS_WITH_RFC8888), bound)
    for (path, percent), name in _CALLED.items():
        yield from compared_calls(f"calls_{path}_{percent}_{{}}", name, _COMPARED, ("gcc",), _SENDER)


# fmt: on
SUITE: Final = Suite(
    name="send-side",
    about="Weir at the sender, from transport feedback, against Weir at the receiver and gcc in replays; in calls "
    "from weir-peer to Chromium against libwebrtc's GCC, with none, 5 % and 20 % of the feedback lost. On "
    "L4S queues (DualPI2), from RFC 8888 feedback, alone, in competition with TCP, and two flows together.",
    replays=(
        *(Replays(name, build, (_SENDER, "weir", "gcc")) for name, build in _SETS.items()),
        *(
            Replays(name, build, (_WITH_RFC8888, *_OTHERS_WITH_RFC8888, _SENDER), series="kept")
            for name, build in _L4S.items()
        ),
    ),
    calls=tuple(
        Calls(
            name,
            sets.changed(_PATHS[path], partial(scenarios.losing_feedback, percent=percent)),
            (_SENDER, "gcc"),
            "640x360",
            sender="native",
            receiver="chromium",
        )
        for (path, percent), name in _CALLED.items()
    ),
    goals=tuple(_goals()),
)
