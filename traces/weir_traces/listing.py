"""The rows and names of bundled scenarios, from the catalogue's index; loads no scenario."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

from weir_cli.errors import InputError, closest
from weir_cli.files.input import printable, why

INDEX = Path(__file__).parent / "catalogue.json"
"""The index: rows by group (bundled, rfc8867, calls, pantheon); written with the catalogue."""

CATALOGUE = "catalogue"
"""Names all bundled scenarios where a command takes files; `catalogue/GROUP` and `catalogue/NAME` select some."""
GROUPS = ("rfc8867", "calls", "pantheon")


def check_input(name: str) -> None:
    """Refuses a command input that is neither a readable file nor a name in the catalogue.

    Raises:
        InputError: it is neither; the message suggests a bundled scenario with a similar name.
    """
    first, _, rest = name.partition("/")
    if first == CATALOGUE and not os.path.isfile(name):
        if rest and rest not in GROUPS and rest.removesuffix(".json") not in bundled():
            raise not_bundled(rest)
        return
    try:
        fault = "is a folder; name files in it, such as FOLDER/*.json" if stat.S_ISDIR(os.stat(name).st_mode) else ""
        if not fault and not os.access(name, os.R_OK):
            fault = f"cannot be read ({os.strerror(errno.EACCES)}); check its permissions"
    except FileNotFoundError:
        meant = closest(name, bundled())
        fault = f"no such file; {f'did you mean {CATALOGUE}/{meant}?' if meant else 'check the path'}"
    except (OSError, ValueError) as error:
        fault = f"cannot be read ({why(error)}); check the path"
    if fault:
        raise InputError(f"{printable(name)}: {fault}")


def bundled() -> list[str]:
    """The names of the bundled scenarios of all groups."""
    return [row["name"] for rows in read_index().values() for row in rows]


def not_bundled(name: str) -> InputError:
    """The error for a name that no bundled scenario has."""
    meant = closest(name, bundled())
    fix = f"did you mean {CATALOGUE}/{meant}? " if meant else ""
    return InputError(f'no bundled scenario "{printable(name)}"; {fix}"weir traces list" shows them all')


def read_index() -> dict[str, list[dict[str, Any]]]:
    """The rows of the index by group."""
    return json.loads(INDEX.read_text(encoding="utf-8"))
