"""`weir link`: runs a program behind the emulated link."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from weir.console import ForceOption, error_console
from weir.errors import InputError
from weir.files.output import refuse_to_overwrite, write_bytes
from weir.qoe_eval.link.namespaces import NamespacesFailed
from weir.qoe_eval.link.process import LinkFailed
from weir.qoe_eval.link.session import DirectionSummary, LinkSettings, run_link
from weir.qoe_eval.requirements import check_link_requirements
from weir.qoe_eval.runs.inputs import PathOptions, read_inputs
from weir.qoe_eval.runs.options import LossOption, OneWayDelayOption, QueueOption, ReverseOption
from weir.traces.formats.convert import parse_queue
from weir.traces.formats.importers import read_trace

_FAILED_STATUS = 1


def link(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="As for replay: a trace, a scenario file, catalogue/NAME.")
    ],
    command: Annotated[
        list[str] | None, typer.Argument(metavar="[-- COMMAND...]", help="Command to run. Default: your shell.")
    ] = None,
    far: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="Shell command line at the other end, for example a server."),
    ] = None,
    receive: Annotated[
        bool, typer.Option("--receive", help="COMMAND is at the receiver's end of the path: a download.")
    ] = False,
    one_way_delay: OneWayDelayOption = None,
    queue: QueueOption = None,
    loss: LossOption = None,
    reverse: ReverseOption = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of loss, jitter and cross traffic.")] = 1,
    log: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Capacity, queue, packets and delays every 100 ms (JSON lines).")
    ] = None,
    force: ForceOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON, on standard error.")] = False,
) -> None:
    """Runs a command, or your shell, behind a link that replays a scenario in real time; IPv4 only.

    The command has a network of its own with only the link: 10.211.0.1 here and 10.211.0.2 at the far end (the other
    way round with --receive), in the environment as WEIR_LINK_LOCAL and WEIR_LINK_FAR. The scenario begins with the
    command; after its end the capacity continues as its trace defines. Exit status: the command's, or 1, 2 or 3 with a
    message of weir. Needs root; under sudo the command runs as the user who called it.
    """
    path = PathOptions(
        one_way_delay, parse_queue(queue) if queue else None, loss, reverse=read_trace(reverse) if reverse else None
    )
    scenarios = read_inputs([scenario], path)
    if len(scenarios) != 1:
        raise InputError(f"{scenario}: holds {len(scenarios)} scenarios; name one, say {scenario}/{scenarios[0].name}")
    if command and shutil.which(command[0]) is None:
        raise InputError(f"{command[0]}: there is no such command")
    if log is not None:
        refuse_to_overwrite(log, force)
        write_bytes(log, b"")
    check_link_requirements()
    console = error_console()

    def note(text: str) -> None:
        if not as_json:
            console.print(f"weir: {text}")

    try:
        status, measured = run_link(LinkSettings(scenarios[0], command or [], far, receive, seed, log), note)
    except (LinkFailed, NamespacesFailed) as error:
        console.print(f"weir: {error}")
        raise typer.Exit(_FAILED_STATUS) from None
    except KeyboardInterrupt:
        console.print("weir: interrupted before the command began")
        raise typer.Exit(_FAILED_STATUS) from None
    if as_json:
        console.print(json.dumps({direction: asdict(summary) for direction, summary in measured.items()}))
    else:
        console.print(_table(measured, receive))
    raise typer.Exit(status)


def _table(measured: dict[str, DirectionSummary], receive: bool) -> Table:
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
