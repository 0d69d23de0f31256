"""One model under five objectives at both ends, against libwebrtc's controllers: which way the weights move rate and
delay, and whether some of them are better in both at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from weir_eval.measures.families import GCC
from weir_eval.runs import scenario_sets as sets
from weir_eval.runs.call_media import CallMedia, Encoder
from weir_sim.controllers import POLICY
from weir_suites import scenarios
from weir_suites import special_measures as special
from weir_suites.front import dominating
from weir_suites.front_charts import front_section
from weir_suites.suite import Goal, Replays, Suite, at_least

_OBJECTIVES: Final = ("balanced", "throughput", "0.3,0.6,0.1", "latency", "0.05,0.9,0.05")
_PRESETS: Final = ("throughput", "balanced", "latency")
_SEATS: Final = (POLICY, "weir-send")
# They know the present capacity and follow the objective: the share of a goal that no estimator can exceed by much.
_BOUNDS: Final = ("oracle-receiver", "oracle-present")
# By opponent: the share of scenarios at the sender, and at the receiver.
_OPPONENTS: Final = {GCC: (0.95, 0.95), "scream": (0.98, 0.85), "scream-ccfb": (0.95, 0.6)}
_REPLAYS: Final[dict[str, sets.SetBuilder]] = {
    "bundled": scenarios.bundled,
    **sets.whole_traces,
    "random": sets.random(),
    "mixtures": sets.mixtures,
}
_CALLED: Final = "bundled called"
_SIZES_ALONE: Final = CallMedia(Encoder.FAKE)


def _name(name: str, objective: str) -> str:
    """The set under an objective; the opponents run in that of the first."""
    return name if objective == _OBJECTIVES[0] else f"{name}, <{objective}>"


def _by_objective(*names: str, objectives: tuple[str, ...] = _OBJECTIVES) -> dict[str, tuple[str, ...]]:
    return {objective: tuple(_name(name, objective) for name in names) for objective in objectives}


def _goals() -> Iterator[Goal]:
    for seat in (*_SEATS, *_BOUNDS):
        yield Goal(
            f"steering_{seat}",
            f"replays: presets move {seat}'s utilisation and p95 delay the right way, share of scenarios",
            partial(special.steering, sets=_by_objective(*_REPLAYS, objectives=_PRESETS), controller=seat),
            at_least(0.92, "%", scale=100, decimals=1),
            unbounded=seat in _BOUNDS,
        )
    for seat in _SEATS:
        for other, shares in _OPPONENTS.items():
            for name, names in (("replays", tuple(_REPLAYS)), *((one, (one,)) for one in (*_REPLAYS, _CALLED))):
                yield Goal(
                    f"front_{name}_{seat}_{other}",
                    f"{name}: some weights of {seat} have a higher rate and a lower p95 delay than {other}, "
                    "share of scenarios",
                    partial(dominating, sets=_by_objective(*names), controller=seat, other=other),
                    at_least(shares[0 if seat != POLICY else 1], "%", scale=100, decimals=0),
                    unbounded=name != "replays",
                )
    for bound in _BOUNDS:
        for other in _OPPONENTS:
            yield Goal(
                f"front_replays_{bound}_{other}",
                f"replays: the same for {bound}, which no controller can be",
                partial(dominating, sets=_by_objective(*_REPLAYS), controller=bound, other=other),
                at_least(0.5, "%", scale=100, decimals=0),
                unbounded=True,
            )


def _runs(name: str, build: sets.SetBuilder, call: CallMedia | None = None) -> Iterator[Replays]:
    for objective in _OBJECTIVES:
        opponents = tuple(_OPPONENTS) if objective == _OBJECTIVES[0] else ()
        bounds = _BOUNDS if call is None else ()
        yield Replays(_name(name, objective), build, (*_SEATS, *opponents, *bounds), objective=objective, call=call)


SUITE: Final = Suite(
    name="steering",
    about="One model under the weights <0.8, 0.1, 0.1>, <0.5, 0.4, 0.1>, <0.3, 0.6, 0.1>, <0.1, 0.8, 0.1> and "
    "<0.05, 0.9, 0.05>, at the receiver and at the sender, with video: on the bundled scenarios, OpenNetLab's and "
    "Mahimahi's traces, held-out random scenarios and mixtures of ordinary networks, and on the bundled scenarios in "
    "virtual calls (VP8's frame sizes without pictures). The best weights of a scenario are chosen afterwards.",
    seeds=2,
    random=48,
    only_named=True,
    replays=(
        *(runs for name, build in _REPLAYS.items() for runs in _runs(name, build)),
        *_runs(_CALLED, scenarios.bundled, _SIZES_ALONE),
    ),
    goals=tuple(_goals()),
    section=partial(
        front_section,
        places={name: _by_objective(name) for name in (*_REPLAYS, _CALLED)},
        controllers=_SEATS,
        others=tuple(_OPPONENTS),
    ),
)
