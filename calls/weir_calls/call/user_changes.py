"""Changes by the user during a call, from its record: cuts of the link, and other weights of the objective."""

from __future__ import annotations

from weir_eval.json_lines import number
from weir_eval.records.call_record import CallRecord
from weir_sim.controllers import WEIGHTS

# The steps of a drag are one change, as on the page of `weir serve`.
_DRAG_US = 1_200_000


def cuts(record: CallRecord) -> list[tuple[float, float]]:
    """Start, in s since the scenario began, and duration, in s, of each cut of the link."""
    begins_us = record.call.started_us or 0
    found = []
    for order in record.call.happened:
        time_us, duration_s = number(order.get("time_us")), number(order.get("duration_s"))
        if order.get("type") == "down" and time_us is not None and duration_s is not None:
            found.append(((time_us - begins_us) / 1e6, float(duration_s)))
    return found


def objective_changes(record: CallRecord) -> tuple[int, list[float]]:
    """How often the weights were changed, and the last ones (throughput, latency, loss); empty without a change."""
    count, last, last_us = 0, list[float](), float("-inf")
    for order in record.call.happened if record.objective else ():
        time_us, weights = number(order.get("time_us")), [number(order.get(name)) for name in WEIGHTS]
        if order.get("type") == "objective" and time_us is not None and None not in weights:
            count += time_us - last_us >= _DRAG_US
            last, last_us = [float(weight) for weight in weights if weight is not None], time_us
    return count, last


def describe_cuts(record: CallRecord) -> str:
    """The cuts of a call for a report; empty if there were none."""
    return ", ".join(f"at {start_s:.1f} s for {duration_s:g} s" for start_s, duration_s in cuts(record))


def describe_objective(record: CallRecord) -> str:
    """The changes of a call's objective for a report; empty if there were none."""
    count, last = objective_changes(record)
    if not count:
        return ""
    first, final = (", ".join(f"{weight:.2f}" for weight in weights) for weights in (record.objective or (), last))
    return f"from {first} to {final}, in {count} change{'s' if count > 1 else ''}"
