"""The command `weir model`: shows a model file, or writes its card with the results of replays and suites."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from weir.errors import InputError
from weir.files.input import parse_json, printable_lines, read_text
from weir.files.model import read_model
from weir.qoe_eval.records import Summary, read_summary
from weir.qoe_eval.report.text import markdown_table, paired_sentences
from weir.trainer.model.card import NO_RESULTS, write_card

MEASURES = (
    "viewer_quality", "freeze_count", "frame_delay_ms_p95", "utility", "challenge", "utilisation",
    "p95_queueing_delay_ms", "loss_ratio",
)  # fmt: skip


def model(
    file: Annotated[Path, typer.Argument(help="A model file.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    card: Annotated[bool, typer.Option("--card", help="Write the model's card beside it instead.")] = False,
    summary: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For the card: summary.json of 'weir replay' with this model.")
    ] = None,
    goals: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="For the card: JSON of a command with goals; repeatable.")
    ] = None,
) -> None:
    """Show a model's features, history, interval, action, bounds and provenance, or write its card.

    The card includes the sections of NAME.notes.md beside the model, such as known failures.
    """
    if card:
        parts = [] if summary is None else [replay_results(read_summary(summary))]
        parts += [goal_results(_read(path), str(path)) for path in goals or []]
        typer.echo(write_card(file, "\n".join(parts) or NO_RESULTS))
        return
    if summary is not None or goals:
        raise InputError("--summary and --goals: are for --card")
    shown = read_model(file).to_dict()
    if as_json:
        typer.echo(json.dumps(shown, indent=1))
        return
    for key, value in shown.items():
        text = ", ".join(value) if key == "features" else json.dumps(value) if isinstance(value, dict | list) else value
        typer.echo(printable_lines(f"{key + ':':16}{text}"))


def replay_results(summary: Summary) -> str:
    """Means by controller and paired differences of a replay."""
    means = [
        [name, *(f"{values[measure].mean:.4g}" if measure in values else "" for measure in MEASURES)]
        for name, values in summary.controllers.items()
    ]
    command = f" (`{summary.run.command}`)" if summary.run.command else ""
    table = markdown_table(["controller", *MEASURES], means)
    parts = [f"Means over {len(summary.scenarios)} scenarios{command}:\n", table]
    for pair in paired_sentences(summary):
        parts.append(f"{pair.pair}, {pair.sample}; differences paired by scenario and seed, with 95 % intervals:\n")
        parts.append("".join(f"- {one}\n" for one in pair.differences))
    return "\n".join(parts)


def goal_results(document: Mapping[str, Any], source: str) -> str:
    """How many goals of a document are reached, and those that are missed."""
    try:
        missed = [row for row in document["rows"] if row["reached"] is False]
        lines = [f"- missed: {row['what']}: {row['measured']} (goal: {row['goal']['text']})\n" for row in missed]
        reached = f"{document['reached']} of {document['decided']} goals reached"
    except (KeyError, TypeError):
        raise InputError(f"{source}: is not the JSON of a command with goals") from None
    return f"{document['schema']}{_command(document)}: {reached}.\n\n{''.join(lines)}"


def _command(document: Mapping[str, Any]) -> str:
    run = document.get("run")
    return f" (`{run['command']}`)" if isinstance(run, dict) and "command" in run else ""


def _read(path: Path) -> dict[str, Any]:
    document = parse_json(read_text(path), str(path))
    if not isinstance(document, dict) or "rows" not in document:
        raise InputError(f"{path}: is not a JSON document with `rows`")
    return document
