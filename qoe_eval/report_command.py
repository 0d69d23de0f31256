"""`weir report`: makes summary and page again from a results or training folder, or a page from a browser's dump."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from weir.errors import InputError
from weir.qoe_eval.call import report as call_report
from weir.qoe_eval.call.metric_table import CALL_METRICS
from weir.qoe_eval.dumps.report import webrtc_internals
from weir.qoe_eval.measures.summary import in_order, summarise
from weir.qoe_eval.report import training_page
from weir.qoe_eval.report.csv_tables import write_results_csv
from weir.qoe_eval.report.replay_files import SUMMARY, write_csv, write_report
from weir.qoe_eval.runs import families, objectives
from weir.qoe_eval.runs.command_record import read_run
from weir.qoe_eval.runs.store import RESULTS, RunStore

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
    summary, page = training or calls or _report_of_runs(results_dir)
    if csv:
        store = RunStore(results_dir)
        records = in_order(store.read(), summary["run"].get("scenarios", {}))
        if calls is None:
            write_csv(store, records, quiet=as_json)
        else:
            write_results_csv(results_dir, records, CALL_METRICS)
    typer.echo(json.dumps(summary, indent=1) if as_json else str(page))


app.command("webrtc-internals")(webrtc_internals)


def _report_of_runs(results_dir: Path) -> tuple[dict[str, Any], Path]:
    store = RunStore(results_dir)
    records: Sequence[Mapping[str, Any]] = store.read()
    if not records:
        raise InputError(f"{results_dir}: no complete runs in {RESULTS}; give a folder that 'weir replay' has written")
    if any("metrics" not in record for record in records):
        raise InputError(f"{store.results_path}: records without metrics; it was not written by 'weir replay'")
    # Of an interrupted replay there is only what its records say.
    run = {"planned": len(records)} | read_run(results_dir / SUMMARY) | {"runs": len(records)}
    records = in_order(records, run.get("scenarios", {}))
    summary = summarise(records, run)
    found = objectives.summarise_objectives(RunStore(results_dir / objectives.FOLDER).read(), records)
    if found:
        summary["objectives"] = found
    lived = RunStore(results_dir / families.FOLDER).read()
    if lived:
        summary["families"] = families.summarise_families(lived)
    return summary, write_report(store, records, summary)
