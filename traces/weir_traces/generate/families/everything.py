"""Several impairments at once, drawn at random; the other families have them one at a time."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Sequence
from operator import attrgetter

import numpy as np

from weir_traces.generate.families.call import CONGESTION_CONTROLS
from weir_traces.generate.families.family import ONE_WAY_DELAY_MS, Case, Family, Fields, forward_with
from weir_traces.generate.families.path import (
    bernoulli,
    bursts,
    gilbert_elliott,
    policed,
    slotted,
    spikes,
    truncated_gaussian,
    uniform,
)

COMBINATIONS = 12
_FEWEST, _MOST = 2, 5


def everything() -> Family:
    """Twelve combinations of two to five impairments each; the case's name is the seed."""
    return Family("everything", "Several troubles at once", [combination(seed) for seed in range(1, COMBINATIONS + 1)])


def combination(seed: int) -> Case:
    """The combination of a seed."""
    rng = np.random.default_rng([20261120, seed])
    count = int(rng.integers(_FEWEST, _MOST, endpoint=True))
    # Apply them in the order of the table, not in the order drawn.
    drawn = sorted(rng.choice(len(_TROUBLES), size=count, replace=False, p=_PROBABILITIES).tolist())
    return _together(f"{seed}", [_TROUBLES[index][0](rng) for index in drawn])


def _route(rng: np.random.Generator) -> Case:
    times_s = [0.0, *np.sort(rng.uniform(10, 50, size=2)).round(2).tolist()]
    values_ms = [ONE_WAY_DELAY_MS, *(ONE_WAY_DELAY_MS + rng.uniform(0, 80, size=2)).round(1).tolist()]
    return Case("", forward_with(one_way_delay_ms={"times_s": times_s, "values_ms": values_ms}))


def _clock(rng: np.random.Generator) -> Case:
    if rng.random() < 0.7:
        return Case("", flow={"sender_clock_ppm": round(rng.uniform(-500, 500), 1)})
    steps = {"times_s": [round(rng.uniform(10, 50), 2)], "steps_ms": [round(rng.uniform(-100, 100), 1)]}
    return Case("", flow={"sender_clock_steps": steps})


def _loss(rng: np.random.Generator) -> Case:
    ratio = round(rng.uniform(0.01, 0.05), 4)
    loss = bernoulli(ratio) if rng.random() < 0.5 else gilbert_elliott(ratio)
    return Case("", forward_with(loss=loss))


def _jitter(rng: np.random.Generator) -> Case:
    kinds = (
        truncated_gaussian(round(rng.uniform(3, 20), 1)),
        uniform(round(rng.uniform(10, 40), 1)),
        spikes(round(rng.uniform(3, 10), 1)),
        slotted(round(rng.uniform(5, 40), 1)),
    )
    return Case("", forward_with(jitter=kinds[rng.choice(4, p=[0.4, 0.2, 0.2, 0.2])]))


def _policer(rng: np.random.Generator) -> Case:
    return Case("", policed(burst_s=round(rng.uniform(0.05, 0.5), 2), link_ratio=2.0))


def _slots(rng: np.random.Generator) -> Case:
    period_s = round(rng.uniform(0.04, 0.1), 3)
    return Case("", bursts(round(rng.uniform(0.2, 0.6) * period_s, 3), period_s))


def _reverse(rng: np.random.Generator) -> Case:
    delay_ms = round(ONE_WAY_DELAY_MS + rng.uniform(0, 300), 1)
    return Case("", reverse={"one_way_delay_ms": delay_ms, "loss": bernoulli(round(rng.uniform(0, 0.1), 3))})


def _pause(rng: np.random.Generator) -> Case:
    start_s = round(rng.uniform(15, 35), 2)
    return Case("", flow={"pauses_s": [[start_s, round(start_s + rng.uniform(5, 20), 2)]]})


def _content(rng: np.random.Generator) -> Case:
    return Case("", video={"minimum_output_share": round(rng.uniform(0.1, 0.6), 2)})


def _tcp(rng: np.random.Generator) -> Case:
    start_s = round(rng.uniform(5, 30), 2)
    stop_s = round(start_s + rng.uniform(10, 25), 2)
    control = str(rng.choice(CONGESTION_CONTROLS))
    return Case("", others=[{"kind": "tcp", "congestion_control": control, "start_s": start_s, "stop_s": stop_s}])


# Each impairment with its weight.
_TROUBLES: Sequence[tuple[Callable[[np.random.Generator], Case], float]] = (
    (_route, 1.0),
    (_clock, 1.0),
    (_loss, 1.0),
    (_jitter, 1.0),
    (_policer, 0.3),
    (_slots, 0.5),
    (_reverse, 1.0),
    (_pause, 0.5),
    (_content, 1.0),
    (_tcp, 0.5),
)
_PROBABILITIES = np.array([weight for _, weight in _TROUBLES]) / sum(weight for _, weight in _TROUBLES)


def _together(name: str, cases: Sequence[Case]) -> Case:
    def merged(part: Callable[[Case], Fields]) -> Fields:
        return dict(ChainMap(*map(part, reversed(cases))))

    return Case(
        name,
        lambda rate_bps: merged(lambda case: case.forward(rate_bps)),
        merged(attrgetter("reverse")),
        merged(attrgetter("flow")),
        merged(attrgetter("video")),
        [flow for case in cases for flow in case.others],
    )
