"""The command `weir export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weir.errors import InputError
from weir.installation import require_training
from weir.trainer.adapt import DEFAULT_CONFIGURATION
from weir.trainer.configuration.training import load_configuration
from weir.trainer.model.card import write_card


def export(
    run: Annotated[Path, typer.Argument(help="Folder of a training run; or a model file, to write its graph anew.")],
    out: Annotated[Path, typer.Option(help="The ONNX file; its model card is written beside it.")] = Path("weir.onnx"),
    best: Annotated[
        bool, typer.Option("--best", help="The best policy of the evaluations (--eval) instead of the last.")
    ] = False,
) -> None:
    """Export a trained policy to ONNX, check it in every available runtime, and write its model card.

    A model file of an earlier version is rewritten with the current graph, with its parameters and provenance.
    """
    if best and run.suffix == ".onnx":
        raise InputError("--best: is for the folder of a training run")
    require_training()
    from weir.trainer.learning.algorithms import TrainedPolicy, load_policy
    from weir.trainer.model.export import export as write_model
    from weir.trainer.policies.recurrent import RecurrentPolicy

    policy: TrainedPolicy
    if run.suffix == ".onnx":
        from weir.trainer.learning.starting_point import policy_of, read_starting_point

        start = read_starting_point(run, load_configuration(DEFAULT_CONFIGURATION))
        policy, settings, provenance = policy_of(start), start.configuration, start.provenance
    else:
        from weir.trainer.learning.provenance import provenance_of_run
        from weir.trainer.learning.run_record import BEST_MODEL, load_run_configuration, trained_policy

        settings, checkpoint = load_run_configuration(run), run / BEST_MODEL if best else trained_policy(run)
        policy, provenance = load_policy(checkpoint), provenance_of_run(run, checkpoint)
    specification = settings.environment.specification()
    if isinstance(policy, RecurrentPolicy):
        specification = policy.specification
    write_model(policy, specification, out, name=settings.name, version=settings.version, provenance=provenance)
    typer.echo(f"{out}\n{write_card(out)}")
