"""The command `weir paper mocc`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from weir.console import output_console
from weir.files.output import make_folder, write_text
from weir.installation import require
from weir.trainer.adapt import DEFAULT_CONFIGURATION
from weir.trainer.configuration.training import load_configuration
from weir.trainer.learning.progress_bar import progress_bar
from weir_papers.common import OutOption

RESULT = "mocc.json"
BASE = "base"


def mocc(
    out: OutOption,
    seeds: Annotated[int, typer.Option(min=1, max=100, metavar="N", help="Repeat with the seeds 1 to N.")] = 2,
    base_steps: Annotated[int, typer.Option(min=1, help="Steps of training without the unseen objective.")] = 1_200_000,
    scratch_steps: Annotated[int, typer.Option(min=1, help="Steps of training on it alone, from scratch.")] = 400_000,
    adaptation_steps: Annotated[int, typer.Option(min=1, help="Steps of each adaptation to it.")] = 80_000,
    scenarios: Annotated[int, typer.Option(min=1, max=1000, help="Scenarios of an evaluation.")] = 48,
    configuration: Annotated[
        Path, typer.Option(metavar="FILE", help="Learning settings, a TOML file.", show_default=False)
    ] = DEFAULT_CONFIGURATION,
) -> None:
    """MOCC: adaptation to an unseen objective against training from scratch, and what old objectives lose.

    The base policy is trained in OUT/base, where an interrupted training is resumed and 'weir export' finds it.
    """
    settings = load_configuration(configuration)
    make_folder(out)
    require("train")
    from weir_papers.mocc.adaptation import Plan, run

    plan = Plan(seeds, base_steps, scratch_steps, adaptation_steps, scenarios=scenarios)
    try:
        with progress_bar(plan.steps) as show:
            document = run(settings, plan, out / BASE, on_progress=lambda what, done: show(what, done, ""))
    except KeyboardInterrupt:
        typer.echo("weir: interrupted; the base policy is kept", err=True)
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
