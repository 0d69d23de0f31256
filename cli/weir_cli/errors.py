"""Errors that a user can fix, shared by every part of Weir."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from typing import NoReturn


class InputError(ValueError):
    """Input from a user is wrong: a file, an option, a value.

    The message has the error, its place and how to fix it.
    """


class DiskFull(InputError):
    """The disk has no room for a file; the file's name is valid."""


class ComponentFailed(RuntimeError):
    """A program that Weir runs does not start, died, hangs, or answers nonsense.

    The message names it and has the reason, with its own last words.
    """


class MissingComponent(RuntimeError):
    """A program, library or file that Weir needs is not installed.

    The message names it and how to get it.
    """


def closest(value: str, known: Iterable[str]) -> str:
    """Returns the name in `known` that is closest to a mistyped one; empty if none is close."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(value, list(known), n=1)), "")


def unknown(value: str, known: Iterable[str]) -> str:
    """Returns the end of a message about a name that is not in `known`: the closest name, if any, and all of them."""
    known = list(known)
    meant = closest(value, known)
    return f"{f'did you mean {meant}? ' if meant else ''}use {', '.join(known)}"


def end_interrupted(*signal_and_frame: object) -> NoReturn:
    """Handles Ctrl-C while modules load: ends the process, because an interrupted import raises unrelated errors."""
    with suppress(OSError):
        os.write(2, b"weir: interrupted\n")
    os._exit(1)
