"""The goals of Weir at the sender: against Weir at the receiver in replays, and against libwebrtc's GCC in calls.

In calls weir-peer sends to an unmodified Chromium. With 5 % and 20 % of the return path lost, transport feedback,
receiver reports, NACKs and requests for key frames are. Both controllers decide at the sender from the same feedback.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from weir.qoe_eval.evaluate import comparison as of
from weir.qoe_eval.evaluate import scenario_sets as sets
from weir.qoe_eval.evaluate import scenarios
from weir.qoe_eval.evaluate.comparison import Comparison
from weir.qoe_eval.evaluate.suite import Calls, Goal, Replays, Suite, at_least, at_most
from weir.qoe_eval.measures.fairness import settled_jain_index, settled_jain_index_with_tcp, settled_utilisation
from weir.traces.catalogue import bundled_scenarios
from weir.traces.schema.media import MEDIA

_SENDER: Final = "weir-send"
_WHOLE: Final[dict[str, sets.SetBuilder]] = {
    "catalogue": sets.fixed(bundled_scenarios),
    "random": sets.random(),
    **{name: sets.traces(name) for name in sets.TRACE_SETS},
}
_SETS: Final = {
    name: build for media in MEDIA for name, build in (sets.sending(media, _WHOLE) | sets.families(media)).items()
}
_WITH_RFC8888: Final = "weir-send-ccfb"
_OTHERS_WITH_RFC8888: Final = ("scream-ccfb",)
_L4S: Final = {
    "l4s": sets.fixed(scenarios.l4s_links),
    "l4s, with TCP": sets.fixed(scenarios.l4s_links_with_tcp),
    "l4s, with an equal": sets.fixed(scenarios.l4s_links_with_an_equal),
}
_PATHS: Final = {"muses": sets.fixed(scenarios.muses_call), "mahimahi": sets.mahimahi_calls}
_CALLED: Final = {
    (path, percent): f"{path} calls, {percent} % of feedback lost" for percent in (0, 5, 20) for path in _PATHS
}
_MEASURES: Final = (
    ("bitrate", "received bitrate against GCC", "received_bitrate_bps", of.ratio_of_means,
     at_least(1.0, "times")),
    ("delay", "p95 network delay, less GCC's", "network_delay_ms_p95", of.mean,
     at_most(0.0, "ms", signed=True, decimals=1)),
    ("frozen", "time frozen a call, less GCC's", "total_freezes_duration_s", of.mean,
     at_most(0.0, "s", signed=True, decimals=1)),
)  # fmt: skip

_L4S_GOALS: Final = (
    ("l4s_utilisation", "L4S queue, filler: settled utilisation", "l4s", settled_utilisation,
     at_least(0.95, decimals=3)),
    ("l4s_delay", "L4S queue, filler: p95 queueing delay", "l4s", "p95_queueing_delay_ms",
     at_most(5.0, "ms", decimals=1)),
    ("l4s_jain", "L4S queue in competition with TCP Cubic: Jain's index of the settled rates", "l4s, with TCP",
     settled_jain_index_with_tcp, at_least(0.8)),
    ("l4s_jain_equal", "L4S queue, two flows: Jain's index of the settled rates", "l4s, with an equal",
     settled_jain_index, at_least(0.9)),
)  # fmt: skip

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
        Calls(name, sets.changed(_PATHS[path], partial(scenarios.losing_feedback, percent=percent)),
              (_SENDER, "gcc"), "640x360", sender="native", receiver="chromium")
        for (path, percent), name in _CALLED.items()
    ),
    goals=(
        *(
            Goal(f"{name.replace(', ', '_')}_at_sender", f"{name}: score at the sender less that at the receiver",
                 Comparison(name, own=_SENDER, others=("weir",), beside=("gcc",), paired=True),
                 at_least(-1.0, "points", signed=True))
            for name in _SETS
        ),
        *(
            Goal(name, text, Comparison(links, metric, of.worst, _WITH_RFC8888, beside=_OTHERS_WITH_RFC8888), bound)
            for name, text, links, metric, bound in _L4S_GOALS
        ),
        *(
            Goal(f"calls_{path}_{percent}_{key}", f"{name}: {text}",
                 Comparison(name, metric, statistic, _SENDER, ("gcc",), "difference", "call"), bound)
            for (path, percent), name in _CALLED.items()
            for key, text, metric, statistic, bound in _MEASURES
        ),
    ),
)  # fmt: skip
