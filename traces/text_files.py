"""Text and JSON files, read and written with errors that a user can act on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from weir.traces.errors import InputError


def parse_json(text: str, source: str) -> Any:
    """JSON values of a text.

    Raises:
        InputError: no JSON; the message names source, line and column. NaN and infinities are no JSON.
    """

    def refuse(constant: str) -> Any:
        raise InputError(f"{source}: {constant} is no JSON number; write a finite number")

    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{source}: line {error.lineno}, column {error.colno}: not valid JSON ({error.msg}); mend the file there"
        ) from None
    except RecursionError:
        raise InputError(f"{source}: the JSON is nested too deeply; this is no scenario or trace") from None


def read_text(path: str | Path) -> str:
    """The text of a file.

    Raises:
        InputError: it is missing, unreadable, empty or no UTF-8 text.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the path") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is no UTF-8 text; give a text file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    if not text.strip():
        raise InputError(f"{path}: the file is empty; give a trace or a scenario")
    return text


def write_text(path: str | Path, text: str) -> None:
    """Writes a UTF-8 text file.

    Raises:
        InputError: it cannot be written.
    """
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); choose another path") from None
