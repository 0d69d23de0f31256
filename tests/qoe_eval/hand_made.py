"""Records and results made by hand, for measures."""

from types import SimpleNamespace

import numpy as np

from weir.qoe_eval.evaluate.results import Results
from weir.qoe_eval.evaluate.suite import Settings
from weir.qoe_eval.evaluate.suites import SUITES
from weir.qoe_eval.measures.flow_series import FlowSeries
from weir.qoe_eval.measures.metric_table import METRICS

GOALS = {goal.name: goal for suite in SUITES.values() for goal in suite.goals}


def record(scenario, controller, seed=1, *, disturbed=None, key="", flow=None, **measures):
    """A record of a replay with these metrics and fields of its flow, or of a call."""
    found = {
        "scenario": scenario, "controller": controller, "seed": seed, "key": key, "flows": [flow] if flow else [],
        "metrics": {"run": dict.fromkeys(METRICS) | measures},
    }  # fmt: skip
    return found if disturbed is None else found | {"call": {"disturbed": list(disturbed)}}


def results(replays=None, *, sets=None, calls=None, called=None, pools=None, **settings):
    """`Results` from records by set; `sets` are those with scenarios."""
    replays, calls = replays or {}, calls or {}
    known = {name: SimpleNamespace(missing="", scenarios=[]) for name in (*replays, *calls)} | (sets or {})
    some = Settings(None, None, **settings)
    return Results(some, known, replays, lambda one: one, calls, called or {}, pools or {})


def row(name, found):
    """The row of a suite's goal."""
    return GOALS[name].row(found)


def series(receive=(), delay=(), capacity=None, start_s=0.0):
    """A flow's series of 100 ms."""
    samples = max(len(receive), len(delay))
    zeros = np.zeros(samples)
    return FlowSeries(
        interval_s=0.1,
        start_s=start_s,
        stop_s=samples / 10,
        capacity_bps=None if capacity is None else np.array(capacity, dtype=float),
        target_bps=zeros,
        send_rate_bps=zeros,
        receive_rate_bps=np.array(receive, dtype=float) if len(receive) else zeros,
        one_way_delay_mean_ms=np.array(delay, dtype=float) if len(delay) else zeros,
        packets_lost=zeros,
    )
