"""What may be asked of a call while it lasts."""

from __future__ import annotations

from typing import Any

from weir._core import parse_pool
from weir.qoe_eval.call.logs.json_lines import number
from weir.registry import IN_CALLS, WEIGHTS

_LONGEST_DOWN_S = 3600.0


def checked_order(order: Any) -> dict[str, Any]:
    """An order with only its known fields: `stop`; `objective` with `throughput`, `latency`, `loss` (scaled to a sum of
    1); `controller` with `name`; `pool` with `line`; `model` with `path`, for the controller weir; `down` with
    `duration_s`.

    Raises:
        ValueError: it is something else, and what.
    """
    kind = order.get("type") if isinstance(order, dict) else None
    if kind == "stop":
        return {"type": "stop"}
    if kind == "objective":
        weights = {name: _number(order, name, 1.0) for name in WEIGHTS}
        return {"type": kind} | {name: weight / sum(weights.values()) for name, weight in weights.items()}
    if kind == "controller":
        if order.get("name") not in IN_CALLS:
            raise ValueError(f"there is no controller {str(order.get('name'))[:40]}; use {', '.join(IN_CALLS)}")
        return {"type": kind, "name": order["name"]}
    if kind == "pool":
        return {"type": kind, "line": parse_pool(str(order.get("line")))["line"]}
    if kind == "model":
        path = order.get("path")
        if not isinstance(path, str) or not path:
            raise ValueError("path must be the file of a model")
        return {"type": kind, "path": path}
    if kind == "down":
        return {"type": kind, "duration_s": _number(order, "duration_s", _LONGEST_DOWN_S)}
    raise ValueError(f"a call does not know {str(order)[:100]}")


def _number(order: dict[str, Any], name: str, most: float) -> float:
    value = number(order.get(name), 0.0, most)
    if not value:
        raise ValueError(f"{name} must be a number above 0 and at most {most:g}")
    return float(value)
