"""The command `weir adapt`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from weir_cli.files.input import check_exists
from weir_cli.installation import require
from weir_cli.options import ForceOption, loading
from weir_sim.objectives import parse_objective
from weir_train.model.file import check_source, check_target

DEFAULT_CONFIGURATION = Path(__file__).parent / "configs" / "adaptation.toml"


def adapt(
    model: Annotated[Path, typer.Argument(help="Model file (.onnx), training folder, or checkpoint in one.")],
    objective: Annotated[str, typer.Option(metavar="T,L,P", help="Weights of throughput, latency, loss; or a preset.")],
    steps: Annotated[int | None, typer.Option(min=1, help="Environment steps. Default: the configuration's.")] = None,
    replay: Annotated[
        float, typer.Option(min=0.0, max=0.95, metavar="SHARE", help="Share of episodes with old objectives.")
    ] = 0.5,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The new model. Default: <model>-adapted.onnx here.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Instead of the configuration's seed.")] = None,
    configuration: Annotated[
        Path, typer.Option(metavar="FILE", help="How to learn, a TOML file.", show_default=False)
    ] = DEFAULT_CONFIGURATION,
    force: ForceOption = False,
) -> None:
    """Fine-tune a model for a new objective without forgetting the old ones. Ctrl-C keeps what is learned."""
    weights = parse_objective(objective)
    for path in (model, configuration):
        check_exists(path)
    require("weir-train[learning]")
    target = out or Path(f"{Path(os.path.realpath(model)).stem}-adapted.onnx")
    check_target(target, model, force=force)
    check_source(model)
    with loading():
        from weir_train.configuration.training import checked_configuration, load_configuration
        from weir_train.learning.progress_bar import progress_bar, reward_text
        from weir_train.model.card import write_card

    settings = load_configuration(configuration)
    if seed is not None:
        settings = checked_configuration(settings.model_dump() | {"seed": seed}, "command line")
    total = steps or settings.steps
    with progress_bar(total) as show:
        # Imported below the bar: on a busy machine torch takes minutes to load.
        from weir_train.learning.adaptation import LearningState, adapted_provenance
        from weir_train.learning.adaptation import adapt as run_adaptation
        from weir_train.learning.starting_point import read_starting_point
        from weir_train.model.export import export as write_model

        start = read_starting_point(model, settings)

        def on_update(state: LearningState) -> None:
            show("critic warms up" if state.warming_up else "adapting", state.steps, reward_text(state.mean_reward))

        learned = run_adaptation(start, weights, steps=total, replay=replay, on_update=on_update)
    described = start.configuration
    write_model(
        learned.policy,
        described.environment.specification(),
        target,
        name=described.name,
        version=described.version.removesuffix("+adapted") + "+adapted",
        provenance=adapted_provenance(start, weights, learned.steps, replay, interrupted=learned.interrupted),
        metadata=start.metadata,
    )
    card = write_card(target)
    typer.echo(f"{target}: {learned.steps:,} steps for {', '.join(f'{weight:g}' for weight in weights)}\n{card}")
    if learned.interrupted:
        typer.echo(f"interrupted after {learned.steps:,} of {total:,} steps; the model holds what they gave", err=True)
        raise typer.Exit(1)
