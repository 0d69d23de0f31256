"""The command `weir train`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir_cli.console import counted
from weir_cli.errors import InputError
from weir_cli.files.input import check_exists, check_utf8, printable
from weir_cli.installation import require
from weir_cli.options import loading

if TYPE_CHECKING:
    from weir_train.configuration.training import TrainingConfiguration


_SHIPPED_CONFIGURATION = Path(__file__).parent / "configs" / "weir.toml"


def train(
    configuration: Annotated[Path, typer.Argument(help="Training configuration, a TOML file.")],
    out: Annotated[Path, typer.Option(help="Folder for checkpoint and TensorBoard events.")] = Path("runs/weir"),
    resume: Annotated[bool, typer.Option("--resume", help="Continue from the checkpoint in --out.")] = False,
    seed: Annotated[int | None, typer.Option(help="Instead of the configuration's seed.")] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Instead of the configuration's number of steps.")] = None,
    evaluate: Annotated[
        bool,
        typer.Option(
            "--eval",
            help="Evaluate on held-out scenarios, a fifth of the files, and keep the best policy.",
        ),
    ] = False,
    eval_freq: Annotated[
        int | None, typer.Option(min=1, metavar="STEPS", help="How often. Default: a twentieth of all steps.")
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(help="Time limit. The training then ends with a checkpoint; --resume continues it.")
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(metavar="auto|HOST:PORT", help="Ray cluster, for algorithms that use one. Default: a local one."),
    ] = None,
) -> None:
    """Train a policy. Ctrl-C keeps a checkpoint; --resume continues it, as if it had not been interrupted. 'weir report
    DIR' shows the course of a run.
    """
    if eval_freq is not None and not evaluate:
        raise InputError("--eval-freq: needs --eval")
    check_utf8("--out", out)
    check_exists(configuration)
    require("weir-train[learning]")
    with loading():
        from weir_train.configuration.training import checked_configuration, load_configuration
        from weir_train.learning.progress_bar import progress_bar, reward_text
        from weir_train.learning.run_record import (
            check_same_settings,
            configuration_file,
            load_run_configuration,
            read_training_record,
        )
        from weir_train.learning.time_limit import TimeLimit
        from weir_train.model.file import CHECKPOINT, CONFIGURATION

    time_limit = TimeLimit(minutes)
    settings = load_configuration(configuration)
    if steps is not None and settings.stages:
        raise InputError(f"--steps: {configuration} trains in stages; change their steps there")
    changes: dict[str, Any] = {key: value for key, value in (("seed", seed), ("steps", steps)) if value is not None}
    if changes:
        settings = checked_configuration(settings.model_dump() | changes, "command line")
    if settings.on_cluster:
        require("weir-sim[distributed]")
    elif address is not None:
        raise InputError(f"--address: algorithm {settings.algorithm} trains on this machine alone; omit it")
    words = ["weir", "train", str(configuration), "--out", str(out)]
    given = {"--seed": seed, "--steps": steps, "--eval-freq": eval_freq, "--minutes": minutes, "--address": address}
    for option, value in given.items():
        words += [] if value is None else [option, str(value)]
    words += ["--eval"] if evaluate else []
    continued = printable(shlex.join([*words, "--resume"]))
    command = continued if resume else printable(shlex.join(words))
    if resume and (out / CONFIGURATION).is_file():
        in_run = load_run_configuration(out)
        check_same_settings(in_run, settings)
        if not settings.stages and in_run.steps != settings.steps:
            typer.echo(
                f"weir: the run was planned for {in_run.steps:,} steps, at which its schedules ended: it will not be "
                f"like one run of {settings.steps:,}",
                err=True,
            )

    if settings.trained_steps != settings.steps:
        typer.echo(
            f"weir: {settings.trained_steps:,} steps for the {settings.steps:,}: whole updates of "
            f"{settings.steps_per_update:,}",
            err=True,
        )
    try:
        with progress_bar(settings.trained_steps, end_s=time_limit.end_s) as show:
            # Imported below the bar: on a busy machine torch takes minutes to load.
            from weir_train.learning.learner import TrainingProgress
            from weir_train.learning.stages import train_in_stages

            def on_progress(state: TrainingProgress) -> None:
                show("training", state.steps, reward_text(state.mean_reward))

            result = train_in_stages(
                settings,
                out,
                resume=resume,
                on_progress=on_progress,
                evaluate_every_steps=(eval_freq or max(1, settings.steps // 20)) if evaluate else None,
                command=command,
                configuration_file=configuration_file(configuration),
                address=address,
                is_over=None if minutes is None else time_limit,
            )
    except KeyboardInterrupt:
        has_checkpoint = (out / CHECKPOINT).is_file()
        kept = (
            f"; continue from the last checkpoint with: {continued}"
            if has_checkpoint
            else " before the first checkpoint: nothing was kept"
        )
        typer.echo(f"interrupted{kept}", err=True)
        raise typer.Exit(1) from None
    time_is_over = result.interrupted and time_limit()
    if result.interrupted:
        reason = f"the time limit of {minutes:g} minutes ended it" if time_is_over else "interrupted"
        typer.echo(
            f"{reason} after {result.steps:,} of {settings.trained_steps:,} steps; continue with: {continued}",
            err=True,
        )
        if not time_is_over:
            if evaluate:
                typer.echo(evaluation_text(out))
            raise typer.Exit(1)
    if result.was_complete:
        done = f"{out}: complete, {result.steps:,} of {settings.steps:,} steps are done"
        typer.echo(
            done if settings.stages else f"{done}; for more: the same command with --steps N, N above {result.steps}"
        )
        return
    typer.echo(f"{result.checkpoint}: {result.steps:,} steps, {reward_text(result.mean_reward)}")
    typer.echo(training_extent(settings, result.steps, load_configuration(_SHIPPED_CONFIGURATION).trained_steps))
    if evaluate:
        judged = read_training_record(out).held_out
        of_files = f", on {', '.join(judged)}, held out of the training" if judged else ""
        typer.echo(evaluation_text(out))
        typer.echo(f"the best of the evaluations after training began{of_files}: weir export {out} --best")


def evaluation_text(out: Path) -> str:
    """Returns the mean rewards of the evaluations of a training folder and of the rule, the difference between the
    last and the untrained policy with its interval, and whether the best was before the training.
    """
    from weir_train.learning.held_out import held_out_difference
    from weir_train.learning.run_record import (
        EVALUATIONS,
        MILESTONES,
        evaluation_milestones,
        read_evaluations,
        read_training_record,
        untrained_was_better,
    )

    steps, rewards = read_evaluations(out / EVALUATIONS)
    found = evaluation_milestones(steps, rewards)
    if not found:
        return "no evaluation yet"
    record = read_training_record(out)
    parts = [
        f"{name} {found[key]['mean_reward']:.4f} ({found[key]['steps']:,} steps)"
        for key, name in MILESTONES.items()
        if key in found
    ]
    parts += [] if record.rule_mean_reward is None else [f"the ten-line rule {record.rule_mean_reward:.4f}"]
    text = f"evaluation, mean reward per step on {counted(rewards.shape[1], 'scenario')}: {', '.join(parts)}"
    difference = ""
    if "untrained" in found and found["last"]["steps"]:
        of_files = len(record.held_out_paths) == rewards.shape[1]
        paths = record.held_out_paths if of_files else [str(index) for index in range(rewards.shape[1])]
        difference = f"last minus before training: {held_out_difference(paths, rewards[-1], rewards[0]).text}"
    return "\n".join(filter(None, (text, difference, untrained_was_better(found))))


def training_extent(settings: TrainingConfiguration, steps: int, shipped_steps: int) -> str:
    """Returns the share of the shipped model's training, and the policy and command to compare with."""
    around_rule = settings.environment.action.kind == "around_rule"
    return (
        f"{steps / shipped_steps:.1%} of the shipped model's steps. A policy begins as "
        f"{'the ten-line rule with noise' if around_rule else 'noise'}: compare it with the rule, after weir export:\n"
        "weir replay catalogue --controller rule --controller weir --model MODEL"
    )
