"""The command `weir paper`: repeats a paper's experiment in Weir's simulator, its figures beside the published ones."""

from __future__ import annotations

import typer

from weir_papers.mocc.mocc import mocc
from weir_papers.muses.muses import muses
from weir_papers.mvfst.mvfst import mvfst
from weir_papers.polycc.polycc import polycc
from weir_papers.recoco.recoco import recoco
from weir_papers.repeat import repeat

app = typer.Typer(
    no_args_is_help=True, help="Repeat the experiment of a paper.", add_completion=False, rich_markup_mode=None
)
for command, subject in (
    (mocc, "MOCC: landmarks, adaptation, one policy for all objectives."),
    (recoco, "ReCoCo: a search, a model per trace, one for all, and GCC."),
    (muses, "Muses: a teacher, and trees extracted from it."),
    (polycc, "PolyCC: BBR, CUBIC and Copa, with ns-3's TCP."),
    (mvfst, "MVFST-RL: decisions that come late, and an agent that learns with them."),
):
    app.command(short_help=subject)(command)
app.command("all", short_help="All five, and the record of their values.")(repeat)
