"""The commands `weir train`, `weir export`, `weir muses` and `weir model`."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from weir.console import output_console
from weir.errors import InputError
from weir.files.output import write_text
from weir.installation import require_training
from weir.trainer.adaptation.command import DEFAULT_CONFIGURATION, adapt, adaptation
from weir.trainer.configuration.training import load_configuration
from weir.trainer.imitation.command import imitate
from weir.trainer.learning.progress_text import reward_text
from weir.trainer.model.card import model_card, read_summary
from weir.trainer.model.file import read_model
from weir.trainer.muses.command import muses
from weir.trainer.muses.path_kinds_command import path_kinds
from weir.trainer.muses.show import described_kinds, kinds_page, kinds_table

model_app = typer.Typer(no_args_is_help=True, help="Show a model file, write its card.")


def train(
    configuration: Annotated[Path, typer.Argument(help="Training configuration, a TOML file.")],
    out: Annotated[Path, typer.Option(help="Folder for checkpoint and TensorBoard events.")] = Path("runs/weir"),
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint in --out.")] = False,
    seed: Annotated[int | None, typer.Option(help="Instead of the configuration's seed.")] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Instead of the configuration's number of steps.")] = None,
    evaluate: Annotated[
        bool, typer.Option("--eval", help="Evaluate on held-out scenarios while training, and keep the best policy.")
    ] = False,
    eval_freq: Annotated[
        int | None, typer.Option(min=1, metavar="STEPS", help="How often. Default: a twentieth of all steps.")
    ] = None,
) -> None:
    """Train a policy. Ctrl-C keeps a checkpoint; --resume goes on from it. 'weir report DIR' shows how it went."""
    if eval_freq is not None and not evaluate:
        raise InputError("--eval-freq: says how often to evaluate; give --eval with it")
    from weir.trainer.configuration.training import checked_configuration

    settings = load_configuration(configuration)
    changes: dict[str, Any] = {key: value for key, value in (("seed", seed), ("steps", steps)) if value is not None}
    if changes:
        settings = checked_configuration(settings.model_dump() | changes, "command line")
    require_training()
    from weir.trainer.gym.process import SimulatorError
    from weir.trainer.learning.run_record import configuration_file
    from weir.trainer.learning.train import TrainingProgress
    from weir.trainer.learning.train import train as run_training

    words = ["weir", "train", str(configuration), "--out", str(out)]
    for option, given in (("--seed", seed), ("--steps", steps), ("--eval-freq", eval_freq)):
        words += [] if given is None else [option, str(given)]
    words += [option for option, given in (("--resume", resume), ("--eval", evaluate)) if given]

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
                reward=reward_text(state.mean_reward),
            )

        try:
            result = run_training(
                settings,
                out,
                resume=resume,
                on_progress=show,
                evaluate_every_steps=(eval_freq or max(1, settings.steps // 20)) if evaluate else None,
                command=shlex.join(words),
                configuration_file=configuration_file(configuration),
            )
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
    if result.was_complete:
        typer.echo(
            f"{out}: complete, {result.steps:,} of {settings.steps:,} steps are done; for more: "
            f"weir train {configuration} --out {out} --resume --steps N, with N above {result.steps}"
        )
        return
    typer.echo(f"{result.checkpoint}: {result.steps:,} steps, {reward_text(result.mean_reward)}")
    if evaluate:
        typer.echo(f"the best of the evaluations: weir export {out} --best")


def export(
    run: Annotated[Path, typer.Argument(help="Folder of a training run; or a model file, to write its graph anew.")],
    out: Annotated[Path, typer.Option(help="The ONNX file; its model card is written beside it.")] = Path("weir.onnx"),
    summary: Annotated[Path | None, typer.Option(help="summary.json whose figures the model card shows.")] = None,
    best: Annotated[
        bool, typer.Option("--best", help="The best policy of the evaluations (--eval) instead of the last.")
    ] = False,
) -> None:
    """Export a trained policy to ONNX, check it in every runtime there is, and write its model card.

    A model file that an earlier version exported gets today's graph, with its parameters and provenance, and
    its features' ranges, which are measured where it has none.
    """
    if best and run.suffix == ".onnx":
        raise InputError("--best: is for the folder of a training run")
    figures = None if summary is None else read_summary(summary)
    require_training()
    from weir.trainer.model.export import export as write_model
    from weir.trainer.model.training_ranges import read_ranges, training_ranges
    from weir.trainer.policies.networks import DeployablePolicy

    policy: DeployablePolicy

    known_ranges = ""
    if run.suffix == ".onnx":
        from weir.trainer.adaptation.starting_point import policy_of, read_starting_point

        start = read_starting_point(run, load_configuration(DEFAULT_CONFIGURATION))
        policy, settings, provenance = policy_of(start), start.configuration, start.provenance
        known_ranges = read_model(run).ranges
    else:
        from weir.trainer.learning.provenance import provenance_of_run
        from weir.trainer.learning.run_record import BEST_MODEL, load_run_configuration, trained_policy
        from weir.trainer.learning.train import load_policy

        settings, checkpoint = load_run_configuration(run), run / BEST_MODEL if best else trained_policy(run)
        policy, provenance = load_policy(checkpoint), provenance_of_run(run, checkpoint)
    write_model(
        policy,
        settings.environment.specification(),
        out,
        name=settings.name,
        version=settings.version,
        provenance=provenance,
        ranges=read_ranges(known_ranges) if known_ranges else training_ranges(policy, settings),
    )
    card = out.with_suffix(".md")
    write_text(card, model_card(read_model(out), figures))
    typer.echo(f"{out}\n{card}")


@model_app.command("show")
def show_model(
    file: Annotated[Path, typer.Argument(help="A model file.")],
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw a mixture's kinds of path, with examples: an HTML page.")
    ] = None,
) -> None:
    """Show a model's features, history, interval, action, bounds and provenance; of 'weir muses' also its trees."""
    model = read_model(file)
    if page is not None:
        write_text(page, kinds_page(model))
    if as_json:
        typer.echo(json.dumps(model.to_dict(), indent=1))
        return
    for key, value in model.to_dict().items():
        shown = value
        if isinstance(value, dict | list):
            shown = ", ".join(value) if key == "features" else json.dumps(value)
        typer.echo(f"{key + ':':16}{shown}")
    if described_kinds(model):
        output_console().print(kinds_table(model))


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
    """Adds `train`, `adapt`, `imitate`, `export`, `muses` and `model` to the `weir` command."""
    app.command("train")(train)
    app.command("adapt")(adapt)
    app.command("imitate")(imitate)
    app.command("export")(export)
    app.command("muses")(muses)
    app.add_typer(model_app, name="model")


def add_experiments(app: typer.Typer) -> None:
    """Adds `adaptation` and `path-kinds` to `weir experiment`."""
    app.command("adaptation")(adaptation)
    app.command("path-kinds")(path_kinds)
