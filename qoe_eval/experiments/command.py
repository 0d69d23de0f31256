"""`weir experiment`: the figures of papers, repeated here."""

from __future__ import annotations

import typer

from weir.qoe_eval.experiments.muses.command import muses
from weir.qoe_eval.experiments.polycc.command import polycc
from weir.qoe_eval.experiments.recoco.command import recoco
from weir.trainer.cli import add_experiments

app = typer.Typer(no_args_is_help=True, help="Repeat the experiments of papers.")
app.command("recoco")(recoco)
add_experiments(app)
app.command("polycc")(polycc)
app.command("muses")(muses)
