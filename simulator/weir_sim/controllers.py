"""The rate controllers that Weir's programs run, and the names of objectives and guard rules.

Options, tables and pages take their names from here. `weir-sim --list` has the same simulated controllers: a test
compares both. `docs/design.md` describes how to add one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from weir import GUARD_RULES as GUARD_RULES
from weir import OBJECTIVE_PRESETS, parse_pool


@dataclass(frozen=True, kw_only=True)
class Controller:
    """A rate controller of `weir-sim` or of real calls.

    `at_native_sender`: a native sender of a call runs it itself, instead of following its receiver. `uses_model`: a
    model computes its estimates, which depend on the objective. `knows_path`: it has information that no receiver has,
    so it is an upper bound rather than a competitor. `opt_in`: it runs only where it is named. `field_trials`: those
    that select a libwebrtc controller at the sender; more may follow its name. `libwebrtc_milestone`: the first
    milestone of libwebrtc that has it; 0 for any.
    """

    summary: str
    simulated: bool = True
    in_calls: bool = False
    at_native_sender: bool = False
    uses_model: bool = False
    knows_path: bool = False
    opt_in: bool = False
    field_trials: str | None = None
    libwebrtc_milestone: int = 0


CONTROLLERS: Final[dict[str, Controller]] = {
    "weir": Controller(summary="a learned policy at the receiver, behind the guard", in_calls=True, uses_model=True),
    "gcc": Controller(summary="Google congestion control at the sender, libwebrtc's", in_calls=True, field_trials=""),
    "scream": Controller(
        summary="SCReAM v2 at the sender, libwebrtc's",
        field_trials="WebRTC-Bwe-ScreamV2/mode:always/",
        libwebrtc_milestone=150,
    ),
    "scream-ccfb": Controller(summary="scream, from RFC 8888 feedback", libwebrtc_milestone=150),
    "gcc-remb": Controller(summary="Google congestion control at the receiver, libwebrtc's"),
    "pcc": Controller(summary="PCC Vivace, libwebrtc's"),
    "nada": Controller(summary="NADA, RFC 8698"),
    "rule": Controller(summary="ten lines without learning"),
    "fixed": Controller(summary="a constant rate"),
    "oracle": Controller(summary="follows the true capacity of the path", knows_path=True),
    "weir-send": Controller(
        summary="weir at the sender, from transport feedback", at_native_sender=True, uses_model=True, opt_in=True
    ),
    "weir-send-ccfb": Controller(
        summary="weir-send, from RFC 8888 feedback", at_native_sender=True, uses_model=True, opt_in=True
    ),
    "shadow": Controller(
        summary="gcc decides; weir runs in parallel and is only shown", simulated=False, in_calls=True, uses_model=True
    ),
    "ndtc": Controller(summary="draft-ageneau-ccwg-ndtc-01 at the receiver", opt_in=True),
    "oracle-present": Controller(
        summary="follows the capacity of the last 50 ms, without foresight", knows_path=True, opt_in=True
    ),
    "oracle-receiver": Controller(summary="oracle-present, at the receiver", knows_path=True, opt_in=True),
    "mocc": Controller(
        summary="weir-send behind MOCC's interface: statistics of intervals", uses_model=True, opt_in=True
    ),
}
"""By name: lower case with hyphens. In the order in which reports list them."""
SIMULATED: Final[tuple[str, ...]] = tuple(name for name, row in CONTROLLERS.items() if row.simulated)
"""The controllers that weir-sim runs."""
COMPARED: Final[tuple[str, ...]] = tuple(name for name in SIMULATED if not CONTROLLERS[name].opt_in)
"""The simulated controllers that a replay runs by default."""
IN_CALLS: Final[tuple[str, ...]] = tuple(name for name, row in CONTROLLERS.items() if row.in_calls)
"""The controllers of real calls."""
AT_NATIVE_SENDER: Final[tuple[str, ...]] = tuple(name for name, row in CONTROLLERS.items() if row.at_native_sender)
"""The controllers that a native sender of a call runs itself, instead of following its receiver."""

POLICY: Final = "weir"
"""The controller that runs the policy model at the receiver."""
POLICY_FILE: Final = "weir:"
"""Prefix of a pool's member that is a policy from a file."""
LIBWEBRTC_SENDERS: Final[tuple[str, ...]] = tuple(
    name for name, row in CONTROLLERS.items() if row.field_trials is not None
)
"""libwebrtc's controllers at the sender, which work with any receiver; field trials may follow their names."""
LIBWEBRTC: Final[tuple[str, ...]] = (*LIBWEBRTC_SENDERS, "scream-ccfb", "gcc-remb", "pcc")
"""The controllers whose code is libwebrtc's."""


def without_field_trials(controller: str) -> str:
    """Returns `gcc` for `gcc:TRIAL/GROUP/`, and any other controller unchanged."""
    name = controller.partition(":")[0]
    return name if name in LIBWEBRTC_SENDERS else controller


def field_trials(controller: str) -> str:
    """Returns libwebrtc's field trials for a controller such as `gcc:TRIAL/GROUP/`, including those that select it, in
    the order of their names.

    Raises:
        ValueError: libwebrtc would reject them, or the controller has none.
    """
    name, _, text = controller.partition(":")
    row = CONTROLLERS.get(name)
    if row is None or row.field_trials is None:
        raise ValueError(f"{name} has no field trials; {' and '.join(LIBWEBRTC_SENDERS)} do")
    trials = _parse_field_trials(text)
    for trial, group in _parse_field_trials(row.field_trials).items():
        if group not in trials.setdefault(trial, group):
            raise ValueError(f'field trials "{controller}": {trial} must contain {group}')
    return "".join(f"{trial}/{trials[trial]}/" for trial in sorted(trials))


def _parse_field_trials(text: str) -> dict[str, str]:
    """Groups by trial."""
    trials: dict[str, str] = {}
    parts = text.split("/")
    if parts.pop() or len(parts) % 2 or not all(parts):
        raise ValueError(f'field trials "{text}": each needs a name and a group, as in TRIAL/GROUP/')
    for trial, group in zip(parts[::2], parts[1::2], strict=True):
        if not re.fullmatch(r"[\w.,:;|+-]+", trial + group, re.ASCII):
            raise ValueError(f'field trials "{text}": only letters, digits and _-.,:;|+ besides the slashes')
        if trial in trials:
            raise ValueError(f'field trials "{text}": a trial is there twice')
        trials[trial] = group
    return trials


def is_pool(controller: str) -> bool:
    """True for a pool specification, such as `pilot=weir copilots=nada fusion=min`."""
    return "=" in controller


def pool_members(line: str) -> tuple[str, ...]:
    """Returns the members of a pool specification, its pilot first.

    Raises:
        ValueError: the specification is malformed; the message gives the character.
    """
    try:
        line.encode()
    except UnicodeEncodeError as error:
        # A surrogate: a byte of the command line that is not UTF-8, which the library refuses as another type.
        raise ValueError(f"character {error.start + 1} is no UTF-8 text; correct it") from None
    pool = parse_pool(line)
    return (pool["pilot"], *pool["copilots"])


def uses_model(controller: str) -> bool:
    """True when the run's model makes the estimates, alone or in a pool; false for custom controllers."""
    if is_pool(controller):
        return "weir" in pool_members(controller)
    return controller in CONTROLLERS and CONTROLLERS[controller].uses_model


def knows_path(controller: str) -> bool:
    """True when the controller has information that no receiver has: an upper bound, not a competitor."""
    return controller in CONTROLLERS and CONTROLLERS[controller].knows_path


PRESETS: Final[dict[str, tuple[float, float, float]]] = OBJECTIVE_PRESETS
"""Objectives by name: the weights of throughput, latency and loss."""
DEFAULT_PRESET: Final[str] = next(iter(PRESETS))
WEIGHTS: Final = ("throughput", "latency", "loss")
"""Names of the three weights of an objective."""
