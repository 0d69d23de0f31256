"""The commands `weir adapt` and `weir experiment adaptation`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from weir.console import output_console
from weir.errors import InputError
from weir.files.output import make_folder, write_text
from weir.installation import require_training
from weir.registry import PRESETS
from weir.trainer.configuration.training import checked_configuration, load_configuration
from weir.trainer.gym.episode import checked_objective
from weir.trainer.learning.progress_bar import progress_bar
from weir.trainer.learning.progress_text import reward_text
from weir.trainer.model.card import model_card
from weir.trainer.model.file import check_target, read_model

DEFAULT_CONFIGURATION = Path(__file__).parents[1] / "configs" / "adaptation.toml"
RESULT = "adaptation.json"


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
) -> None:
    """Fine-tune a model for a new objective without forgetting the old ones. Ctrl-C keeps what is learned."""
    weights = _objective(objective)
    settings = load_configuration(configuration)
    if seed is not None:
        settings = checked_configuration(settings.model_dump() | {"seed": seed}, "command line")
    target = out or Path(f"{model.resolve().stem}-adapted.onnx")
    check_target(target, model)
    require_training()
    from weir.trainer.adaptation.adapt import LearningState, adapted_provenance
    from weir.trainer.adaptation.adapt import adapt as run_adaptation
    from weir.trainer.adaptation.starting_point import read_starting_point
    from weir.trainer.model.export import export as write_model

    start = read_starting_point(model, settings)
    total = steps or settings.steps
    with progress_bar(total) as show:

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
    )
    card = target.with_suffix(".md")
    write_text(card, model_card(read_model(target)))
    typer.echo(f"{target}: {learned.steps:,} steps for {', '.join(f'{weight:g}' for weight in weights)}\n{card}")
    if learned.interrupted:
        typer.echo(f"interrupted after {learned.steps:,} of {total:,} steps; the model holds what they gave", err=True)
        raise typer.Exit(1)


def adaptation(
    out: Annotated[Path, typer.Option(metavar="DIR", help=f"Where {RESULT} goes.")],
    seeds: Annotated[int, typer.Option(min=1, max=100, metavar="N", help="Repeated with the seeds 1 to N.")] = 2,
    base_steps: Annotated[int, typer.Option(min=1, help="Training without the unseen objective.")] = 1_200_000,
    scratch_steps: Annotated[int, typer.Option(min=1, help="Training on it alone, from nothing.")] = 400_000,
    adaptation_steps: Annotated[int, typer.Option(min=1, help="Each adaptation to it.")] = 80_000,
    scenarios: Annotated[int, typer.Option(min=1, max=1000, help="Scenarios of an evaluation.")] = 48,
    configuration: Annotated[
        Path, typer.Option(metavar="FILE", help="How to learn, a TOML file.", show_default=False)
    ] = DEFAULT_CONFIGURATION,
) -> None:
    """Measures adaptation to an unseen objective against training from nothing, and what old objectives lose."""
    settings = load_configuration(configuration)
    make_folder(out)
    require_training()
    from weir.trainer.adaptation.experiment import Plan, run

    plan = Plan(seeds, base_steps, scratch_steps, adaptation_steps, scenarios=scenarios)
    try:
        with progress_bar(plan.steps) as show:
            document = run(settings, plan, on_progress=lambda what, done: show(what, done, ""))
    except KeyboardInterrupt:
        typer.echo("weir: interrupted; nothing is written", err=True)
        raise typer.Exit(1) from None
    write_text(out / RESULT, json.dumps(document, indent=1, allow_nan=False) + "\n")
    _print_table(document)
    typer.echo(f"\nDetails: {out / RESULT}")


def _print_table(document: Mapping[str, Any]) -> None:
    goals = document["goals"]
    ratio, loss = document["steps_ratio"], document["old_objectives_loss_ratio"]
    bound = "at least " if document["steps_ratio_is_lower_bound"] else ""
    reached = {True: "yes", False: "no"}
    table = Table(box=None, header_style="dim", pad_edge=False)
    for name in ("what", "goal", "with replay", "without", "reached"):
        table.add_column(name, justify="left" if name in ("what", "reached") else "right")

    def times(value: float | None) -> str:
        return "never there" if value is None else f"{bound}{value:.1f}"

    table.add_row(
        "times fewer steps than from scratch to 99 % of the gain",
        f"at least {goals['steps_ratio']:g}",
        times(ratio),
        times(document["steps_ratio_without_replay"]),
        reached[ratio is not None and ratio >= goals["steps_ratio"]],
    )
    table.add_row(
        "loss on old objectives, of their reward",
        f"below {goals['old_objectives_loss_ratio']:.0%}",
        f"{loss:.2%}",
        f"{document['old_objectives_loss_ratio_without_replay']:.2%}",
        reached[loss < goals["old_objectives_loss_ratio"]],
    )
    table.add_row(
        "the same, of their gain",
        "",
        f"{document['old_objectives_loss_of_gain']:.1%}",
        f"{document['old_objectives_loss_of_gain_without_replay']:.1%}",
        "",
    )
    output_console().print(table)


def _objective(text: str) -> tuple[float, float, float]:
    try:
        return checked_objective(text if text in PRESETS else [float(part) for part in text.split(",")])
    except ValueError:
        raise InputError(
            f"--objective {text}: give three weights above 0 such as 0.4,0.5,0.1, or one of {', '.join(PRESETS)}"
        ) from None
