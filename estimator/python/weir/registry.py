"""Tables of the compiled library: rate controllers, objective presets, guard rules.

Options, schemas, tables and pages take their names from here. `docs/design.md` describes how to add one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from weir._core import CONTROLLERS as CONTROLLERS
from weir._core import FEATURES, OBJECTIVE_PRESETS, parse_pool
from weir._core import GUARD_RULES as GUARD_RULES
from weir._core import field_trials as field_trials
from weir.errors import InputError

SIMULATED: Final[tuple[str, ...]] = tuple(name for name, one in CONTROLLERS.items() if one.simulated)
"""The controllers that weir-sim runs."""
COMPARED: Final[tuple[str, ...]] = tuple(name for name in SIMULATED if not CONTROLLERS[name].opt_in)
"""The simulated controllers that a replay runs by default."""
IN_CALLS: Final[tuple[str, ...]] = tuple(name for name, one in CONTROLLERS.items() if one.in_calls)
"""The controllers of real calls."""
AT_NATIVE_SENDER: Final[tuple[str, ...]] = tuple(name for name, one in CONTROLLERS.items() if one.at_native_sender)
"""The controllers that a native sender of a call runs itself, instead of following its receiver."""

POLICY: Final = "weir"
"""The controller that runs the policy model at the receiver."""
POLICY_FILE: Final = "weir:"
"""Prefix of a pool's member that is a policy from a file."""
LIBWEBRTC_SENDERS: Final[tuple[str, ...]] = tuple(
    name for name, one in CONTROLLERS.items() if one.field_trials is not None
)
"""libwebrtc's controllers at the sender, which work with any receiver; field trials may follow their names."""
LIBWEBRTC: Final[tuple[str, ...]] = (*LIBWEBRTC_SENDERS, "scream-ccfb", "gcc-remb", "pcc")
"""The controllers whose code is libwebrtc's."""


def without_field_trials(controller: str) -> str:
    """Returns `gcc` for `gcc:TRIAL/GROUP/`, and any other controller unchanged."""
    name = controller.partition(":")[0]
    return name if name in LIBWEBRTC_SENDERS else controller


def is_pool(controller: str) -> bool:
    """True for a pool specification, such as `pilot=weir copilots=nada fusion=min`."""
    return "=" in controller


def pool_members(line: str) -> tuple[str, ...]:
    """Returns the members of a pool specification, its pilot first.

    Raises:
        ValueError: the specification is malformed; the message gives the character.
    """
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


def check_features(names: Sequence[str]) -> None:
    """Raises InputError unless there is at least one name, and each is unique and in `weir.FEATURES`."""
    unknown = [name for name in names if name not in FEATURES]
    if unknown or not names or len(set(names)) != len(names):
        wrong = f"unknown: {', '.join(unknown)}" if unknown else "at least one, each once"
        raise InputError(f"features: {wrong}. Known are {', '.join(FEATURES)}")
