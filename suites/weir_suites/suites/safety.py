"""Fault-injected models as the first active controller of a pool, and the guard rules one by one, without bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from weir_eval.measures.families import SCORE
from weir_eval.options.shared import read_pool
from weir_eval.records.flow_record import PoolRecord
from weir_eval.records.run_record import RunRecord
from weir_eval.runs import scenario_sets as sets
from weir_eval.runs.custom_controllers import read_custom_controller
from weir_eval.runs.scenario_sets import Settings
from weir_sim.controllers import GUARD_RULES, POLICY_FILE
from weir_suites.aggregations import WORST, share_where
from weir_suites.comparison import Comparison
from weir_suites.faulty_models import FAULTY_MODELS, write_faulty_models
from weir_suites.special_measures import ALL_RULES, guard_rule
from weir_suites.suite import CustomControllers, Goal, Replays, Suite, at_least, at_most
from weir_traces.generate.families.families import FAMILIES

_CANDIDATES: Final = "copilots=nada,rule policy=by_trust"
_ALONE: Final = ("weir", "nada", "rule")
_RULES: Final = tuple(name for name, can_be_off in GUARD_RULES.items() if can_be_off)
_SETS: Final = sets.sending("video", {"random": sets.random()}) | {name: sets.family_sample(name) for name in FAMILIES}
_HEALTHY: Final = "pool of the healthy model"
_FAULTY: Final = {model: f"pool of {model}" for model in FAULTY_MODELS}
_SCORED: Final = (*_SETS, "opennetlab")
_SOON_S: Final = 3.0


def custom_controllers(settings: Settings) -> CustomControllers:
    """The pool of each model, and each faulty model with the guard alone.

    Raises:
        InputError: the healthy model cannot be read, or a file has a name that a pool cannot have.
    """
    files: Mapping[str, Path] = write_faulty_models(settings.models, settings.model)
    custom = [read_custom_controller(str(file)) for file in files.values()]
    pools = {_FAULTY[name]: read_pool(f"pilot={POLICY_FILE}{file} {_CANDIDATES}") for name, file in files.items()}
    healthy = read_pool(f"pilot=weir {_CANDIDATES}")
    return CustomControllers({one.name: one for one in custom}, {_HEALTHY: healthy, **pools})


def _pool(record: RunRecord) -> PoolRecord:
    pool = record.flows[0].pool
    assert pool is not None
    return pool


def _inactive_share(record: RunRecord) -> float:
    """Share of decisions not made by the pool's first member."""
    return 1 - _pool(record).members[0].pilot_share


def _active_until_s(record: RunRecord) -> float:
    """The time at which the pool's first member was replaced as the active controller, s; infinite if never."""
    held_s = _pool(record).first_pilot_held_s
    return math.inf if held_s is None else held_s


# fmt: off
def _goals() -> Iterator[Goal]:
    for model, pool in _FAULTY.items():
        yield Goal(model, f"model {model}: score against the better of nada and rule, worst set",
                   Comparison(tuple(_SETS), SCORE, WORST, pool, ("nada", "rule"), "relative", "set"),
                   at_least(-0.05, "%", scale=100, decimals=1, signed=True))
    yield Goal("healthy_inactive", "healthy model: share of decisions made by others, mean over sets",
               Comparison(_SCORED, _inactive_share, controller=_HEALTHY, unit="set"),
               at_most(0.01, "%", strict=True, scale=100))
    yield Goal("healthy_score", "healthy model: score in the pool against alone, worst set",
               Comparison(_SCORED, SCORE, WORST, _HEALTHY, ("weir",), unit="set"), at_least(-0.3, signed=True))
    for model in ("maximum", "shuffled"):
        yield Goal(f"{model}_replaced", f"model {model}: replaced within 3 s, share of random paths",
                   Comparison("random", _active_until_s, share_where(lambda held_s: held_s <= _SOON_S), _FAULTY[model],
                              unit="run"), at_least(0.95, "%", scale=100, decimals=1))
    for rule in _RULES:
        yield Goal(f"guard_{rule}", f"guard's rule {rule}: score that it gains behind the model, mean over sets",
                   partial(guard_rule, rule=rule, controllers=("weir", *FAULTY_MODELS),
                           sets=(*_SETS, *sets.whole_traces)), at_least(0.0, signed=True), unbounded=True)


# fmt: on
def _replays() -> Iterator[Replays]:
    for name, build in _SETS.items():
        yield Replays(name, build, (*_ALONE, _HEALTHY, *_FAULTY.values()))
    yield Replays("opennetlab", sets.whole_traces["opennetlab"], (*_ALONE, _HEALTHY))
    for name, build in (_SETS | sets.whole_traces).items():
        variants = {ALL_RULES: (), **{f"{rule} off": (rule,) for rule in _RULES}}
        for variant, off in variants.items():
            yield Replays(f"{name}, {variant}", build, ("weir", *FAULTY_MODELS), guard_off=off)


SUITE: Final = Suite(
    name="safety",
    about="Fault-injected models as the first active controller of a pool with nada and rule, selected by trust; "
    "and each rule of the guard behind every model without a pool: all rules on, less all but this one.",
    random=200,
    custom=custom_controllers,
    replays=tuple(_replays()),
    goals=tuple(_goals()),
)
