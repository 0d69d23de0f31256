"""The commands `weir train`, `weir export` and `weir model`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from weir.traces.output_files import write_text
from weir.trainer.adapt_command import adapt
from weir.trainer.missing import require_training
from weir.trainer.model_card import model_card, read_summary
from weir.trainer.model_file import read_model

model_app = typer.Typer(no_args_is_help=True, help="Show a model file, write its card.")


def train(
    configuration: Annotated[Path, typer.Argument(help="Training configuration, a TOML file.")],
    out: Annotated[Path, typer.Option(help="Folder for checkpoint and TensorBoard events.")] = Path("runs/weir"),
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint in --out.")] = False,
    seed: Annotated[int | None, typer.Option(help="Instead of the configuration's seed.")] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Instead of the configuration's number of steps.")] = None,
) -> None:
    """Train a policy. Ctrl-C keeps a checkpoint; --resume goes on from it."""
    from weir.trainer.configuration import checked_configuration, load_configuration

    settings = load_configuration(configuration)
    changes: dict[str, Any] = {key: value for key, value in (("seed", seed), ("steps", steps)) if value is not None}
    if changes:
        settings = checked_configuration(settings.model_dump() | changes, "command line")
    require_training()
    from weir.trainer.gym.process import SimulatorError
    from weir.trainer.train import TrainingProgress
    from weir.trainer.train import train as run_training

    console = Console(stderr=True)
    columns = (
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[reward]}"),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("training", total=settings.steps, rate="", reward="")

        def show(state: TrainingProgress) -> None:
            speed = progress.tasks[0].speed
            progress.update(
                task,
                completed=state.steps,
                rate="" if speed is None else f"{speed:,.0f} steps/s",
                reward=f"reward {state.mean_reward:.4f}",
            )

        try:
            result = run_training(settings, out, resume=resume, on_progress=show)
        except SimulatorError as error:
            progress.stop()
            typer.echo(f"weir: {error}", err=True)
            raise typer.Exit(1) from None
    if result.interrupted:
        typer.echo(
            f"interrupted after {result.steps:,} steps; go on with: weir train {configuration} --out {out} --resume",
            err=True,
        )
        raise typer.Exit(1)
    typer.echo(f"{result.checkpoint}: {result.steps:,} steps, mean reward {result.mean_reward:.4f} a step")


def export(
    run: Annotated[Path, typer.Argument(help="Folder of a training run.")],
    out: Annotated[Path, typer.Option(help="The ONNX file; its model card is written beside it.")] = Path("weir.onnx"),
    summary: Annotated[Path | None, typer.Option(help="summary.json whose figures the model card shows.")] = None,
) -> None:
    """Export a trained policy to ONNX, check it in every runtime there is, and write its model card."""
    figures = None if summary is None else read_summary(summary)
    require_training()
    from weir.trainer.export import export as write_model
    from weir.trainer.export import provenance_of
    from weir.trainer.train import CHECKPOINT, load_policy, load_run_configuration

    settings = load_run_configuration(run)
    write_model(
        load_policy(run / CHECKPOINT),
        settings.environment.specification(),
        out,
        name=settings.name,
        version=settings.version,
        provenance=provenance_of(settings),
    )
    card = out.with_suffix(".md")
    write_text(card, model_card(read_model(out), figures))
    typer.echo(f"{out}\n{card}")


@model_app.command("show")
def show_model(
    file: Annotated[Path, typer.Argument(help="A model file.")],
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Show a model's features, history, interval, action, bounds and provenance."""
    model = read_model(file)
    if as_json:
        typer.echo(json.dumps(model.to_dict(), indent=1))
        return
    for key, value in model.to_dict().items():
        shown = ", ".join(value) if isinstance(value, list) else json.dumps(value) if isinstance(value, dict) else value
        typer.echo(f"{key + ':':16}{shown}")


@model_app.command("card")
def write_model_card(
    file: Annotated[Path, typer.Argument(help="A model file; the card is written beside it.")],
    summary: Annotated[Path | None, typer.Option(help="summary.json whose figures the card shows.")] = None,
) -> None:
    """Write a model's card anew, with the figures of a report."""
    figures = None if summary is None else read_summary(summary)
    card = file.with_suffix(".md")
    write_text(card, model_card(read_model(file), figures))
    typer.echo(card)


def add_commands(app: typer.Typer) -> None:
    """Adds `train`, `adapt`, `export` and `model` to the `weir` command."""
    app.command("train")(train)
    app.command("adapt")(adapt)
    app.command("export")(export)
    app.add_typer(model_app, name="model")
