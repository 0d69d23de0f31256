"""Measures of goals: real against simulated calls of the same paths, the emulated link, and the estimator's CPU time.

To make one the measure of a goal, bind the arguments after `results` and `bound` with `functools.partial`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from weir import BandwidthEstimator, Model
from weir_cli.files.input import LARGEST_MODEL_BYTES, read_bytes
from weir_eval.measures.run_values import Metric
from weir_eval.report.goal_table import Bound
from weir_suites.results import Results
from weir_suites.suite import Outcome

_PACKET_BYTES = 1200
_HEADER_BYTES = 12
_TICKS_PER_SECOND = 1 << 18
_WARM_UP_S = 5
_MOST_SHOWN = 6


@dataclass(frozen=True)
class SimulatedSet:
    """A set of real calls, the set that simulates them, and a controller in both."""

    called: str
    simulated: str
    controller: str


@dataclass(frozen=True)
class PathErrors:
    """Mean distance on one path of simulated calls from the mean of the real ones (`simulated`), and of real calls from
    the mean of the other real ones (`real`); as shares of the real mean if relative.
    """

    name: str
    simulated: float
    real: float

    @classmethod
    def of(cls, name: str, real: Sequence[float], simulated: Sequence[float], *, relative: bool) -> PathErrors | None:
        """None with fewer than two real calls, without a simulated one, or relative to 0."""
        if len(real) < 2 or not simulated:
            return None
        mean = fmean(real)
        unit = mean if relative else 1.0
        if unit <= 0:
            return None
        scatter = fmean(abs(value - (sum(real) - value) / (len(real) - 1)) for value in real)
        return cls(name, fmean(abs(value - mean) for value in simulated) / unit, scatter / unit)


def error_over_scatter(
    results: Results,
    bound: Bound,
    *,
    sets: Sequence[SimulatedSet],
    metric: str,
    simulated_metric: Metric | None = None,
    relative: bool,
) -> Outcome:
    """Ratio of the mean error of simulated calls to that of single real calls, as shares of the real mean if
    `relative`. The figures have both for each path. `simulated_metric`: the metric of simulated calls, if different.
    """
    paths = [
        errors
        for name, real, simulated in _paths(results, sets, metric, simulated_metric or metric)
        if (errors := PathErrors.of(name, [*real.values()], [*simulated.values()], relative=relative))
    ]
    if not paths:
        return Outcome(reason=results.why_no_pair([pair.called for pair in sets]))
    error, scatter = fmean(path.simulated for path in paths), fmean(path.real for path in paths)
    farthest = sorted(paths, key=lambda path: path.real - path.simulated)[:_MOST_SHOWN]
    shown = "; ".join(f"{path.name}: {path.simulated:.1%} ({path.real:.1%})" for path in farthest)
    detail = f"{error:.1%}, of one real call {scatter:.1%}, {len(paths)} paths. The farthest: {shown}"
    figures = {"error": error, "scatter": scatter, "paths": [vars(path) for path in paths]}
    return Outcome(error / scatter if scatter else None, detail, figures, "" if scatter else "real calls do not differ")


def link_error(results: Results, bound: Bound, *, sets: Sequence[str], of_delay: bool = False) -> Outcome:
    """Relative error of the bytes that the link carried under a standing queue, compared with the scenario's capacity,
    or with `of_delay` the p95 lateness of its packets, in ms; of the worst call.
    """
    keys = [record.key for name in sets for record in results.calls.get(name, []) if record.key in results.called]
    if not keys:
        return Outcome(reason=results.why_no_pair(sets[:1]))
    # Only real calls have link logs; without `weir-calls` there are none.
    from weir_calls.call.link_accuracy import link_accuracy, worst
    from weir_calls.call.logs import LINK_LOG

    calls = [results.called[key] for key in keys]
    accuracy = worst([link_accuracy(call.out / LINK_LOG, call.scenario) for call in calls])
    if of_delay:
        value, why_none = accuracy.delay_error_ms_p95, "no call carried packets"
    else:
        value = None if accuracy.capacity_ratio is None else abs(accuracy.capacity_ratio - 1)
        why_none = "no call had a standing queue"
    return Outcome(value, f"the worst of {len(calls)} calls", reason=why_none if value is None else "")


def cpu_share(results: Results, bound: Bound, *, rate_bps: float, sets: Sequence[str]) -> Outcome:
    """CPU time of the estimator on a steady stream, as a share of one core. Measured only with calls."""
    if not any(results.calls.get(name) for name in sets):
        return Outcome(reason=results.why_no_pair(sets[:1]))
    detail = "the estimator alone on a steady stream, driven from Python, whose own time counts too"
    return Outcome(estimator_cpu_share(results.settings.model, rate_bps), detail)


def estimator_cpu_share(model: Path, rate_bps: float, duration_s: float = 60.0) -> float:
    """CPU time of the estimator on a steady stream of this rate / time of the stream.

    The estimator runs in this process, driven from Python faster than real time. The result includes Python's time, and
    is thus an upper bound of the cost in weir-peer.
    """
    loaded = Model(read_bytes(model, LARGEST_MODEL_BYTES))
    estimator = BandwidthEstimator(loaded, start_rate_bps=300_000, max_rate_bps=20_000_000)
    gap_us = round(1e6 * 8 * _PACKET_BYTES / rate_bps)
    started_s = time.process_time()
    for number in range(round((_WARM_UP_S + duration_s) * 1e6 / gap_us)):
        now_us = number * gap_us
        if now_us >= _WARM_UP_S * 1_000_000 > now_us - gap_us:
            started_s = time.process_time()
        estimator.on_packet(
            arrival_time_us=now_us,
            ssrc=1,
            sequence_number=number & 0xFFFF,
            payload_bytes=_PACKET_BYTES - _HEADER_BYTES,
            abs_send_time=now_us * _TICKS_PER_SECOND // 1_000_000 & 0xFFFFFF,
        )
        while estimator.next_timeout_us <= now_us:
            estimator.on_timeout(now_us)
    return (time.process_time() - started_s) / duration_s


def _paths(
    results: Results, sets: Sequence[SimulatedSet], metric: str, simulated_metric: Metric
) -> Iterator[tuple[str, Mapping[int, float], Mapping[int, float]]]:
    """The name of each path, the metric of its undisturbed calls by seed, and that of its simulated ones."""
    for pair in sets:
        calls = results.run_values(pair.called, pair.controller, metric)
        runs = results.run_values(pair.simulated, pair.controller, simulated_metric)
        for scenario in dict.fromkeys(name for name, _ in calls):
            real, simulated = (
                {seed: value for (name, seed), value in values.items() if name == scenario} for values in (calls, runs)
            )
            yield f"{pair.controller}, {pair.called}, {scenario}", real, simulated
