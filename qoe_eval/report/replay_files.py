"""What the report of a replay leaves in its folder: summary, page, and tables where they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.progress import track

from weir.files.output import write_text
from weir.qoe_eval.measures.summary import summarise
from weir.qoe_eval.records import RunAbout, RunRecord, Summary
from weir.qoe_eval.report.csv_tables import write_results_csv, write_series_csv
from weir.qoe_eval.report.replay_page import render_report
from weir.qoe_eval.runs.families import summarise_families
from weir.qoe_eval.runs.objectives import summarise_objectives
from weir.qoe_eval.runs.progress import error_console
from weir.qoe_eval.runs.store import RunStore

SUMMARY = "summary.json"
REPORT = "report.html"


def summarise_replay(
    records: Sequence[RunRecord], objectives: Sequence[RunRecord], families: Sequence[RunRecord], run: RunAbout
) -> Summary:
    """The summary of a replay: of its main comparison, and of the runs under other objectives and on families."""
    summary = summarise(records, run)
    more: dict[str, object] = {}
    if found := summarise_objectives(objectives, records):
        more["objectives"] = found
    if families:
        more["families"] = summarise_families(families)
    return summary.model_copy(update=more)


def write_report(store: RunStore, records: Sequence[RunRecord], summary: Summary) -> Path:
    """Writes `summary.json` and `report.html` into the folder of the store; returns the page's path."""
    write_text(store.folder / SUMMARY, summary.text() + "\n")
    page = store.folder / REPORT
    write_text(page, render_report(store, records, summary))
    return page


def write_csv(store: RunStore, records: Sequence[RunRecord], *, quiet: bool) -> None:
    """Writes the tables of a replay beside its report, with a progress bar unless `quiet`."""
    write_results_csv(store.folder, records, "replay")
    console = error_console()
    hidden = quiet or not console.is_terminal
    write_series_csv(store, track(records, "writing tables", console=console, disable=hidden, transient=True))
