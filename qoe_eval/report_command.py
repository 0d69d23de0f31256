"""`weir report`: makes summary and page again from a results or training folder, or a page from a browser's dump."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from weir.qoe_eval import training_report
from weir.qoe_eval.call import call_report
from weir.qoe_eval.call.dump_command import webrtc_internals
from weir.qoe_eval.objectives import FOLDER, summarise_objectives
from weir.qoe_eval.report import render_report
from weir.qoe_eval.run_store import RESULTS, RunStore
from weir.qoe_eval.summary import in_order, summarise
from weir.traces.errors import InputError

SUMMARY = "summary.json"
REPORT = "report.html"
_OF_A_FOLDER = "folder"


class _FolderUnlessNamed(TyperGroup):
    """`weir report DIR` is short for `weir report folder DIR`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] != "--help"):
            args = [_OF_A_FOLDER, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_FolderUnlessNamed,
    subcommand_metavar="RESULTS_DIR | webrtc-internals DUMP",
    help="Make a report: of a results or training folder, or of a dump that a browser saved.",
)


@app.command(_OF_A_FOLDER)
def report(
    results_dir: Annotated[
        Path,
        typer.Argument(metavar="RESULTS_DIR", help="A folder that 'weir replay', 'call' or 'train' has written."),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Makes summary.json and report.html again, also when it was interrupted. 'weir report DIR' is short for it."""
    summary, page = (
        call_report.rewrite(results_dir) or training_report.rewrite(results_dir) or _report_of_runs(results_dir)
    )
    typer.echo(json.dumps(summary, indent=1) if as_json else str(page))


app.command("webrtc-internals")(webrtc_internals)


def _report_of_runs(results_dir: Path) -> tuple[dict[str, Any], Path]:
    store = RunStore(results_dir)
    records: Sequence[Mapping[str, Any]] = store.read()
    if not records:
        raise InputError(f"{results_dir}: no complete runs in {RESULTS}; give a folder that 'weir replay' has written")
    if any("metrics" not in record for record in records):
        raise InputError(f"{store.results_path}: records without metrics; it was not written by 'weir replay'")
    run = _run_information(results_dir, records)
    records = in_order(records, run.get("scenarios", {}))
    summary = summarise(records, run)
    found = summarise_objectives(RunStore(results_dir / FOLDER).read(), records)
    if found:
        summary["objectives"] = found
    return summary, write_report(store, records, summary)


def write_report(store: RunStore, records: Sequence[Mapping[str, Any]], summary: Mapping[str, Any]) -> Path:
    """Writes `summary.json` and `report.html` into the folder of the store; returns the page's path."""
    (store.folder / SUMMARY).write_text(json.dumps(summary, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    page = store.folder / REPORT
    page.write_text(render_report(store, records, summary), encoding="utf-8")
    return page


def _run_information(folder: Path, records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the earlier summary says was run; of an interrupted replay, what its records say."""
    try:
        run = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))["run"]
    except (OSError, ValueError, KeyError, TypeError):
        run = {}
    return {"planned": len(records)} | run | {"runs": len(records)}
