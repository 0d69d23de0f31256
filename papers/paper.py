"""The command `weir paper`: repeats a paper's experiment in Weir's simulator, its figures beside the published ones."""

from __future__ import annotations

import typer

from weir.papers.mocc.mocc import mocc
from weir.papers.muses.muses import muses
from weir.papers.mvfst.mvfst import mvfst
from weir.papers.polycc.polycc import polycc
from weir.papers.recoco.recoco import recoco

app = typer.Typer(no_args_is_help=True, help="Repeat the experiment of a paper.")
for command in (mocc, recoco, muses, polycc, mvfst):
    app.command()(command)
