"""`weir report webrtc-internals`: the call report of a dump that a user's own browser saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from weir.qoe_eval.dumps.reader import read_dump
from weir.qoe_eval.dumps.report import describe, write_dump_report


def webrtc_internals(
    dump: Annotated[
        Path,
        typer.Argument(
            metavar="DUMP",
            help="What chrome://webrtc-internals saved, either dump; or an rtcstats file. May be gzipped.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where report.html goes.")] = Path("weir-dump-report"),
    as_json: Annotated[bool, typer.Option("--json", help="Print what is in the dump as JSON.")] = False,
) -> None:
    """Makes report.html from a dump of getStats(): rates, round trip, jitter, loss, frames, freezes, limitations."""
    found = read_dump(dump)
    page = write_dump_report(found, out)
    typer.echo(json.dumps({"report": str(page), "connections": describe(found)}, indent=1) if as_json else str(page))
