"""Checks what a viewer may request: a new call, and changes to the running one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from weir.errors import InputError
from weir.files.input import parse_json
from weir.qoe_eval.call.orders import checked_order, choice, number_between, read_objective, read_pool
from weir.qoe_eval.call.plan import Order
from weir.qoe_eval.options.call import ENDS, SIZES, SenderKind
from weir.registry import IN_CALLS, LIBWEBRTC_SENDERS, WEIGHTS, is_pool
from weir.traces.schema.scenario import Scenario

BESIDE = LIBWEBRTC_SENDERS
"""The controllers that a call can be compared with: those of browsers."""
DURATION_S = (5.0, 600.0)
LINK_DOWN_S = (0.5, 30.0)
# The fields of a change to the running call.
_CHANGES = {
    "stop": (),
    "objective": WEIGHTS,
    "controller": ("name",),
    "pool": ("line",),
    "model": ("name",),
    "down": ("duration_s",),
}


@dataclass(frozen=True)
class CallRequest:
    """A call as a viewer requests it. `objective`: weights of throughput, latency and loss, sum 1. `beside`: the
    controller of a second call on an equal path; empty for none.
    """

    scenario: Scenario
    sender: SenderKind
    controller: str
    beside: str
    objective: tuple[float, float, float]
    duration_s: float
    width: int
    height: int


def read_call_request(data: Any, scenarios: Mapping[str, Scenario]) -> CallRequest:
    """Reads a request for a call from parsed JSON.

    Args:
        data: an object with `scenario` (a name), `sender`, `controller` (or a pool specification), `objective`,
            `duration_s` (5 to 600), `size` ("640x360" or "1280x720"), and `beside` (a controller of a browser, or "").
        scenarios: those that can be named.

    Raises:
        InputError: the request is invalid; the message names the field.
    """
    data = _object(data, ("scenario", "sender", "controller", "objective", "duration_s", "size", "beside"))
    name = data.get("controller")
    is_specification = isinstance(name, str) and is_pool(name)
    scenario = scenarios[choice(data, "scenario", scenarios)]
    beside = choice(data, "beside", ("", *BESIDE)) if "beside" in data else ""
    width, height = SIZES[choice(data, "size", SIZES)]
    return CallRequest(
        scenario=scenario,
        sender=cast(SenderKind, choice(data, "sender", ENDS)),
        # Viewers may not name files.
        controller=read_pool(name, models_from_files=False)
        if is_specification
        else choice(data, "controller", IN_CALLS),
        beside=beside if beside != name else "",
        objective=read_objective(_object(data.get("objective"), WEIGHTS, "objective")),
        duration_s=number_between(data, "duration_s", DURATION_S),
        width=width,
        height=height,
    )


def read_change(text: str) -> Order:
    """Reads a change to the running call. A `model` has a `name`; the caller finds its file.

    Raises:
        InputError: the change is invalid.
    """
    data = parse_json(text, "the message")
    kind = data.get("type") if isinstance(data, dict) else None
    if not isinstance(kind, str) or kind not in _CHANGES:
        raise InputError(f"type: one of {', '.join(_CHANGES)}")
    _object(data, ("type", *_CHANGES[kind]))
    if kind == "model":
        return {"type": kind, "name": data.get("name")}
    if kind == "pool":
        return {"type": kind, "line": read_pool(data.get("line"), models_from_files=False)}
    if kind == "down":
        number_between(data, "duration_s", LINK_DOWN_S)
    return checked_order(data)


def _object(data: Any, known: tuple[str, ...], name: str = "the message") -> dict[str, Any]:
    if not isinstance(data, dict):
        raise InputError(f"{name}: an object with {', '.join(known)}")
    unknown = [key for key in data if key not in known]
    if unknown:
        raise InputError(f"{name}: {str(unknown[0])[:40]!r} is not known; use {', '.join(known)}")
    return data
