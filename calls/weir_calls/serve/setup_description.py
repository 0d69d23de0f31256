"""The choices of the page: scenarios with their sketches, bounds, and the display of measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from weir_calls.call.disturbance import LARGEST_LINK_LAG_MS
from weir_calls.serve.call_folders import COUNTS, IN_LIST, SHOWN
from weir_calls.serve.call_request import DURATION_S, SECOND_CONTROLLERS
from weir_eval.measures.table import MEASURES
from weir_eval.options.shared import SIZES
from weir_eval.runs.call_media import ENDS
from weir_eval.runs.inputs import PathOptions, read_inputs
from weir_sim.controllers import CONTROLLERS, IN_CALLS, PRESETS, uses_model
from weir_sim.objectives import MINIMUM_WEIGHT
from weir_traces.catalogue import bundled_scenarios
from weir_traces.generate.published import call_scenarios, rfc8867_scenarios
from weir_traces.schema.flows import CbrFlow, Flow, TcpFlow
from weir_traces.schema.links import (
    QUEUE_DISCIPLINES,
    GilbertElliottLoss,
    Link,
    NoJitter,
    NoLoss,
    PolicerLoss,
    SlottedJitter,
    SpikeJitter,
)
from weir_traces.schema.scenario import Scenario

OWN = "Yours"
"""The heading of the user's scenarios."""
_OF_A_MEASURE = ("label", "unit", "scale", "decimals", "better", "meaning")
MAX_STEPS = 300


def offered_scenarios(inputs: Sequence[str]) -> dict[str, list[Scenario]]:
    """Returns scenarios by the heading on the page; an input replaces a bundled scenario of the same name.

    Raises:
        InputError: an input is invalid.
    """
    user_scenarios = read_inputs(inputs, PathOptions())
    groups = {"Bundled": bundled_scenarios(), "Published calls": call_scenarios(), "RFC 8867": rfc8867_scenarios()}
    names = {scenario.name for scenario in user_scenarios}
    bundled = {group: [scenario for scenario in found if scenario.name not in names] for group, found in groups.items()}
    return ({OWN: user_scenarios} if user_scenarios else {}) | bundled


def describe_setup(scenarios: Mapping[str, Sequence[Scenario]], out: Path) -> dict[str, Any]:
    """The description as JSON values.

    Args:
        scenarios: scenarios by heading.
        out: the folder of calls.
    """
    return {
        "scenarios": [sketch(scenario, group) for group, found in scenarios.items() for scenario in found],
        "own": [scenario.name for scenario in scenarios.get(OWN, ())],
        "presets": {name: list(weights) for name, weights in PRESETS.items()},
        "minimum_weight": MINIMUM_WEIGHT,
        "senders": ENDS,
        "controllers": [
            {"name": name, "summary": CONTROLLERS[name].summary, "follows_objective": uses_model(name)}
            for name in IN_CALLS
        ],
        "beside": list(SECOND_CONTROLLERS),
        "largest_link_lag_ms": LARGEST_LINK_LAG_MS,
        "sizes": list(SIZES),
        "duration_s": DURATION_S,
        "measures": [
            {"name": name, "in_list": name in IN_LIST}
            | {field: getattr(MEASURES[name], field) for field in _OF_A_MEASURE}
            # Counts of one call are whole; reports have means.
            | ({"decimals": 0} if name in COUNTS else {})
            for name in SHOWN
        ],
        "folder": str(out),
    }


def sketch(scenario: Scenario, group: str) -> dict[str, Any]:
    """Describes a scenario for the page.

    Returns:
        name, description, group, duration_s; capacity, steps [time in s, kbps] of the forward link over the
        duration; unlimited, true without a capacity; one_way_delay_ms; queue, loss, jitter and traffic as display
        text; cross_traffic, a list of {start_s, stop_s, rate_bps} of constant bit rate flows on the forward
        link.
    """
    forward, duration = scenario.forward, scenario.duration_s
    others = [flow for flow in scenario.flows[1:] if flow.direction == "forward"]
    return {
        "name": scenario.name,
        "description": scenario.description,
        "group": group,
        "duration_s": duration,
        "capacity": _steps(forward, duration),
        "unlimited": forward.capacity is None,
        "one_way_delay_ms": forward.mean_one_way_delay_ms(duration),
        "queue": _queue(forward),
        "loss": _loss(forward),
        "jitter": _jitter(forward),
        "traffic": _traffic(others),
        "cross_traffic": [
            {"start_s": flow.start_s, "stop_s": flow.stop_s or duration, "rate_bps": flow.rate_bps}
            for flow in others
            if isinstance(flow, CbrFlow)
        ],
    }


def _steps(link: Link, duration_s: float) -> list[list[float]]:
    """The capacity, or means over equal parts if it changes too often for a sketch."""
    if link.capacity is None:
        return [[0.0, 0]]
    trace = link.capacity.trace()
    period = trace.period_s or duration_s
    starts = np.arange(0.0, min(duration_s, MAX_STEPS * period), period)
    times = (starts[:, None] + trace.times_s[None, :]).ravel()
    times = times[times < duration_s]
    if times.size <= MAX_STEPS:
        rates = trace.rate_at(times)
    else:
        times = np.linspace(0.0, duration_s, MAX_STEPS, endpoint=False)
        rates = trace.integrate(times, times + duration_s / MAX_STEPS) / (duration_s / MAX_STEPS)
    return [[round(float(time), 3), round(float(rate) / 1e3)] for time, rate in zip(times, rates, strict=True)]


def _queue(link: Link) -> str:
    queue = link.queue
    if queue.milliseconds is not None:
        text = f"{queue.milliseconds:g} ms"
        # The simulator's queue has a limit in bytes, that of the mean rate.
        if link.capacity is not None and np.ptp(link.capacity.trace().rates_bps) > 0:
            text += " at the mean rate, longer below it"
    elif queue.packets is not None:
        text = f"{queue.packets} packets"
    else:
        assert queue.bytes is not None
        text = f"{queue.bytes / 1000:g} kB"
    discipline = QUEUE_DISCIPLINES[link.queue_discipline]
    return f"{text}, {discipline}" if discipline else text


def _loss(link: Link) -> str:
    loss = link.loss
    if isinstance(loss, NoLoss):
        return "none of its own"
    if isinstance(loss, GilbertElliottLoss):
        turns = loss.good_to_bad + loss.bad_to_good
        share = loss.good_to_bad / turns if turns else 0.0
        return f"{100 * (share * loss.loss_bad + (1 - share) * loss.loss_good):.2g} %, in bursts"
    if isinstance(loss, PolicerLoss):
        return f"what exceeds {loss.rate_bps / 1e3:g} kbps and a burst of {loss.burst_bytes / 1000:g} kB"
    ratio = loss.ratio
    return f"{100 * ratio:g} %" if isinstance(ratio, float) else f"up to {100 * max(ratio.ratios):g} %"


def _jitter(link: Link) -> str:
    jitter = link.jitter
    if isinstance(jitter, NoJitter):
        return "none"
    if isinstance(jitter, SlottedJitter):
        return f"arrivals every {jitter.interval_ms:g} ms"
    if isinstance(jitter, SpikeJitter):
        return f"none for {jitter.shortest_ms:g} to {jitter.longest_ms:g} ms about every {jitter.gap_mean_s:g} s"
    return f"up to {jitter.maximum_ms:g} ms"


def _traffic(flows: Sequence[Flow]) -> str:
    names = []
    for flow in flows:
        if isinstance(flow, TcpFlow):
            kind = f"TCP {flow.congestion_control}"
        else:
            kind = "constant rate" if isinstance(flow, CbrFlow) else "RTP"
        if kind not in names:
            names.append(kind)
    if not names:
        return "none"
    return f"{len(flows)} flow{'s' if len(flows) > 1 else ''} ({', '.join(names)})"
