"""``weir traces list``, and the names of bundled scenarios, from an index beside the catalogue; none is loaded."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Annotated, Any

import typer

from weir.errors import InputError, closest
from weir.files.input import printable, why

INDEX = Path(__file__).parent / "catalogue.json"
"""The rows of the list by their group (bundled, rfc8867, calls, pantheon); written with the catalogue."""

CATALOGUE = "catalogue"
"""The name of all bundled scenarios where a command takes files; `catalogue/GROUP` and `catalogue/NAME` are some."""
GROUPS = ("rfc8867", "calls", "pantheon")


def check_input(name: str) -> None:
    """Refuses an input of a command that is neither a file that can be read nor a name in the catalogue.

    Raises:
        InputError: it is not; the message has the bundled scenario that is meant, where one is close.
    """
    first, _, rest = name.partition("/")
    if first == CATALOGUE and not os.path.isfile(name):
        if rest and rest not in GROUPS and rest.removesuffix(".json") not in bundled():
            raise not_bundled(rest)
        return
    try:
        fault = "is a folder; name a file in it" if stat.S_ISDIR(os.stat(name).st_mode) else ""
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
    return [row["name"] for rows in _index().values() for row in rows]


def not_bundled(name: str) -> InputError:
    """The error of a name that no bundled scenario has."""
    meant = closest(name, bundled())
    fix = f"did you mean {CATALOGUE}/{meant}? " if meant else ""
    return InputError(f'no bundled scenario "{printable(name)}"; {fix}"weir traces list" shows them all')


def _index() -> dict[str, list[dict[str, Any]]]:
    return json.loads(INDEX.read_text(encoding="utf-8"))


def list_scenarios(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON array on stdout.")] = False,
    rfc8867: Annotated[bool, typer.Option("--rfc8867", help="The RFC 8867 cases too.")] = False,
    calls: Annotated[bool, typer.Option("--calls", help="Those of published experiments with calls too.")] = False,
    pantheon: Annotated[bool, typer.Option("--pantheon", help="Pantheon's emulators too.")] = False,
) -> None:
    """List the bundled scenarios."""
    index = _index()
    chosen = {"bundled": True, "rfc8867": rfc8867, "calls": calls, "pantheon": pantheon}
    rows = [row for group, wanted in chosen.items() if wanted for row in index[group]]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    from rich.table import Table

    from weir.console import output_console

    heads = ("scenario", "duration", "capacity, Mbps", "delay", "queue", "loss", "flows", "what it is")
    table = Table(*heads, box=None, header_style="dim", pad_edge=False)
    for row in rows:
        low, mean, high = (row[f"{key}_capacity_bps"] / 1e6 for key in ("min", "mean", "max"))
        capacity = f"{mean:g}" if low == high else f"{low:.3g} - {mean:.3g} - {high:.3g}"
        delay, seconds = f"{row['one_way_delay_ms']:g} ms", f"{row['duration_s']:g} s"
        table.add_row(
            row["name"], seconds, capacity, delay, row["queue"], row["loss"], row["flows"], row["description"]
        )
    output_console(pipe_width=160).print(table)
