"""The command `weir paper`: repeats a paper's experiment in Weir's simulator, its figures beside the published ones."""

from __future__ import annotations

import typer

from weir_papers.mocc.mocc import mocc
from weir_papers.muses.muses import muses
from weir_papers.mvfst.mvfst import mvfst
from weir_papers.polycc.polycc import polycc
from weir_papers.recoco.recoco import recoco

app = typer.Typer(
    no_args_is_help=True, help="Repeat the experiment of a paper.", add_completion=False, rich_markup_mode=None
)
for command, subject in (
    (mocc, "MOCC: adaptation to an unseen objective."),
    (recoco, "ReCoCo: a model per trace, one for all, and GCC."),
    (muses, "Muses: trees extracted from a teacher."),
    (polycc, "PolyCC: BBR, CUBIC and Copa, with ns-3's TCP."),
    (mvfst, "MVFST-RL: decisions that block the sender."),
):
    app.command(short_help=subject)(command)
