"""The command `weir export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weir_cli.files.input import check_exists
from weir_cli.installation import require
from weir_cli.options import ForceOption, loading
from weir_train.model.file import BEST_MODEL, check_checkpoint_file, check_target, trained_policy


def export(
    run: Annotated[Path, typer.Argument(help="Folder of a training run, or a checkpoint in one.")],
    out: Annotated[Path, typer.Option(help="The ONNX file; its model card is written beside it.")] = Path("weir.onnx"),
    best: Annotated[
        bool, typer.Option("--best", help="The best policy of the evaluations (--eval) instead of the last.")
    ] = False,
    force: ForceOption = False,
) -> None:
    """Export a trained policy to ONNX, check it in every available runtime, and write its model card."""
    check_exists(run)
    require("weir-train[learning]")
    check_target(out, force=force)
    checkpoint = run / BEST_MODEL if best else trained_policy(run)
    check_checkpoint_file(checkpoint)
    with loading():
        from weir_train.model.card import write_card

    _print_line("loading torch")
    from weir_train.learning.stages import export_run

    export_run(checkpoint.parent, out, checkpoint, _print_line)
    if best:
        _warn_if_nothing_was_learned(run)
    typer.echo(f"{out}\n{write_card(out)}")


def _print_line(text: str) -> None:
    typer.echo(f"weir: {text}", err=True)


def _warn_if_nothing_was_learned(run: Path) -> None:
    from weir_train.learning.run_record import (
        EVALUATIONS,
        evaluation_milestones,
        read_evaluations,
        untrained_was_better,
    )

    if warning := untrained_was_better(evaluation_milestones(*read_evaluations(run / EVALUATIONS))):
        _print_line(warning)
