"""Errors that a user can fix, shared by every part of Weir."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from typing import NoReturn


class InputError(ValueError):
    """Input from a user is wrong: a file, an option, a value.

    The message has the fault, its place and how to fix it.
    """


class DiskFull(InputError):
    """There is no room for a file: nothing is wrong with its name."""


class MissingComponent(RuntimeError):
    """A program, library or file that Weir needs is not installed.

    The message names it and how to get it.
    """


def closest(value: str, known: Iterable[str]) -> str:
    """The one of the names `known` that a mistyped name means; empty where none is close."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(value, list(known), n=1)), "")


def unknown(value: str, known: Iterable[str]) -> str:
    """The end of a message about a name that is none of `known`: the one that is meant, if any, and all of them."""
    known = list(known)
    meant = closest(value, known)
    return f"{f'did you mean {meant}? ' if meant else ''}use {', '.join(known)}"


def end_interrupted(*signal_and_frame: object) -> NoReturn:
    """Handles Ctrl-C while modules load: ends the process, since half an import is a traceback, or another error."""
    with suppress(OSError):
        os.write(2, b"weir: interrupted\n")
    os._exit(1)
