"""Changes by the user during a call, from its record: cuts of the link, and other weights of the objective."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from weir_eval.json_lines import number
from weir_eval.records.call_record import CallRecord
from weir_sim.controllers import WEIGHTS

# Orders reach calls that run at once at slightly different times of their scenarios.
_SAME_S = 1.0


def cuts(record: CallRecord) -> list[tuple[float, float]]:
    """Start, in s since the scenario began, and duration, in s, of each cut of the link."""
    begins_us = record.call.started_us or 0
    found = []
    for order in record.call.happened:
        time_us, duration_s = number(order.get("time_us")), number(order.get("duration_s"))
        if order.get("type") == "down" and time_us is not None and duration_s is not None:
            found.append(((time_us - begins_us) / 1e6, float(duration_s)))
    return found


def objective_changes(record: CallRecord) -> list[tuple[float, list[float]]]:
    """Time, in s since the scenario began, and weights (throughput, latency, loss) of each change of the objective."""
    begins_us = record.call.started_us or 0
    found: list[tuple[float, list[float]]] = []
    for order in record.call.happened if record.objective else ():
        time_us, weights = number(order.get("time_us")), [number(order.get(name)) for name in WEIGHTS]
        if order.get("type") == "objective" and time_us is not None and None not in weights:
            found.append(((time_us - begins_us) / 1e6, [float(weight) for weight in weights if weight is not None]))
    return found


def same_cuts(records: Sequence[CallRecord]) -> bool:
    """True if the user cut the link at the same times in all calls, so that their paths are equal."""
    found = [cuts(record) for record in records]
    return all(
        len(first) == len(second)
        and all(abs(a - b) <= _SAME_S and c == d for (a, c), (b, d) in zip(first, second, strict=True))
        for first, second in pairwise(found)
    )


def describe_cuts(record: CallRecord) -> str:
    """The cuts of a call for a report; empty if there were none."""
    return ", ".join(f"at {start_s:.1f} s for {duration_s:g} s" for start_s, duration_s in cuts(record))


def describe_objective(record: CallRecord) -> str:
    """The changes of a call's objective for a report; empty if there were none."""
    changes = objective_changes(record)
    if not changes:
        return ""
    then = [f"{_weights(weights)} at {time_s:.1f} s" for time_s, weights in changes]
    return " to ".join([f"from {_weights(record.objective or ())}", *then])


def _weights(weights: Sequence[float]) -> str:
    return " / ".join(f"{weight:.2f}" for weight in weights)
