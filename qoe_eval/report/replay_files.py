"""What the report of a replay leaves in its folder: summary, page, and tables where they are asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.progress import track

from weir.files.output import write_text
from weir.qoe_eval.measures.metric_table import METRICS
from weir.qoe_eval.report.csv_tables import write_results_csv, write_series_csv
from weir.qoe_eval.report.replay_page import render_report
from weir.qoe_eval.runs.progress import error_console
from weir.qoe_eval.runs.store import RunStore

SUMMARY = "summary.json"
REPORT = "report.html"


def write_report(store: RunStore, records: Sequence[Mapping[str, Any]], summary: Mapping[str, Any]) -> Path:
    """Writes `summary.json` and `report.html` into the folder of the store; returns the page's path."""
    write_text(store.folder / SUMMARY, json.dumps(summary, indent=1, allow_nan=False) + "\n")
    page = store.folder / REPORT
    write_text(page, render_report(store, records, summary))
    return page


def write_csv(store: RunStore, records: Sequence[Mapping[str, Any]], *, quiet: bool) -> None:
    """Writes the tables of a replay beside its report, with a progress bar unless `quiet`."""
    write_results_csv(store.folder, records, METRICS)
    console = error_console()
    hidden = quiet or not console.is_terminal
    write_series_csv(store, track(records, "writing tables", console=console, disable=hidden, transient=True))
