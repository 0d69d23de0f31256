"""`weir report` of a dump of a browser, an RTC event log, or logs of observed connections."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

import typer

from weir_cli.files.input import printable, sha256_of_file
from weir_cli.files.output import RESULT_FILES
from weir_cli.reports import Report, ReportRequest
from weir_logs.dumps.dump_file import read_dump
from weir_logs.dumps.dump_report import write_dump_report
from weir_logs.event_logs.event_log_file import is_event_log
from weir_logs.event_logs.event_log_report import write_event_log_report
from weir_logs.observations.observation_log import find_observation_logs, is_observation_log
from weir_logs.observations.observation_report import write_observation_report

_FOLDER: Final = "weir-report"
_LONGEST_NAME: Final = 60


def rewrite(request: ReportRequest) -> Report | None:
    """Writes the page of a dump, a log, or a folder of logs of observed connections; None for another folder.

    Raises:
        InputError: the file is neither, or an option is of runs alone.
    """
    if request.path.is_dir():
        if any((request.path / name).exists() for name in RESULT_FILES):
            return None
        logs = find_observation_logs(request.path)
        return _observed(request, logs, request.out or request.path) if logs else None
    request.refuse_options_of_runs("")
    out = request.out or _folder_of(request.path)
    if is_observation_log(request.path):
        return _observed(request, [request.path], out)
    if is_event_log(request.path):
        numbers, page = write_event_log_report(request.path, out)
        summary = json.dumps({"report": str(page), **numbers}, indent=1)
    else:
        described, page, verdict = write_dump_report(read_dump(request.path), out)
        if not request.quiet:
            typer.echo(verdict, err=True)
        summary = json.dumps({"report": str(page), "connections": described}, indent=1)
    return Report(summary, page)


def _observed(request: ReportRequest, logs: list[Path], out: Path) -> Report:
    request.refuse_options_of_runs("")
    # "." and ".." have no name of their own.
    name = os.path.basename(os.path.abspath(request.path))
    numbers, page = write_observation_report(logs, printable(name), out)
    return Report(json.dumps({"report": str(page), **numbers}, indent=1), page)


def _folder_of(path: Path) -> Path:
    """The folder of a file's page: of a regular file by name and content, so that no other dump replaces the page."""
    if not path.is_file():
        return Path(_FOLDER)
    return Path(f"{_FOLDER}-{path.stem[:_LONGEST_NAME]}-{sha256_of_file(path)[:6]}")
