"""`weir link`: runs a program behind the emulated link."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir_calls.link.sudo import become_caller
from weir_calls.requirements import check_link_requirements
from weir_cli.errors import ComponentFailed, InputError
from weir_cli.files.output import refuse_to_overwrite, write_bytes
from weir_cli.options import ForceOption, loading, with_options
from weir_eval.options.shared import PathArguments

if TYPE_CHECKING:
    from rich.table import Table

    from weir_calls.link.session import DirectionSummary

_FAILED_STATUS = 1


@dataclass(frozen=True, kw_only=True)
class LinkOptions(PathArguments):
    """The options of `weir link`; see their help texts."""

    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="As for replay: a trace, a scenario file, catalogue/NAME.")
    ]
    command: Annotated[
        list[str] | None, typer.Argument(metavar="[-- COMMAND...]", help="Command to run. Default: your shell.")
    ] = None
    far: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="Shell command line at the other end, for example a server."),
    ] = None
    receive: Annotated[
        bool, typer.Option("--receive", help="COMMAND is at the receiver's end of the path: a download.")
    ] = False
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of loss, jitter and cross traffic.")] = 1
    log: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Capacity, queue, packets and delays every 100 ms (JSON lines).")
    ] = None
    force: ForceOption = False
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON, on standard error.")] = False


@with_options(LinkOptions)
def link(options: LinkOptions) -> None:
    """Run a command, or your shell, behind a link that replays a scenario in real time; IPv4 only.

    The command has its own network, which contains only the link: 10.211.0.1 here and 10.211.0.2 at the far end (vice
    versa with --receive), in the environment as WEIR_LINK_LOCAL and WEIR_LINK_FAR. The scenario begins with the
    command; after its end the capacity continues as its trace defines. Exit status: the command's, or 1, 2 or 3 with a
    message of weir. Needs no root; under sudo, everything runs as the user who called it.
    """
    become_caller()
    options.check_files([options.scenario])
    command = options.command or []
    if command and shutil.which(command[0]) is None:
        raise InputError(f"{command[0]}: there is no such command; check its name, or give its path")
    if options.log is not None:
        refuse_to_overwrite(options.log, options.force)
    check_link_requirements()
    with loading():
        from weir_calls.link.session import LinkSettings, run_link
        from weir_cli.console import error_console
        from weir_eval.runs.inputs import read_inputs

    scenarios = read_inputs([options.scenario], options.read())
    if len(scenarios) != 1:
        name = options.scenario
        raise InputError(f"{name}: holds {len(scenarios)} scenarios; name one, say {name}/{scenarios[0].name}")
    if options.log is not None:
        write_bytes(options.log, b"")
    console = error_console()

    def note(text: str) -> None:
        if not options.as_json:
            console.print(f"weir: {text}")

    settings = LinkSettings(scenarios[0], command, options.far, options.receive, options.seed, options.log)
    try:
        status, measured = run_link(settings, note)
    except ComponentFailed as error:
        console.print(f"weir: {error}")
        raise typer.Exit(_FAILED_STATUS) from None
    except KeyboardInterrupt:
        console.print("weir: interrupted before the command began")
        raise typer.Exit(_FAILED_STATUS) from None
    if options.as_json:
        console.print(json.dumps({direction: asdict(summary) for direction, summary in measured.items()}))
    else:
        console.print(_table(measured, options.receive))
    raise typer.Exit(status)


def _table(measured: dict[str, DirectionSummary], receive: bool) -> Table:
    from rich.table import Table

    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column("weir:")
    for head in ("packets", "lost", "delay, p95", "rate", "of the capacity"):
        table.add_column(head, justify="right")
    directions = {"forward": "from the far end" if receive else "to the far end"}
    directions["reverse"] = "to the far end" if receive else "from the far end"
    for direction, label in directions.items():
        summary = measured[direction]
        table.add_row(
            label,
            f"{summary.packets:,}",
            f"{summary.lost_packets:,}",
            _shown(summary.one_way_delay_ms_p95, 1, "{:,.0f} ms"),
            _shown(summary.rate_bps, 1e-3, "{:,.0f} kbps"),
            _shown(summary.utilisation, 100, "{:.0f} %"),
        )
    return table


def _shown(value: float | None, factor: float, form: str) -> str:
    return "–" if value is None else form.format(factor * value)
