"""Custom controllers: a Python class, a program, a shared library, a policy model."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weir import custom_python_class
from weir_cli.errors import InputError
from weir_cli.files.input import check_utf8, printable, sha256_of_file

HOW = "FILE.py:CLASS, ./LIBRARY.so, ./PROGRAM, FILE.onnx or, without the guard, FILE.onnx:bare for a custom controller"
DEFAULT_TIME_LIMIT_S = 1.0
_PYTHON = re.compile(r"(?P<file>.*\.py)(?::(?P<class>[^:/]*))?", re.DOTALL)
_MODEL = re.compile(r"(?P<file>.*\.onnx)(?P<bare>:bare)?", re.DOTALL)
# Valid names, which become part of file names and of the page.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True)
class CustomController:
    """A controller in a file of the user.

    `name` is for tables and files. Exactly one of `command`, a program with JSON lines, `library` and `model` is set.
    `identity` changes with the content of the file, but not of files that it reads or imports. `guard`: run a model
    with the guard.
    """

    name: str
    source: str
    identity: str
    command: tuple[str, ...] = ()
    library: str = ""
    model: str = ""
    guard: bool = True
    time_limit_s: float = DEFAULT_TIME_LIMIT_S

    @property
    def sha256(self) -> str:
        """SHA-256 of the file."""
        return self.identity.partition(":")[0]

    def job(self) -> dict[str, Any]:
        """The value of `custom` in a job of weir-sim and, except for models, for weir-peer."""
        if self.model:
            return {"kind": "policy", "model": self.model, "guard": self.guard}
        program = {"library": self.library} if self.library else {"command": list(self.command)}
        return {"kind": "library" if self.library else "program", "time_limit_s": self.time_limit_s} | program


def is_custom(text: str) -> bool:
    """True for the name of a file, not of a built-in controller."""
    return "/" in text or text.endswith(".so") or any(kind.fullmatch(text) for kind in (_PYTHON, _MODEL))


def read_custom_controller(text: str, time_limit_s: float = DEFAULT_TIME_LIMIT_S) -> CustomController:
    """Reads the file of `--controller TEXT` without running it.

    Raises:
        InputError: there is no such file, or it cannot be a controller.
    """
    python = _PYTHON.fullmatch(text)
    if python and python["class"] is None and os.access(text, os.X_OK):
        # An executable Python file is a program.
        python = None
    elif python and not python["class"]:
        raise InputError(
            f"--controller '{text}': name the class too, as in {python['file']}:Controller; a program needs chmod +x"
        )
    model = _MODEL.fullmatch(text)
    path = Path((python or model or {"file": text})["file"]).absolute()
    if path.exists() and not path.is_file():
        raise InputError(f"--controller '{printable(text)}': is no regular file; use {HOW}")
    check_utf8("--controller", path)
    try:
        digest = sha256_of_file(path)
    except OSError as error:
        raise InputError(f"--controller '{text}': {path} cannot be read ({error.strerror})") from None
    name = path.stem
    if not NAME.fullmatch(name):
        raise InputError(
            f"--controller '{text}': results are told apart by the name of the file; rename it, with letters, digits, "
            "_ and - only, 64 at most"
        )
    if python:
        # -P: do not search this file's folder for the user's imports.
        runner = str(Path(custom_python_class.__file__))
        command = (sys.executable, "-P", runner, str(path), python["class"])
        return CustomController(name, text, f"{digest}:{python['class']}", command=command, time_limit_s=time_limit_s)
    if model:
        bare = model["bare"] is not None
        identity = f"{digest}:bare" if bare else digest
        return CustomController(f"{name}-bare" if bare else name, text, identity, model=str(path), guard=not bare)
    if path.suffix == ".so":
        return CustomController(name, text, digest, library=str(path), time_limit_s=time_limit_s)
    if not os.access(path, os.X_OK):
        raise InputError(f"--controller '{text}': it is no program (chmod +x makes it one); use {HOW}")
    return CustomController(name, text, digest, command=(str(path),), time_limit_s=time_limit_s)


def check_custom_names(custom: Sequence[CustomController], built_in: Sequence[str]) -> None:
    """Raises InputError if two controllers have the same name, or one has the name of a built-in one."""
    by_name: dict[str, CustomController] = {}
    for controller in custom:
        if controller.name in built_in:
            raise InputError(
                f"--controller '{controller.source}': there is a controller {controller.name} already; rename the file"
            )
        other = by_name.setdefault(controller.name, controller)
        if other.source != controller.source:
            raise InputError(
                f"--controller '{controller.source}': results would be called {controller.name}, and so would those of "
                f"{other.source}; rename one of the files, or replay them apart"
            )
