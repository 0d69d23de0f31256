"""`weir report`: summary and page of results, calls, a training or a search, or the page of a browser's dump."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from weir.errors import InputError
from weir.qoe_eval.call import call_report
from weir.qoe_eval.dumps.dump_report import describe, read_dump, write_dump_report
from weir.qoe_eval.measures.summary import in_order
from weir.qoe_eval.report import replay_page
from weir.qoe_eval.report.csv_tables import write_results_csv
from weir.qoe_eval.runs.options import ReferenceOption
from weir.qoe_eval.runs.store import CallStore, RunStore
from weir.trainer.report import training_report
from weir.trainer.tune import search_report


def report(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="A folder that 'weir replay', 'call', 'train' or 'tune' has written; or a dump of "
            "chrome://webrtc-internals or an rtcstats file, which may be gzipped.",
        ),
    ],
    csv: Annotated[
        bool, typer.Option("--csv", help="Also write results.csv; of replays series.csv.gz and frames.csv.gz, too.")
    ] = False,
    reference: ReferenceOption = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the page of a dump goes. Default: weir-dump-report.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Makes summary.json and report.html again, also of an interrupted replay; or report.html of a browser's dump."""
    if not path.is_dir():
        summary, page = _report_dump(path, out or Path("weir-dump-report"))
    elif out is not None:
        raise InputError(f"--out {out}: is for a dump; the report of a folder is written in that folder")
    elif (learned := training_report.rewrite(path) or search_report.rewrite(path)) is not None:
        summary, page = json.dumps(learned[0], indent=1), learned[1]
    else:
        summary, page = _report_records(path, reference, csv=csv, quiet=as_json)
        csv, reference = False, None
    if csv:
        raise InputError(f"{path}: --csv is for runs and calls; the curves of a training are in progress.json")
    if reference is not None:
        raise InputError(f"{path}: --reference is for runs and calls")
    typer.echo(summary if as_json else str(page))


def _report_dump(path: Path, out: Path) -> tuple[str, Path]:
    found = read_dump(path)
    page = write_dump_report(found, out)
    return json.dumps({"report": str(page), "connections": describe(found)}, indent=1), page


def _report_records(folder: Path, reference: str | None, *, csv: bool, quiet: bool) -> tuple[str, Path]:
    calls = call_report.rewrite(folder, reference)
    summary, page = calls or replay_page.rewrite(folder, reference)
    if csv and calls:
        write_results_csv(folder, in_order(CallStore(folder).read(), ()), "call")
    elif csv:
        store = RunStore(folder)
        replay_page.write_csv(store, in_order(store.read(), summary.run.scenarios), quiet=quiet)
    return summary.text(), page
