"""Validates viewers' requests: for a new call, and for changes to the running one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, cast

from weir import parse_pool
from weir_calls.call.plan import Order
from weir_calls.call_options import WITHOUT_MODEL
from weir_cli.errors import InputError
from weir_eval.json_lines import number
from weir_eval.options.shared import SIZES
from weir_eval.runs.call_media import ENDS, SenderKind
from weir_sim.controllers import (
    CONTROLLERS,
    IN_CALLS,
    LIBWEBRTC_SENDERS,
    POLICY,
    WEIGHTS,
    is_pool,
    pool_members,
)
from weir_traces.schema.scenario import Scenario

SECOND_CONTROLLERS = LIBWEBRTC_SENDERS
"""The controllers that a call can be compared with: those of browsers."""
DURATION_S = (5.0, 600.0)
LINK_DOWN_S = (0.5, 30.0)
# Members of pools that messages suggest.
_MEMBERS = (POLICY, *WITHOUT_MODEL, "gcc")
# The fields of a change to the running call.
_CHANGES = {
    "stop": (),
    "objective": WEIGHTS,
    "pool": ("line",),
    "model": ("name",),
    "down": ("duration_s",),
}


@dataclass(frozen=True)
class CallRequest:
    """A viewer's request for a call. `objective`: weights of throughput, latency and loss, sum 1. `second_controller`:
    that of a second call on an equal path; empty for none.
    """

    scenario: Scenario
    sender: SenderKind
    controller: str
    second_controller: str
    objective: tuple[float, float, float]
    duration_s: float
    width: int
    height: int


def read_call_request(data: Any, scenarios: Mapping[str, Scenario]) -> CallRequest:
    """Reads a request for a call from parsed JSON.

    Args:
        data: an object with `scenario` (a name), `sender`, `controller` (or a pool specification), `objective`,
            `duration_s` (5 to 600), `size` ("640x360" or "1280x720"), and `beside` (a controller of a browser, or "").
        scenarios: the permitted scenarios by name.

    Raises:
        InputError: the request is invalid; the message names the field.
    """
    data = _object(data, ("scenario", "sender", "controller", "objective", "duration_s", "size", "beside"))
    name = data.get("controller")
    scenario = scenarios[_choice(data, "scenario", scenarios)]
    second_controller = _choice(data, "beside", ("", *SECOND_CONTROLLERS)) if "beside" in data else ""
    width, height = SIZES[_choice(data, "size", SIZES)]
    return CallRequest(
        scenario=scenario,
        sender=cast(SenderKind, _choice(data, "sender", ENDS)),
        controller=_pool(name) if isinstance(name, str) and is_pool(name) else _choice(data, "controller", IN_CALLS),
        second_controller=second_controller if second_controller != name else "",
        objective=_objective(_object(data.get("objective"), WEIGHTS, "objective")),
        duration_s=_number(data, "duration_s", DURATION_S),
        width=width,
        height=height,
    )


def read_change(data: Any) -> Order:
    """Reads a change to the running call from parsed JSON: `stop`; `objective` with its weights (divided by their
    sum); `pool` with `line`; `down` with `duration_s`; `model` with an unchecked `name`: the caller resolves it to the
    `path` of the order.

    Raises:
        InputError: the change is invalid; the message names the field.
    """
    kind = data.get("type") if isinstance(data, dict) else None
    if not isinstance(kind, str) or kind not in _CHANGES:
        raise InputError(f"type: one of {', '.join(_CHANGES)}")
    _object(data, ("type", *_CHANGES[kind]))
    order: Order = {"type": kind}
    if kind == "objective":
        order |= dict(zip(WEIGHTS, _objective(data), strict=True))
    elif kind == "pool":
        order["line"] = _pool(data.get("line"))
    elif kind == "model":
        order["name"] = data.get("name")
    elif kind == "down":
        order["duration_s"] = _number(data, "duration_s", LINK_DOWN_S)
    return order


def _object(data: Any, known: tuple[str, ...], name: str = "the message") -> dict[str, Any]:
    if not isinstance(data, dict):
        raise InputError(f"{name}: an object with {', '.join(known)}")
    unknown = [key for key in data if key not in known]
    if unknown:
        raise InputError(f"{name}: {str(unknown[0])[:40]!r} is not known; use {', '.join(known)}")
    return data


def _objective(data: Mapping[str, Any]) -> tuple[float, float, float]:
    """Weights of throughput, latency and loss, divided by their sum."""
    weights = [number(data.get(name), 0.0, 1.0) or 0.0 for name in WEIGHTS]
    if min(weights) <= 0:
        raise InputError("objective: three weights (throughput, latency, loss), each above 0 and at most 1")
    throughput, latency = (round(weight / sum(weights), 6) for weight in weights[:2])
    shares = throughput, latency, round(1 - throughput - latency, 6)
    if min(shares) <= 0:
        raise InputError("objective: each weight must be at least a millionth of their sum")
    return shares


def _pool(specification: Any) -> str:
    """A pool specification in its canonical form. Viewers may not name files."""
    try:
        if not isinstance(specification, str) or not is_pool(specification):
            raise InputError("pool: a specification such as 'pilot=weir copilots=nada,rule fusion=min'")
        if any(":" in member for member in pool_members(specification)):
            raise InputError("pool: models from files are for `weir call`; use the names of controllers")
        line = str(parse_pool(specification)["line"])
        for member in pool_members(line):
            if member not in CONTROLLERS:
                raise InputError(f"pool: '{member[:40]}' is not known; use {', '.join(_MEMBERS)}")
        return line
    except ValueError as error:
        raise InputError(str(error)) from None


def _choice(data: Mapping[str, Any], field: str, choices: Collection[str]) -> str:
    for value in choices:
        if value == data.get(field):
            return value
    shown = ", ".join(list(choices)[:4]) + (", ..." if len(choices) > 4 else "")
    raise InputError(f"{field}: one of {shown}, not {str(data.get(field))[:40]!r}")


def _number(data: Mapping[str, Any], field: str, bounds: tuple[float, float]) -> float:
    value = number(data.get(field), *bounds)
    if value is None:
        raise InputError(f"{field}: a number from {bounds[0]:g} to {bounds[1]:g}")
    return float(value)
