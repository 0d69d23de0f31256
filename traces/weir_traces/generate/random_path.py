"""Path impairments of the random domain: changes of delay, loss, jitter, the return path.

Shares of kinds refer to all scenarios, including calm ones; see the table in `random_domain`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from weir_traces.generate.drawing import Array, log_uniform

SHORTEST_DELAY_MS, LONGEST_DELAY_MS = 5.0, 400.0
LONGEST_CHANGED_DELAY_MS = 500.0

CALM_SHARE = 0.2
"""Share of scenarios in which only the capacity changes; the others have accordingly more impairments."""

_DELAY_CHANGES = {"steps": 0.10, "wandering": 0.05, "ramp": 0.05}
_LOSSES = {"bernoulli": 0.32, "gilbert_elliott": 0.14, "policer": 0.04}
_JITTERS = {"truncated_gaussian": 0.25, "uniform": 0.07, "slotted": 0.09, "spikes": 0.09}
_REVERSE = 0.10
"""Share of scenarios whose return path has a longer delay; also the share with its own jitter."""
_THIN_REVERSE = 0.05
"""Share of scenarios whose return path has a low capacity."""
_LONGEST_JITTER_MS = 200.0
_RAMP_STEP_S = 0.1
_LONGEST_BURST_S = 2.0


def drawn_kind(rng: np.random.Generator, shares: Mapping[str, float], calm: bool) -> str:
    """Draws a kind by its share of all scenarios; "none" for the rest, and for calm scenarios."""
    draw = rng.random() * (1 - CALM_SHARE)
    if calm:
        return "none"
    for kind, share in shares.items():
        if draw < share:
            return kind
        draw -= share
    return "none"


def path_delay(rng: np.random.Generator, base_ms: float, duration_s: float, calm: bool) -> float | dict[str, Any]:
    """The one-way delay of the path in ms: constant, or a table over time."""
    match drawn_kind(rng, _DELAY_CHANGES, calm):
        case "steps":
            times_s: Array = rng.uniform(0.05, 0.95, int(rng.integers(1, 5))) * duration_s
            moved_ms = [base_ms]
            for _ in times_s:
                moved_ms.append(_moved(rng, moved_ms[-1], log_uniform(rng, 5, 150)))
            values_ms: Array = np.array(moved_ms[1:])
        case "wandering":
            times_s = np.cumsum(rng.uniform(5, 20, int(duration_s / 5) + 1))
            values_ms = base_ms + rng.uniform(0, 40, times_s.size)
        case "ramp":
            start_s, length_s = rng.uniform(0.05, 0.6) * duration_s, rng.uniform(5, 30)
            count = round(length_s / _RAMP_STEP_S)
            times_s = start_s + _RAMP_STEP_S * np.arange(count, dtype=np.float64)
            end_ms = _moved(rng, base_ms, log_uniform(rng, 10, 100))
            values_ms = np.linspace(base_ms, end_ms, count + 1)[1:]
        case _:
            return base_ms
    return _over_time(base_ms, times_s, values_ms, duration_s)


def _moved(rng: np.random.Generator, delay_ms: float, change_ms: float) -> float:
    """Raises or lowers a delay by `change_ms` with equal probability, or in the direction that stays within bounds."""
    shorter, longer = delay_ms - change_ms, delay_ms + change_ms
    if rng.random() < 0.5:
        return shorter if shorter >= SHORTEST_DELAY_MS else longer
    return longer if longer <= LONGEST_CHANGED_DELAY_MS else shorter


def _over_time(base_ms: float, times_s: Array, values_ms: Array, duration_s: float) -> float | dict[str, Any]:
    times_s = np.sort(times_s.round(3))
    kept = (np.diff(times_s, prepend=0) > 0) & (times_s < duration_s)
    if not kept.any():
        return base_ms
    return {
        "times_s": [0.0, *times_s[kept].tolist()],
        "values_ms": [base_ms, *values_ms[kept].round(3).tolist()],
    }


def path_loss(rng: np.random.Generator, mean_bps: float, calm: bool) -> dict[str, Any]:
    """Scenario fields of the loss of a link with this mean capacity."""
    match drawn_kind(rng, _LOSSES, calm):
        case "bernoulli":
            return {"kind": "bernoulli", "ratio": round(log_uniform(rng, 0.001, 0.15), 5)}
        case "gilbert_elliott":
            return _bursts(rng)
        case "policer":
            rate_bps = float(max(50e3, round(mean_bps * rng.uniform(0.3, 0.9))))
            # A bucket of more than a few seconds would not limit a scenario.
            burst_bytes = min(log_uniform(rng, 10e3, 200e3), rate_bps * _LONGEST_BURST_S / 8)
            return {"kind": "policer", "rate_bps": rate_bps, "burst_bytes": round(burst_bytes)}
    return {"kind": "none"}


def _bursts(rng: np.random.Generator) -> dict[str, Any]:
    burst = rng.uniform(2, 10)
    mean = log_uniform(rng, 0.001, 0.08)
    loss_bad = rng.uniform(0.3, 1.0)
    # The share of time in the bad state is good_to_bad / (good_to_bad + bad_to_good).
    bad_share = mean / loss_bad
    bad_to_good = 1 / burst
    return {
        "kind": "gilbert_elliott",
        "good_to_bad": round(bad_to_good * bad_share / (1 - bad_share), 6),
        "bad_to_good": round(bad_to_good, 5),
        "loss_good": 0.0,
        "loss_bad": round(loss_bad, 4),
    }


def path_jitter(rng: np.random.Generator, calm: bool) -> dict[str, Any]:
    """Scenario fields of jitter."""
    return _jitter(rng, drawn_kind(rng, _JITTERS, calm))


def _jitter(rng: np.random.Generator, kind: str) -> dict[str, Any]:
    match kind:
        case "truncated_gaussian":
            deviation_ms = round(log_uniform(rng, 1, 70), 2)
            return {
                "kind": kind,
                "standard_deviation_ms": deviation_ms,
                "maximum_ms": round(min(3 * deviation_ms, _LONGEST_JITTER_MS), 2),
                "reorder": bool(rng.random() < 0.1),
            }
        case "uniform":
            return {"kind": kind, "maximum_ms": round(log_uniform(rng, 2, _LONGEST_JITTER_MS), 2)}
        case "slotted":
            return {"kind": kind, "interval_ms": round(log_uniform(rng, 5, _LONGEST_JITTER_MS), 2)}
        case "spikes":
            shortest_ms = round(rng.uniform(20, 100), 1)
            return {
                "kind": kind,
                "gap_mean_s": round(log_uniform(rng, 0.3, 10), 2),
                "shortest_ms": shortest_ms,
                "longest_ms": round(rng.uniform(shortest_ms, 250), 1),
            }
    return {"kind": "none"}


def reverse_link(
    rng: np.random.Generator, base_ms: float, forward_delay: float | dict[str, Any], loss: dict[str, Any], calm: bool
) -> dict[str, Any]:
    """The return path: mostly unlimited, with a delay, perhaps loss and jitter.

    Args:
        base_ms: initial delay of the forward path, ms.
        forward_delay: delay of the forward path, perhaps over time; half of its changes apply to both directions.
        loss: loss of the forward path.
        calm: draw no impairments.
    """
    delay = forward_delay if rng.random() < 0.5 else base_ms
    if drawn_kind(rng, {"longer": _REVERSE}, calm) == "longer":
        delay = round(base_ms + log_uniform(rng, 5, 500), 3)
    kinds = list(_JITTERS)
    own_jitter = drawn_kind(rng, {kind: _REVERSE * _JITTERS[kind] / sum(_JITTERS.values()) for kind in kinds}, calm)
    same_loss = rng.random() < 0.3 and loss["kind"] != "policer"
    capacity = None
    if drawn_kind(rng, {"thin": _THIN_REVERSE}, calm) == "thin":
        capacity = {"times_s": [0.0], "rates_bps": [float(round(log_uniform(rng, 60e3, 300e3)))]}
    return {
        "capacity": capacity,
        "one_way_delay_ms": delay,
        "loss": loss if same_loss else {"kind": "none"},
        "jitter": _jitter(rng, own_jitter),
    }
