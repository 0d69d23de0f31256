"""The command `weir tune`: checks its arguments; `tune/search.py` does the work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weir_cli.files.input import check_exists, check_utf8
from weir_cli.installation import require
from weir_cli.options import loading
from weir_sim.executables import find_simulator


def tune(
    configuration: Annotated[Path, typer.Argument(help="Training configuration, a TOML file with a table [tune].")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the search.")] = Path("runs/tune"),
    resume: Annotated[bool, typer.Option("--resume", help="Continue the search in --out.")] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, max=1024, metavar="N", help="Trials at once. Default: one per core and thread of training."
        ),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            metavar="auto|HOST:PORT", help="Run on a Ray cluster whose machines share --out. Default: on this one."
        ),
    ] = None,
) -> None:
    """Search settings of a training by call quality on held-out scenarios. Ctrl-C keeps the trials; --resume
    continues. Writes best.toml, for 'weir train'.
    """
    check_utf8("--out", out)
    check_exists(configuration)
    require("weir-train[learning]")
    find_simulator()
    with loading():
        from weir_train.tune.search import run_search

    run_search(configuration, out, jobs, address, resume=resume)
