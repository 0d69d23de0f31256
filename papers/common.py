"""Shared by the commands of all papers: options, rows of goals, and the end of a measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from weir.qoe_eval.evaluate.ending import finish
from weir.qoe_eval.records import RunRecord
from weir.qoe_eval.report.goal_table import Bound, Row, measured, not_measured, print_rows, rows_document

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
    """The row of a goal; without a value it is not measured, and `why` is the reason."""
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
    """Writes `NAME.json` and the pages, prints the rows, and ends with status 1 when runs did not complete. `figures`
    are further entries of the document.
    """
    document = {**rows_document(f"weir.{name}/1", rows, run), **figures}
    finish(document, out / f"{name}.json", pages, lambda: print_rows(rows), console, as_json=as_json)
