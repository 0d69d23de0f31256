"""The end of a command that measures goals: its files, its tables, its exit status."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from weir.console import counted
from weir.files.output import write_text
from weir.qoe_eval.runs.progress import end_with_failures


def finish(
    document: Mapping[str, Any],
    summary: Path,
    pages: Mapping[Path, str],
    show: Callable[[], None],
    console: Console,
    *,
    as_json: bool,
) -> None:
    """Writes what was measured, shows it, and ends with status 1 when something did not complete. `run` of the document
    has `wall_s`, `runs` or `calls`, and `failures`. The first page is named as the place of details.

    Raises:
        typer.Exit: status 1, after a message: runs or calls did not complete.
    """
    run = document["run"]
    text = json.dumps(document, indent=1, allow_nan=False) + "\n"
    write_text(summary, text)
    for path, page in pages.items():
        write_text(path, page)
    if as_json:
        typer.echo(text, nl=False)
    else:
        show()
        made = counted(run["runs"], "run") if "runs" in run else counted(run["calls"], "call")
        typer.echo(f"\n{made} in {run['wall_s']:.1f} s. Details: {next(iter(pages), summary)}")
    end_with_failures(run["failures"], console)
