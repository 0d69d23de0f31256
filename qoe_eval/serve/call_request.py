"""What a viewer may ask for: the settings of a new call, and changes to the one that runs. Everything that comes over
the network is checked here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, get_args

from weir._core import parse_pool
from weir.errors import InputError
from weir.files.input import parse_json
from weir.qoe_eval.call.logs.json_lines import number
from weir.qoe_eval.call.settings import SIZES, SenderKind
from weir.registry import IN_CALLS, WEIGHTS, is_pool, pool_members
from weir.traces.schema.scenario import Scenario

SENDERS: tuple[SenderKind, ...] = get_args(SenderKind)
DURATION_S = (5.0, 600.0)
LINK_DOWN_S = (0.5, 30.0)

_Name = TypeVar("_Name", bound=str)


@dataclass(frozen=True)
class CallRequest:
    """One call as a viewer wants it. `objective`: weights of throughput, latency and loss, sum 1."""

    scenario: Scenario
    sender: SenderKind
    controller: str
    objective: tuple[float, float, float]
    duration_s: float
    width: int
    height: int


def read_call_request(data: Any, scenarios: Mapping[str, Scenario]) -> CallRequest:
    """A request for a call from parsed JSON.

    Args:
        data: an object with `scenario` (a name), `sender`, `controller` (or a pool's line), `objective` (as
            `read_objective`), `duration_s` (5 to 600), and `size` ("640x360" or "1280x720").
        scenarios: those that can be named.

    Raises:
        InputError: it is no such object; the message names the field.
    """
    fields = ("scenario", "sender", "controller", "objective", "duration_s", "size")
    data = _object(data, fields)
    name = _choice(data, "scenario", scenarios)
    width, height = SIZES[_choice(data, "size", SIZES)]
    return CallRequest(
        scenario=scenarios[name],
        sender=_choice(data, "sender", SENDERS),
        controller=_controller(data),
        objective=read_objective(data.get("objective")),
        duration_s=_number(data, "duration_s", DURATION_S),
        width=width,
        height=height,
    )


def _controller(data: Mapping[str, Any]) -> str:
    name = data.get("controller")
    return _pool(name) if isinstance(name, str) and is_pool(name) else _choice(data, "controller", IN_CALLS)


def _pool(line: Any) -> str:
    """A pool's line, whose members are controllers by name: whoever may ask for a call may not name files."""
    try:
        members = pool_members(line if isinstance(line, str) else "")
    except ValueError as error:
        raise InputError(str(error)) from None
    if any(":" in member for member in members):
        raise InputError("pool: models from files are for `weir call`; use the names of controllers")
    return str(parse_pool(line)["line"])


def read_objective(data: Any) -> tuple[float, float, float]:
    """Weights of throughput, latency and loss from an object with these three names; divided by their sum, and rounded
    to six digits.

    Raises:
        InputError: not three numbers above 0 and at most 1, or one is next to nothing beside the others.
    """
    data = _object(data, WEIGHTS, "objective")
    weights = [number(data.get(name), 0.0, 1.0) or 0.0 for name in WEIGHTS]
    if min(weights) <= 0:
        raise InputError("objective: three weights (throughput, latency, loss), each above 0 and at most 1")
    throughput, latency = (round(weight / sum(weights), 6) for weight in weights[:2])
    shares = throughput, latency, round(1 - throughput - latency, 6)
    if min(shares) <= 0:
        raise InputError("objective: each weight must be at least a millionth of their sum")
    return shares


def read_control(text: str) -> dict[str, Any]:
    """A control message for the call that runs, as `run_call` takes it; of a model its `name`, which is yet to be found
    among those that there are.

    Raises:
        InputError: it is none.
    """
    data = parse_json(text, "the message")
    kind = data.get("type") if isinstance(data, dict) else None
    if kind == "stop":
        _object(data, ("type",))
        return {"type": "stop"}
    if kind == "objective":
        weights = read_objective({name: value for name, value in data.items() if name != "type"})
        return {"type": kind} | dict(zip(WEIGHTS, weights, strict=True))
    if kind == "controller":
        return {"type": kind, "name": _choice(_object(data, ("type", "name")), "name", IN_CALLS)}
    if kind == "pool":
        return {"type": kind, "line": _pool(_object(data, ("type", "line")).get("line"))}
    if kind == "model":
        return {"type": kind, "name": _object(data, ("type", "name")).get("name")}
    if kind == "down":
        return {"type": kind, "duration_s": _number(_object(data, ("type", "duration_s")), "duration_s", LINK_DOWN_S)}
    raise InputError("type: stop, objective, controller, pool, model or down")


def _object(data: Any, known: tuple[str, ...], name: str = "the message") -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise InputError(f"{name}: an object with {', '.join(known)}")
    unknown = [key for key in data if key not in known]
    if unknown:
        raise InputError(f"{name}: {str(unknown[0])[:40]!r} is not known; use {', '.join(known)}")
    return data


def _choice(data: Mapping[str, Any], field: str, choices: Collection[_Name]) -> _Name:
    for choice in choices:
        if choice == data.get(field):
            return choice
    shown = ", ".join(list(choices)[:4]) + (", ..." if len(choices) > 4 else "")
    raise InputError(f"{field}: one of {shown}, not {str(data.get(field))[:40]!r}")


def _number(data: Mapping[str, Any], field: str, bounds: tuple[float, float]) -> float:
    value = number(data.get(field), *bounds)
    if value is None:
        raise InputError(f"{field}: a number from {bounds[0]:g} to {bounds[1]:g}")
    return float(value)
