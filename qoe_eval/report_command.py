"""`weir report`: makes summary and page again from a results or training folder, or a page from a browser's dump."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from weir.errors import InputError
from weir.qoe_eval.call import report as call_report
from weir.qoe_eval.dumps.report import webrtc_internals
from weir.qoe_eval.measures.summary import in_order
from weir.qoe_eval.records import Summary
from weir.qoe_eval.report import training_page
from weir.qoe_eval.report.csv_tables import write_results_csv
from weir.qoe_eval.report.replay_files import SUMMARY, summarise_replay, write_csv, write_report
from weir.qoe_eval.runs import families, objectives
from weir.qoe_eval.runs.command_record import read_run
from weir.qoe_eval.runs.store import RESULTS, CallStore, RunStore

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
    csv: Annotated[
        bool,
        typer.Option("--csv", help="Also write results.csv; of replays series.csv.gz and frames.csv.gz, too."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Makes summary.json and report.html again, also when it was interrupted. 'weir report DIR' is short for it."""
    training = training_page.rewrite(results_dir)
    if training is not None and csv:
        raise InputError(f"{results_dir}: --csv is for runs and calls; the curves of a training are in progress.json")
    calls = call_report.rewrite(results_dir)
    if training is not None:
        typer.echo(json.dumps(training[0], indent=1) if as_json else str(training[1]))
        return
    summary, page = calls or _report_of_runs(results_dir)
    if csv and calls is None:
        store = RunStore(results_dir)
        write_csv(store, in_order(store.read(), summary.run.scenarios), quiet=as_json)
    elif csv:
        write_results_csv(results_dir, in_order(CallStore(results_dir).read(), ()), "call")
    typer.echo(summary.text() if as_json else str(page))


app.command("webrtc-internals")(webrtc_internals)


def _report_of_runs(results_dir: Path) -> tuple[Summary, Path]:
    store = RunStore(results_dir)
    records = store.read()
    if not records:
        raise InputError(f"{results_dir}: no complete runs in {RESULTS}; give a folder that 'weir replay' has written")
    if any(not record.measures for record in records):
        raise InputError(f"{store.results_path}: records without metrics; it was not written by 'weir replay'")
    # The records of an interrupted replay are all there is.
    about = read_run(results_dir / SUMMARY)
    planned = about.planned if "planned" in about.model_fields_set else len(records)
    about = about.model_copy(update={"planned": planned, "runs": len(records)})
    records = in_order(records, about.scenarios)
    steered, on_families = (RunStore(results_dir / name).read() for name in (objectives.FOLDER, families.FOLDER))
    summary = summarise_replay(records, steered, on_families, about)
    return summary, write_report(store, records, summary)
