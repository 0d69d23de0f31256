"""The command `weir adapt`."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir_cli.errors import InputError
from weir_cli.files.input import check_exists, printable, printable_lines
from weir_cli.installation import require
from weir_cli.options import ForceOption, loading
from weir_sim.objectives import parse_objective
from weir_train.model.file import check_source, check_target

if TYPE_CHECKING:
    from weir_eval.measures.flow_series import Array
    from weir_traces.formats.validation import Finding
    from weir_train.configuration.scenarios import ScenarioSettings

MOST_REPAIRS = 20
MOST_NAMED = 8
RANDOM_PATH_S = 30.0
DEFAULT_CONFIGURATION = Path(__file__).parent / "configs" / "adaptation.toml"


def adapt(
    model: Annotated[Path, typer.Argument(help="Model file (.onnx), training folder, or checkpoint in one.")],
    objective: Annotated[
        str | None,
        typer.Option(metavar="T,L,P", help="New weights of throughput, latency, loss; or a preset. Default: the old."),
    ] = None,
    traces: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A trace or scenario to learn on; may be repeated. A fifth judges."),
    ] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Environment steps. Default: 200,000, or those of --configuration.")
    ] = None,
    replay: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=0.95,
            metavar="SHARE",
            help="Share of episodes as before: old objectives, random paths.",
        ),
    ] = 0.5,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The new model. Default: <model>-adapted.onnx here.")
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            help="Time limit. Adaptation ends after 200,000 steps, or --minutes, whichever is first; for longer add "
            "--steps. The model has what the completed steps gave."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Instead of the configuration's seed.")] = None,
    configuration: Annotated[
        Path, typer.Option(metavar="FILE", help="How to learn, a TOML file.", show_default=False)
    ] = DEFAULT_CONFIGURATION,
    force: ForceOption = False,
) -> None:
    """Fine-tune a model on your traces, for a new objective, or both, without forgetting the old ones.

    Ctrl-C keeps what is learned. The shipped model is estimator/models/weir.onnx.
    """
    if objective is None and not traces:
        raise InputError("give --traces, --objective, or both: what the model learns")
    weights = None if objective is None else parse_objective(objective)
    for path in (model, configuration, *(traces or [])):
        check_exists(path)
    require("weir-train[learning]")
    target = out or Path(f"{Path(os.path.realpath(model)).stem}-adapted.onnx")
    check_target(target, model, force=force)
    check_source(model)
    with loading():
        from weir_train.configuration.scenarios import ScenarioSampler, ScenarioSettings
        from weir_train.configuration.training import checked_configuration, load_configuration
        from weir_train.learning.progress_bar import progress_bar, reward_text
        from weir_train.learning.time_limit import TimeLimit
        from weir_train.model.card import write_card

    time_limit = TimeLimit(minutes)
    settings = load_configuration(configuration)
    if seed is not None:
        settings = checked_configuration(settings.model_dump() | {"seed": seed}, "command line")
    sampler = ScenarioSampler(ScenarioSettings(source="files", files=tuple(traces))) if traces else None
    for line in repair_lines(sampler.repairs if sampler else []):
        typer.echo(f"weir: {printable_lines(line)}", err=True)
    held_out = sampler.hold_out() if sampler else random_held_out(settings.scenarios)
    total = steps or settings.steps
    with progress_bar(total, end_s=time_limit.end_s) as show:
        # Imported below the bar: on a busy machine torch takes minutes to load.
        from weir_train.learning.adaptation import LearningState, adapted_provenance, held_out_rewards, is_unchanged
        from weir_train.learning.adaptation import adapt as run_adaptation
        from weir_train.learning.starting_point import read_starting_point
        from weir_train.model.export import export as write_model

        start = read_starting_point(model, settings)

        def on_update(state: LearningState) -> None:
            show("critic warms up" if state.warming_up else "adapting", state.steps, reward_text(state.mean_reward))

        learned = run_adaptation(
            start,
            weights,
            steps=total,
            replay=replay,
            traces=sampler,
            on_update=on_update,
            is_over=None if minutes is None else time_limit,
        )
    described = start.configuration
    write_model(
        learned.policy,
        described.environment.specification(),
        target,
        name=described.name,
        version=described.version.removesuffix("+adapted") + "+adapted",
        provenance=adapted_provenance(
            start,
            weights,
            learned.steps,
            replay,
            traces=[document["name"] for document in sampler.documents] if sampler else [],
            interrupted=learned.interrupted,
        ),
        metadata=start.metadata,
    )
    card = write_card(target)
    learned_for = "" if weights is None else f" for {', '.join(f'{weight:g}' for weight in weights)}"
    typer.echo(f"{target}: {learned.steps:,} steps{learned_for}\n{card}")
    if is_unchanged(start, learned.policy):
        typer.echo(
            f"nothing changed: {target} decides as {model} does, since it ended before the first update of the actor; "
            "give more --steps or --minutes"
        )
    else:
        before, after = held_out_rewards(start, learned.policy, weights, held_out)
        typer.echo(held_out_verdict(described.environment.reward, held_out, before, after))
        typer.echo(how_to_judge(target, model, weights))
    if learned.interrupted:
        time_is_over = time_limit()
        reason = f"the time limit of {minutes:g} minutes ended it" if time_is_over else "interrupted"
        typer.echo(f"{reason} after {learned.steps:,} of {total:,} steps; the model holds what they gave", err=True)
        if not time_is_over:
            raise typer.Exit(1)


def repair_lines(repairs: Sequence[Finding]) -> list[str]:
    """Returns a line for each of the first repairs of traces, and the number of the others."""
    more = len(repairs) - MOST_REPAIRS
    lines = [str(finding) for finding in repairs[:MOST_REPAIRS]]
    return [*lines, *([f"and {more} more; 'weir traces validate' shows all"] if more > 0 else [])]


def random_held_out(settings: ScenarioSettings) -> list[dict[str, Any]]:
    """Returns random paths that no training draws, to judge a model that learned no traces."""
    from weir_train.configuration.scenarios import MOST_HELD_OUT, ScenarioSampler

    source: dict[str, Any] = {"source": "random_domain", "files": ()}
    durations = {"minimum_duration_s": RANDOM_PATH_S, "maximum_duration_s": RANDOM_PATH_S}
    sampler = ScenarioSampler(settings.model_copy(update=source | durations), "held_out")
    return [sampler(seed) for seed in range(MOST_HELD_OUT)]


def held_out_verdict(reward: str, documents: Sequence[Mapping[str, Any]], before: Array, after: Array) -> str:
    """Returns the mean rewards per step on the held-out set before and after, the 95 % interval of the difference over
    independent scenarios, and whether the model is better there; if not, what to do.

    Args:
        reward: its name.
        documents: the held-out scenarios.
        before: rewards per step by scenario.
        after: of the adapted model.
    """
    from weir_eval.measures.statistics import MINIMUM_SCENARIOS
    from weir_eval.report.text import TOO_FEW
    from weir_train.configuration.scenarios import HELD_OUT_SHARE
    from weir_train.gym.rewards import REWARD_RANGES
    from weir_train.learning.held_out import held_out_difference, independent_paths

    difference = held_out_difference(independent_paths(documents), after, before)
    former = "the model it started from, on the held-out part"
    keep = ": keep the old model, or train longer with --steps, or give more traces"
    if difference.low is None or difference.high is None:
        needed = math.ceil(MINIMUM_SCENARIOS / HELD_OUT_SHARE)
        worse = f"worse than {former}, by the mean alone{keep}\n" if difference.mean < 0 else ""
        verdict = f"{worse}too short to tell which is better: {TOO_FEW}; give {needed} traces or more"
    elif difference.low > 0:
        verdict = f"better than {former}"
    else:
        verdict = f"{'worse than' if difference.high < 0 else 'not shown to differ from'} {former}{keep}"
    names = [str(document["name"]) for document in documents]
    if len(names) > MOST_NAMED:
        names = [f"{len(names)} scenarios"]
    seconds = sum(document["duration_s"] for document in documents)
    return (
        f"mean reward {reward!r} per step ({REWARD_RANGES[reward]}, higher is better) on {', '.join(names)}, held out, "
        f"{seconds:g} s: {before.mean():.4f} before, {after.mean():.4f} after\n"
        f"difference {difference.text}\n{verdict}"
    )


def how_to_judge(adapted: Path, former: Path, weights: Sequence[float] | None) -> str:
    """Returns the command that compares a model with the former one and with `weir` by measures of a call."""
    # A copy of the shipped model has its name.
    models = [str(adapted), *([str(former)] if former.suffix == ".onnx" and former.stem != "weir" else []), "weir"]
    words = ["weir", "replay", "TRACE", *(word for model in models for word in ("--controller", model))]
    words += ["--reference", "weir"]
    if weights is not None:
        words += ["--objective", ",".join(f"{weight:g}" for weight in weights)]
    return (
        "the reward is not call quality; to judge that, on traces that were not passed to --traces:\n"
        f"{printable(shlex.join(words))}"
    )
