"""`weir doctor`: the components of Weir on this machine, and how to install missing ones."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib.metadata import entry_points
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from weir_cli.components import Component
from weir_cli.console import output_console
from weir_cli.errors import MissingComponent
from weir_cli.installation import how_to_get

# Line width outside a terminal: longer than any path, so that text to copy or search stays on one line.
_LONGEST_LINE = 10_000


def doctor(as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False) -> None:
    """Show every component of Weir: its version, or what to install. Exit status 3 if a required one is missing."""
    found = components()
    missing = [component for component in found if component.required and component.found is None]
    if as_json:
        rows = [asdict(component) | {"required": component.required} for component in found]
        typer.echo(json.dumps({"ok": not missing, "components": rows}, indent=1))
    else:
        output_console(pipe_width=_LONGEST_LINE).print(_table(found))
    if missing:
        names = ", ".join(component.name for component in missing)
        raise MissingComponent(
            f"doctor: required and not there: {names}; {how_to_get('build')} installs and builds what is missing"
        )


def _table(found: list[Component]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("component", "", "needed to", "version, or what to do"):
        table.add_column(heading, overflow="fold")
    for component in found:
        state = Text("ok", "green") if component.found else Text("missing", "red" if component.required else "yellow")
        needed = "make calls" if component.need == "calls" else component.need
        table.add_row(component.name, state, needed, Text(component.found or component.remedy))
    return table


def components() -> list[Component]:
    """The components of all installed distributions, the required first. Runs programs for their versions."""
    registered = sorted(entry_points(group="weir.components"), key=lambda entry: (entry.name != "cli", entry.name))
    found = [component for entry in registered for component in entry.load()()]
    return sorted(found, key=lambda component: not component.required)
