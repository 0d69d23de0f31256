"""Checks an order: a change to a running call."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from weir._core import parse_pool
from weir.errors import InputError
from weir.qoe_eval.json_lines import number
from weir.registry import IN_CALLS, WEIGHTS, is_pool, pool_members

_LONGEST_DOWN_S = 3600.0


def checked_order(order: Any) -> dict[str, Any]:
    """Returns an order with only its known fields: `stop`; `objective` with `throughput`, `latency`, `loss` (scaled to
    sum 1); `controller` with `name`; `pool` with `line`; `model` with `path`; `down` with `duration_s`.

    Raises:
        InputError: it is anything else; the message names the field.
    """
    kind = order.get("type") if isinstance(order, dict) else None
    if kind == "stop":
        return {"type": "stop"}
    if kind == "objective":
        return {"type": kind} | dict(zip(WEIGHTS, read_objective(order), strict=True))
    if kind == "controller":
        return {"type": kind, "name": choice(order, "name", IN_CALLS)}
    if kind == "pool":
        return {"type": kind, "line": read_pool(order.get("line"))}
    if kind == "model":
        path = order.get("path")
        if not isinstance(path, str) or not path:
            raise InputError("path: must be the file of a model")
        return {"type": kind, "path": path}
    if kind == "down":
        return {"type": kind, "duration_s": number_between(order, "duration_s", (0.001, _LONGEST_DOWN_S))}
    raise InputError(f"type: stop, objective, controller, pool, model or down, not {str(order)[:60]}")


def read_objective(data: Any) -> tuple[float, float, float]:
    """Weights of throughput, latency and loss from an object with these names, divided by their sum.

    Raises:
        InputError: not three numbers above 0 and at most 1, or one is negligible.
    """
    weights = [number(data.get(name), 0.0, 1.0) or 0.0 for name in WEIGHTS] if isinstance(data, dict) else [0.0]
    if min(weights) <= 0:
        raise InputError("objective: three weights (throughput, latency, loss), each above 0 and at most 1")
    throughput, latency = (round(weight / sum(weights), 6) for weight in weights[:2])
    shares = throughput, latency, round(1 - throughput - latency, 6)
    if min(shares) <= 0:
        raise InputError("objective: each weight must be at least a millionth of their sum")
    return shares


def read_pool(specification: Any, *, models_from_files: bool = True) -> str:
    """A pool specification in its canonical form.

    Raises:
        InputError: it is invalid, or names a file although `models_from_files` is False.
    """
    try:
        if not isinstance(specification, str) or not is_pool(specification):
            raise InputError("pool: a specification such as 'pilot=weir copilots=nada,rule fusion=min'")
        if not models_from_files and any(":" in member for member in pool_members(specification)):
            raise InputError("pool: models from files are for `weir call`; use the names of controllers")
        return str(parse_pool(specification)["line"])
    except ValueError as error:
        raise InputError(str(error)) from None


def choice(data: dict[str, Any], field: str, choices: Collection[str]) -> str:
    """A field that is one of the choices.

    Raises:
        InputError: it is not.
    """
    for value in choices:
        if value == data.get(field):
            return value
    shown = ", ".join(list(choices)[:4]) + (", ..." if len(choices) > 4 else "")
    raise InputError(f"{field}: one of {shown}, not {str(data.get(field))[:40]!r}")


def number_between(data: dict[str, Any], field: str, bounds: tuple[float, float]) -> float:
    """A field that is a number within bounds.

    Raises:
        InputError: it is not.
    """
    value = number(data.get(field), *bounds)
    if value is None:
        raise InputError(f"{field}: a number from {bounds[0]:g} to {bounds[1]:g}")
    return float(value)
