"""The command `weir export`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from weir.errors import InputError
from weir.files.input import check_exists
from weir.installation import require
from weir.options import ForceOption, loading
from weir.trainer.model.file import BEST_MODEL, check_source, check_target, trained_policy


def export(
    run: Annotated[Path, typer.Argument(help="Folder of a training run; or a model file, to write its graph anew.")],
    out: Annotated[Path, typer.Option(help="The ONNX file; its model card is written beside it.")] = Path("weir.onnx"),
    best: Annotated[
        bool, typer.Option("--best", help="The best policy of the evaluations (--eval) instead of the last.")
    ] = False,
    force: ForceOption = False,
) -> None:
    """Export a trained policy to ONNX, check it in every available runtime, and write its model card.

    A model file of an earlier version is rewritten with the current graph, with its parameters and provenance.
    """
    if best and run.suffix == ".onnx":
        raise InputError("--best: is for the folder of a training run")
    check_exists(run)
    require("train")
    check_target(out, force=force)
    checkpoint = run / BEST_MODEL if best else trained_policy(run)
    check_source(run, checkpoint)
    with loading():
        from weir.trainer.model.card import write_card

    _say("loading torch")
    if run.suffix == ".onnx":
        _export_anew(run, out)
    else:
        from weir.trainer.learning.stages import export_run

        export_run(checkpoint.parent, out, checkpoint, _say)
        if best:
            _say_if_nothing_was_learned(run)
    typer.echo(f"{out}\n{write_card(out)}")


def _export_anew(model: Path, out: Path) -> None:
    from weir.trainer.adapt import DEFAULT_CONFIGURATION
    from weir.trainer.configuration.training import load_configuration
    from weir.trainer.learning.starting_point import policy_of, read_starting_point
    from weir.trainer.model.export import export as write_model

    start = read_starting_point(model, load_configuration(DEFAULT_CONFIGURATION))
    settings = start.configuration
    write_model(
        policy_of(start),
        settings.environment.specification(),
        out,
        name=settings.name,
        version=settings.version,
        provenance=start.provenance,
        metadata=start.metadata,
        on_stage=_say,
    )


def _say(text: str) -> None:
    typer.echo(f"weir: {text}", err=True)


def _say_if_nothing_was_learned(run: Path) -> None:
    from weir.trainer.learning.run_record import EVALUATIONS, read_evaluations

    steps, results = read_evaluations(run / EVALUATIONS)
    means = results.mean(axis=1)
    untrained, trained = means[steps == 0].max(initial=-math.inf), means[steps > 0].max(initial=-math.inf)
    if untrained >= trained:
        _say(
            f"the untrained policy was better (reward {untrained:.4f} before the first step, {trained:.4f} at best "
            "after it): train for more steps"
        )
