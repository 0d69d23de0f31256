"""``weir traces validate`` and ``weir traces convert``, and helpers shared by commands that write files."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from weir_cli.console import counted
from weir_cli.errors import InputError
from weir_cli.files.input import check_exists, printable, printable_lines
from weir_cli.files.output import refuse_to_overwrite, write_text
from weir_cli.options import ForceOption, loading, with_options
from weir_traces.bounds import DEFAULT_WINDOW_MS
from weir_traces.reading_options import ReadingArguments

if TYPE_CHECKING:
    from weir_traces.formats import ImportedTrace

WrittenFormat = Literal["csv", "mahimahi", "opennetlab", "scenario"]
DELAY = typer.Option("--one-way-delay", help="One-way delay in ms. Default: the file's, else 25.")
QUEUE = typer.Option("--queue", help="Queue: 300 (ms), 120kB or 50pkt. Default: the file's, else 300 ms.")
LOSS = typer.Option("--loss", help="Independent loss, 0 to 1. Default: the file's, else none.")
_WINDOW = typer.Option(
    "--mahimahi-window-ms", min=1, max=60_000, help="Time over which the deliveries of a Mahimahi file are averaged."
)
_STRICT = typer.Option("--strict", help="Refuse what would be repaired with a warning.")
_DURATION = typer.Option("--duration", help="Seconds. Default: the file's own length.")


@dataclass(frozen=True, kw_only=True)
class ValidateOptions(ReadingArguments):
    """The options of `weir traces validate`."""

    files: Annotated[list[Path], typer.Argument(help="Files of any known format.")]
    repair: Annotated[bool, typer.Option("--repair", help="Accept faults that can be repaired.")] = False
    strict: Annotated[bool, _STRICT] = False
    window: Annotated[int, _WINDOW] = DEFAULT_WINDOW_MS
    as_json: Annotated[bool, typer.Option("--json", help="One JSON array on stdout.")] = False


@with_options(ValidateOptions)
def validate(options: ValidateOptions) -> None:
    """Check files: shows how each was interpreted, and every fault with its place and repair; of a file that cannot be
    parsed, the first fault.

    Exit status 0: all files are usable (with --repair: after repair); 2: at least one is unusable or ambiguous. Files
    are never changed; "weir traces convert --repair" writes a repaired file.
    """
    files, as_json, repair = options.files, options.as_json, options.repair
    if len(files) == 1 and not as_json:
        check_exists(files[0])
    with loading():
        from weir_traces.formats.importers import inspect_trace
        from weir_traces.formats.summary import understood

    reading = options.reading()
    reports: list[dict[str, Any]] = []
    for file in files:
        report: dict[str, Any] = {"file": printable(file), "format": None, "understood": None, "usable": False}
        report |= {"error": None, "findings": []}
        reports.append(report)
        try:
            imported = inspect_trace(file, window_ms=options.window, reading=reading)
        except InputError as error:
            report["error"] = str(error)
            if not as_json:
                warn(str(error))
            continue
        usable = not imported.refused(repair=repair, strict=options.strict)
        summary = understood(imported)
        report["format"] = imported.format
        report["understood"] = None if summary is None else vars(summary)
        report["usable"] = usable
        report["findings"] = [vars(finding) for finding in imported.findings]
        if not as_json:
            for finding in imported.findings:
                if finding.severity == "error":
                    warn(str(finding))
                else:
                    typer.echo(printable_lines(str(finding)))
            warnings = len(imported.findings) - len(imported.errors)
            repaired = any(finding.repair for finding in imported.findings)
            verdict = ("repaired" if repaired else "usable") if usable else "refused"
            typer.echo(
                f"{imported.source}: {imported.format}, {summary or 'unlimited'}: {verdict} ("
                f"{counted(len(imported.errors), 'error')}, {counted(warnings, 'warning')})"
            )
    refused = not all(report["usable"] for report in reports)
    if as_json:
        typer.echo(json.dumps(reports, indent=2))
    elif (
        refused and not repair and any(f["repair"] and f["severity"] == "error" for r in reports for f in r["findings"])
    ):
        warn("--repair accepts the repairs named above")
    if refused:
        raise typer.Exit(2)


@dataclass(frozen=True, kw_only=True)
class ConvertOptions(ReadingArguments):
    """The options of `weir traces convert`."""

    source: Annotated[Path, typer.Argument(help="A file of any known format.")]
    target: Annotated[Path, typer.Argument(help="The file to write; - for stdout (with --to).")]
    to: Annotated[WrittenFormat | None, typer.Option(help="Format to write. Default: by the ending.")] = None
    one_way_delay: Annotated[float | None, DELAY] = None
    queue: Annotated[str | None, QUEUE] = None
    loss: Annotated[float | None, LOSS] = None
    duration: Annotated[float | None, _DURATION] = None
    name: Annotated[str | None, typer.Option(help="Name of a scenario. Default: the file's.")] = None
    reverse: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A trace for the reverse link: NAME.down beside NAME.up.")
    ] = None
    window: Annotated[int, _WINDOW] = DEFAULT_WINDOW_MS
    repair: Annotated[bool, typer.Option("--repair", help="Repair faults that can be repaired.")] = False
    strict: Annotated[bool, _STRICT] = False
    force: ForceOption = False


@with_options(ConvertOptions)
def convert(options: ConvertOptions) -> None:
    """Convert a trace or scenario to another format; warns on stderr about everything the format cannot express."""
    source, target = options.source, options.target
    check_exists(source)
    with loading():
        from weir_traces.formats.convert import format_of, parse_queue, render, to_scenario
        from weir_traces.formats.importers import read_trace

    def read(path: Path) -> ImportedTrace:
        return read_trace(path, repair=options.repair, strict=options.strict, window_ms=options.window, reading=reading)

    chosen = options.to or format_of(target)
    refuse_to_overwrite(target, options.force)
    reading = options.reading()
    imported = read(source)
    back = None if options.reverse is None else read(options.reverse)
    for finding in imported.findings + ([] if back is None else back.findings):
        warn(str(finding))
    scenario = to_scenario(
        imported,
        name=options.name,
        one_way_delay_ms=options.one_way_delay,
        queue=None if options.queue is None else parse_queue(options.queue),
        loss_ratio=options.loss,
        duration_s=options.duration,
        reverse=back,
    )
    text, lost = render(scenario, chosen, options.duration)
    if lost:
        warn(f"{printable(target)}: a {chosen} file cannot hold: {', '.join(lost)}")
    write(target, text)


def warn(text: str) -> None:
    """Prints a message on standard error."""
    typer.echo(f"weir: {printable_lines(text)}", err=True)


def write(target: Path, text: str) -> None:
    """Writes text to a file, or to standard output if the target is -."""
    if str(target) == "-":
        sys.stdout.write(text)
    else:
        write_text(target, text)
