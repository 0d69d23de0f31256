"""`weir report`: writes summary and page of results, calls, a training, a browser's dump or an RTC event log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from weir.errors import InputError
from weir.files.input import check_exists, printable
from weir.files.output import RESULT_FILES
from weir.options import loading
from weir.qoe_eval.options.shared import ReferenceOption


def report(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="A folder that 'weir replay', 'call', 'serve' or 'train' has written; or a dump of "
            "chrome://webrtc-internals, rtcstats (Jitsi's too), Firefox's about:webrtc, or getStats() as JSON lines, "
            "which may be gzipped; or an RTC event log.",
        ),
    ],
    csv: Annotated[
        bool, typer.Option("--csv", help="Also write results.csv; of replays series.csv.gz and frames.csv.gz, too.")
    ] = False,
    reference: ReferenceOption = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the page of a dump or log goes. Default: weir-dump-report."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Write summary.json and report.html of a folder again, also of an interrupted replay or of calls of `weir serve`;
    or report.html of a browser's dump (when video froze, and why) or of an RTC event log (target, rate, delay).
    """
    _check(path)
    if not path.is_dir():
        summary, page = _report_dump(path, out or Path("weir-dump-report"), quiet=as_json)
    elif out is not None:
        raise InputError(f"--out '{printable(out)}': is for a dump; the report of a folder is written in that folder")
    elif (learned := _report_training(path)) is not None:
        summary, page = learned
    else:
        summary, page = _report_records(path, reference, csv=csv, quiet=as_json)
        typer.echo(summary if as_json else printable(page))
        return
    if csv:
        raise InputError(f"{path}: --csv is for runs and calls; the curves of a training are in progress.json")
    if reference is not None:
        raise InputError(f"{path}: --reference is for runs and calls")
    typer.echo(summary if as_json else printable(page))


def _check(path: Path) -> None:
    """Refuses a path that cannot have a report. A folder of `weir serve` has one folder for each call."""
    check_exists(path)
    if path.is_file() and (path.name in RESULT_FILES or path.name == "summary.json"):
        raise InputError(f"{printable(path)}: is of a folder of results; give the folder, {printable(path.parent)}")
    if path.is_dir() and not any(next(path.glob(name), None) for name in (*RESULT_FILES, "*/call.json")):
        raise InputError(
            f"{printable(path)}: no results.jsonl in it; give a folder that 'weir replay', 'call', 'serve' or 'train' "
            "has written"
        )


def _report_dump(path: Path, out: Path, *, quiet: bool) -> tuple[str, Path]:
    with loading():
        from weir.qoe_eval.dumps.dump_file import read_dump
        from weir.qoe_eval.dumps.dump_report import write_dump_report
        from weir.qoe_eval.event_logs.event_log_file import is_event_log
        from weir.qoe_eval.event_logs.event_log_report import write_event_log_report

    if is_event_log(path):
        numbers, page = write_event_log_report(path, out)
        return json.dumps({"report": str(page), **numbers}, indent=1), page
    described, page, verdict = write_dump_report(read_dump(path), out)
    if not quiet:
        typer.echo(verdict, err=True)
    return json.dumps({"report": str(page), "connections": described}, indent=1), page


def _report_training(folder: Path) -> tuple[str, Path] | None:
    """The report of a training; None if the folder has none."""
    with loading():
        from weir.trainer.report import training_report

    found = training_report.rewrite(folder)
    return None if found is None else (json.dumps(found[0], indent=1), found[1])


def _report_records(folder: Path, reference: str | None, *, csv: bool, quiet: bool) -> tuple[str, Path]:
    with loading():
        from weir.qoe_eval.call import call_report
        from weir.qoe_eval.measures.summary import sorted_records
        from weir.qoe_eval.report import replay_page
        from weir.qoe_eval.report.csv_tables import write_results_csv
        from weir.qoe_eval.runs.store import RunStore

    calls = call_report.rewrite(folder, reference)
    if calls is not None:
        summary, page = calls
        if csv:
            write_results_csv(folder, sorted_records(call_report.read_folder(folder), ()), "call")
        return summary.text(), page
    summary, page = replay_page.rewrite(folder, reference)
    if csv:
        store = RunStore(folder)
        replay_page.write_csv(store, sorted_records(store.read(), summary.run.scenarios), quiet=quiet)
    return summary.text(), page
