"""`weir report`: writes summary and page of results, calls, a training, a browser's dump or an RTC event log."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated

import typer

from weir_cli.errors import InputError
from weir_cli.files.input import check_exists, printable
from weir_cli.files.output import RESULT_FILES
from weir_cli.options import ReferenceOption, loading
from weir_cli.reports import Report, Reporter, ReportRequest

# Reports of replays come last: they describe what is wrong with a folder that is of no kind.
_LAST = "eval"
_OBSERVATION_LOGS = "*.observed.jsonl"


def report(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="A folder that 'weir replay', 'call', 'serve' or 'train' has written; or a dump of "
            "chrome://webrtc-internals, rtcstats (Jitsi's too), Firefox's about:webrtc, or getStats() as JSON lines, "
            "which may be gzipped; or an RTC event log; or a log of a connection that Weir observed, or a folder "
            "of these.",
        ),
    ],
    csv: Annotated[
        bool, typer.Option("--csv", help="Also write results.csv; of replays series.csv.gz and frames.csv.gz, too.")
    ] = False,
    reference: ReferenceOption = None,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Also compare each controller with itself in another folder of the same kind, paired by scenario and "
            "seed: other settings, another model, another day.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where the page of a dump or log goes. Default: weir-report-NAME-HASH; of a folder, that folder.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Write summary.json and report.html of a folder again, also of an interrupted replay or of calls of `weir serve`;
    or report.html of a browser's dump (when video froze, and why), of an RTC event log (target, rate, delay), or of
    logs of connections that Weir observed (what it would have done).
    """
    _check(path, out)
    _check_against(path, against)
    written = _rewrite(ReportRequest(path=path, out=out, reference=reference, against=against, csv=csv, quiet=as_json))
    typer.echo(written.summary if as_json else printable(written.page))


def _check(path: Path, out: Path | None) -> None:
    """Refuses a path that cannot have a report. A folder of `weir serve` has one folder for each call."""
    check_exists(path)
    if path.is_file() and (path.name in RESULT_FILES or path.name == "summary.json"):
        raise InputError(f"{printable(path)}: is of a folder of results; give the folder, {printable(path.parent)}")
    if not path.is_dir():
        return
    has_results = any((path / name).exists() for name in RESULT_FILES)
    if not has_results and next(path.glob(_OBSERVATION_LOGS), None):
        return
    _check_results(path)
    if out is not None:
        raise InputError(f"--out '{printable(out)}': is for a dump; the report of a folder is written in that folder")


def _check_results(folder: Path) -> None:
    if not any(next(folder.glob(name), None) for name in (*RESULT_FILES, "*/call.json")):
        raise InputError(
            f"{printable(folder)}: no results.jsonl in it; give a folder that 'weir replay', 'call', 'serve' or "
            "'train' has written"
        )


def _check_against(path: Path, against: Path | None) -> None:
    """Refuses a folder that cannot be compared with `path`."""
    if against is None:
        return
    check_exists(against)
    if not against.is_dir():
        raise InputError(f"--against '{printable(against)}': is a file; give the folder of its results")
    if path.is_dir() and against.samefile(path):
        raise InputError(f"--against '{printable(against)}': is {printable(path)} itself; give another folder")
    _check_results(against)
    if path.is_dir():
        _check_results(path)


def _rewrite(request: ReportRequest) -> Report:
    registered = sorted(entry_points(group="weir.reports"), key=lambda entry: (entry.name == _LAST, entry.name))
    for entry in registered:
        with loading():
            rewrite: Reporter = entry.load()
        if written := rewrite(request):
            return written
    names = ", ".join(entry.name for entry in registered) or "none"
    raise InputError(f"{printable(request.path)}: no installed package has a report of it; installed: {names}")
