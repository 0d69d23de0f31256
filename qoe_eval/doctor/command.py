"""`weir doctor`: what is there, and what to do about what is not."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from weir.errors import MissingComponent
from weir.installation import how_to_get
from weir.qoe_eval.doctor.components import Component, components


def doctor(as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False) -> None:
    """Show every component of Weir: its version, or what to install. Exit status 3 when a required one is missing."""
    found = components()
    missing = [component for component in found if component.required and component.found is None]
    if as_json:
        rows = [asdict(component) | {"required": component.required} for component in found]
        typer.echo(json.dumps({"ok": not missing, "components": rows}, indent=1))
    else:
        Console(soft_wrap=True).print(_table(found))
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
        needed = {"run": "run", "build": "build", "train": "train", "test": "test", "calls": "make calls"}[
            component.need
        ]
        table.add_row(component.name, state, needed, Text(component.found or component.remedy))
    return table
