"""Values that a user writes on the command line: objectives, controllers, a model's file."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from weir.traces.errors import InputError
from weir.traces.input_files import LARGEST_MODEL_BYTES, printable
from weir.trainer.gym.episode import checked_objective
from weir.trainer.gym.specification import PRESETS

CONTROLLERS = ("weir", "gcc", "gcc-remb", "pcc", "nada", "rule", "fixed", "oracle")


def parse_objective(text: str) -> tuple[float, float, float]:
    """Weights of throughput, latency and loss from `T,L,P` (divided by their sum) or the name of a preset.

    Raises:
        InputError: neither.
    """
    how = f"give three weights above 0 such as 0.4,0.5,0.1, or one of {', '.join(PRESETS)}"
    try:
        weights = checked_objective(text if text in PRESETS else [float(part) for part in text.split(",")])
    except ValueError:
        raise InputError(f"--objective {text}: {how}") from None
    # Rounded, so that 4,5,1 and 0.4,0.5,0.1 are the same run.
    throughput, latency, loss = (round(weight, 6) for weight in weights)
    return throughput, latency, loss


def check_controllers(names: Sequence[str]) -> list[str]:
    """The names, each once, in their order; all controllers for none.

    Raises:
        InputError: an unknown name.
    """
    for name in names:
        if name not in CONTROLLERS:
            raise InputError(f"--controller {name}: not known; use {', '.join(CONTROLLERS)}")
    return list(dict.fromkeys(names)) or list(CONTROLLERS)


def check_model(path: Path | None) -> None:
    """Refuses a file that can be no model, before anything runs; None is none.

    Raises:
        InputError: it is missing, no file, or far too large.
    """
    if path is None or (path.is_file() and 0 < path.stat().st_size <= LARGEST_MODEL_BYTES):
        return
    if not path.exists():
        fault = "no such file"
    elif not path.is_file():
        fault = "is no file"
    else:
        fault = f"has {path.stat().st_size} bytes; a model has some, and at most {LARGEST_MODEL_BYTES >> 20} MiB"
    raise InputError(f"--model {printable(path)}: {fault}; give an ONNX file such as 'weir export' writes")


def given_command() -> str:
    """The command as it was given, for a report."""
    return printable(shlex.join(["weir", *sys.argv[1:]]))
