"""``weir traces list``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from weir_traces.listing import read_index


def list_scenarios(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON array on stdout.")] = False,
    rfc8867: Annotated[bool, typer.Option("--rfc8867", help="The RFC 8867 cases too.")] = False,
    calls: Annotated[bool, typer.Option("--calls", help="Those of published experiments with calls too.")] = False,
    pantheon: Annotated[bool, typer.Option("--pantheon", help="Pantheon's emulators too.")] = False,
) -> None:
    """List the bundled scenarios."""
    index = read_index()
    chosen = {"bundled": True, "rfc8867": rfc8867, "calls": calls, "pantheon": pantheon}
    rows = [row for group, wanted in chosen.items() if wanted for row in index[group]]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    from rich.table import Table

    from weir_cli.console import output_console

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
