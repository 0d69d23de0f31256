"""How a rate settles: time to converge after a step of the capacity, and oscillation."""

from __future__ import annotations

import numpy as np

from weir.qoe_eval.measures.flow_series import FlowSeries
from weir.qoe_eval.records import ConvergenceStep

STEP_RATIO = 1.2
HOLD_S = 5.0
WINDOW_S = 1.0
LOWEST_RECEIVE_SHARE = 0.8
HIGHEST_SEND_SHARE = 1.1


def convergence_times(series: FlowSeries) -> list[ConvergenceStep]:
    """One entry for each capacity step of the flow's active time that holds for HOLD_S; the start of the flow is the
    first step.

    A step is a change by the factor STEP_RATIO or more. The flow has converged at the beginning of the first WINDOW_S
    in which its mean receive rate is at least LOWEST_RECEIVE_SHARE of the capacity and its mean send rate at most
    HIGHEST_SEND_SHARE of it. Only meaningful for a flow that has the path to itself and always has something to send.
    """
    if series.capacity_bps is None:
        return []
    capacity = series.capacity_bps[series.active]
    receive = series.receive_rate_bps[series.active]
    send = series.send_rate_bps[series.active]
    window = max(1, round(WINDOW_S / series.interval_s))
    steps = []
    for begin, end in _plateaus(capacity):
        length_s = (end - begin) * series.interval_s
        level = float(capacity[begin:end].mean())
        if length_s < HOLD_S - 1e-9 or level <= 0:
            continue
        receive_mean = _moving_mean(receive[begin:end], window)
        send_mean = _moving_mean(send[begin:end], window)
        settled = (receive_mean >= LOWEST_RECEIVE_SHARE * level) & (send_mean <= HIGHEST_SEND_SHARE * level)
        converged = bool(settled.any())
        time_s = float(np.argmax(settled)) * series.interval_s if converged else length_s
        steps.append(
            ConvergenceStep(
                at_s=series.start_s + begin * series.interval_s, to_bps=level, time_s=time_s, converged=converged
            )
        )
    return steps


def oscillation(series: FlowSeries) -> float | None:
    """Mean over the active time of |T(k+1) - T(k)| / mean(T), T(k) being the mean target in second k; 1/s.

    0 for a target that never moves. Nothing for a flow without a target or shorter than three seconds.
    """
    target = series.target_bps[series.active]
    per_second = round(1 / series.interval_s)
    seconds = len(target) // per_second
    if seconds < 3 or not np.isfinite(target).all():
        return None
    by_second = target[: seconds * per_second].reshape(seconds, per_second).mean(axis=1)
    mean = float(by_second.mean())
    return float(np.abs(np.diff(by_second)).mean()) / mean if mean > 0 else None


def _plateaus(capacity: np.ndarray) -> list[tuple[int, int]]:
    """Index ranges [begin, end) within which the capacity stays within STEP_RATIO of the range's first sample.

    The first sample after a change may be a mixture of two rates, so a range of one sample joins the next.
    """
    edges = [0]
    for index in range(1, len(capacity)):
        reference = capacity[edges[-1]]
        low, high = sorted((float(reference), float(capacity[index])))
        if high > 0 and high >= STEP_RATIO * low:
            if index - edges[-1] == 1 and len(edges) > 1:
                edges[-1] = index
            else:
                edges.append(index)
    return list(zip(edges, [*edges[1:], len(capacity)], strict=True)) if len(capacity) else []


def _moving_mean(samples: np.ndarray, window: int) -> np.ndarray:
    """Mean of every `window` successive samples; shape [len(samples) - window + 1]."""
    sums = np.cumsum(np.insert(samples, 0, 0.0))
    return (sums[window:] - sums[:-window]) / window
