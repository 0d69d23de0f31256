"""The command `weir imitate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weir.errors import InputError
from weir.files.output import write_text
from weir.installation import require_training
from weir.trainer.configuration.training import checked_configuration, load_configuration
from weir.trainer.learning.progress_bar import progress_bar
from weir.trainer.learning.progress_text import reward_text
from weir.trainer.model.card import model_card
from weir.trainer.model.file import check_target, read_model

DEFAULT_CONFIGURATION = Path(__file__).parents[1] / "configs" / "imitation.toml"


def imitate(
    out: Annotated[Path, typer.Option(metavar="FILE", help="The model, written anew after each iteration.")],
    teacher: Annotated[
        list[str] | None,
        typer.Option(metavar="oracle|MODEL", help="Who tells what is right; again for the mean of several."),
    ] = None,
    hidden: Annotated[int, typer.Option(min=1, max=1024, help="Width of each LSTM layer.")] = 64,
    layers: Annotated[int, typer.Option(min=1, max=4, help="LSTM layers.")] = 1,
    regression: Annotated[
        bool, typer.Option("--regression", help="Learn the action itself instead of seven levels of it.")
    ] = False,
    iterations: Annotated[int, typer.Option(min=1, help="How often to act and learn, at most.")] = 40,
    decisions: Annotated[int, typer.Option(min=1, help="In an iteration, of all environments together.")] = 25_600,
    seed: Annotated[int | None, typer.Option(help="Instead of the configuration's seed.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the model in --out; what it was told is collected anew.")
    ] = False,
    configuration: Annotated[
        Path, typer.Option(metavar="FILE", help="Environment and scenarios, a TOML file.", show_default=False)
    ] = DEFAULT_CONFIGURATION,
) -> None:
    """Teach a recurrent policy what an oracle or other models would do where it goes. Ctrl-C keeps what is learned."""
    settings = load_configuration(configuration)
    if seed is not None:
        settings = checked_configuration(settings.model_dump() | {"seed": seed}, "command line")
    names = teacher or ["oracle"]
    check_target(out, *(Path(name) for name in names))
    if out.exists() != resume:
        raise InputError(
            f"--out {out}: there is no such model to go on from"
            if resume
            else f"--out {out}: is there already; go on with --resume, or give another name"
        )
    require_training()
    from weir.trainer.imitation.dagger import ImitationProgress
    from weir.trainer.imitation.student import Plan, teach
    from weir.trainer.imitation.teachers import ORACLE

    # Before hundreds of simulators start.
    for file in (*(Path(name) for name in names if name != ORACLE), *([out] if resume else [])):
        read_model(file)
    plan = Plan(tuple(names), hidden, layers, not regression, iterations, decisions)
    with progress_bar(iterations * decisions) as show:

        def on_iteration(state: ImitationProgress) -> None:
            show("imitating", state.iteration * decisions, f"loss {state.loss:.4f}, {reward_text(state.mean_reward)}")

        ended = teach(settings, plan, out, resume=resume, on_iteration=on_iteration)
    if not ended.iterations:
        typer.echo("interrupted before the first iteration had ended; nothing is written", err=True)
        raise typer.Exit(1)
    card = out.with_suffix(".md")
    write_text(card, model_card(read_model(out)))
    settled = ", where the loss had settled" if ended.settled else ""
    typer.echo(f"{out}: {ended.iterations} iterations{settled}, loss {ended.loss:.4f}\n{card}")
    if ended.interrupted:
        typer.echo(f"interrupted after {ended.iterations} of {iterations} iterations; go on with --resume", err=True)
        raise typer.Exit(1)
