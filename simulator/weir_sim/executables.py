"""Finds the programs that the build installs beside Python: `weir-sim` and those of `make webrtc`."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Literal

from weir_cli.errors import MissingComponent
from weir_cli.installation import how_to_get

Stack = Literal["model", "libwebrtc"]
"""Sender and receiver of the RTP flows of a simulation: the simulator's own, or libwebrtc's in simulated time."""


def find_simulator(executable: str | os.PathLike[str] | None = None) -> Path:
    """The path of `weir-sim`; see `find_program`."""
    return find_program("weir-sim", executable)


def find_virtual_call() -> Path:
    """The path of `weir-virtual-call`; see `find_program`."""
    return find_program("weir-virtual-call")


def find_stack(stack: Stack) -> Path:
    """The path of the program that simulates on a stack; both accept the same jobs and frames. See `find_program`."""
    return find_virtual_call() if stack == "libwebrtc" else find_simulator()


def find_peer() -> Path:
    """The path of `weir-peer`; see `find_program`."""
    return find_program("weir-peer")


def find_event_log() -> Path:
    """The path of `weir-event-log`; see `find_program`."""
    return find_program("weir-event-log")


def find_program(name: str, program: str | os.PathLike[str] | None = None) -> Path:
    """The path of a program: `program`, else the value of its environment variable, WEIR_SIM for `weir-sim`, else
    beside this Python, else on PATH.

    Raises:
        MissingComponent: it is in none of these places.
    """
    variable, target = name.upper().replace("-", "_"), "build" if name == "weir-sim" else "webrtc"
    named = program or os.environ.get(variable)
    if named:
        path = Path(named)
        if _is_executable(path):
            return path.absolute()
        origin = "given" if program else f"named by the environment variable {variable}"
        raise MissingComponent(
            f"{name}: {path} ({origin}) is not an executable file: correct the path, or build it: {how_to_get(target)}"
        )
    beside = Path(sys.executable).parent / name
    if _is_executable(beside):
        return beside
    on_path = shutil.which(name)
    if on_path:
        return Path(on_path).absolute()
    raise MissingComponent(
        f"{name} was found neither beside {sys.executable} nor on PATH: {how_to_get(target)} builds it; or name one in "
        f"the environment variable {variable}"
    )


def _is_executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
