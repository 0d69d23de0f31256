"""What the commands of all papers share: options, and how a measurement with goals ends.

Everything that papers need of the bench comes from `weir.qoe_eval.runs`, `.measures` and `.report.goal_table`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from weir.files.output import write_text
from weir.qoe_eval.records import RunRecord
from weir.qoe_eval.report.goal_table import Bound, Row, measured, not_measured, print_rows, rows_document
from weir.qoe_eval.runs.progress import count_runs, end_with_failures

Record = RunRecord

OutOption = Annotated[Path, typer.Option(metavar="DIR", help="Folder for everything that the command writes.")]
SeedsOption = Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="Run with the seeds 1 to N.")]
JobsOption = Annotated[
    int | None, typer.Option(min=1, max=1024, metavar="N", help="Processes at once. Default: one for each core.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the JSON document, and no progress.")]


def goal_row(
    name: str,
    what: str,
    goal: Bound,
    value: float | None,
    detail: str = "",
    why: str = "no run completed",
    **figures: Any,
) -> Row:
    """The row of a goal; without a value it is not measured, and `why` says the reason."""
    return (
        not_measured(name, what, goal, why) if value is None else measured(name, what, goal, value, detail, **figures)
    )


def end_paper(
    name: str,
    rows: Sequence[Row],
    run: Mapping[str, Any],
    figures: Mapping[str, Any],
    pages: Mapping[Path, str],
    out: Path,
    console: Console,
    *,
    as_json: bool,
) -> None:
    """Writes `NAME.json` and the pages, prints the rows, and ends with status 1 when runs did not complete.

    Args:
        name: of the paper.
        rows: its goals.
        run: `command_record` with `runs` and `failures`.
        figures: further entries of the document.
        pages: contents by file; the first is named as the place of details.
        out: the folder.
        console: for complaints.
        as_json: print the document instead of the rows.
    """
    text = json.dumps({**rows_document(f"weir.{name}/1", rows, run), **figures}, indent=1, allow_nan=False) + "\n"
    write_text(out / f"{name}.json", text)
    for path, page in pages.items():
        write_text(path, page)
    if as_json:
        typer.echo(text, nl=False)
    else:
        print_rows(rows)
        typer.echo(f"\n{count_runs(run['runs'])} in {run['wall_s']:.1f} s. Details: {next(iter(pages))}")
    end_with_failures(run["failures"], console)
