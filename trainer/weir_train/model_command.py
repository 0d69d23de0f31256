"""The command `weir model`: shows a model file, or writes its card with the results of replays."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from weir_cli.errors import InputError
from weir_cli.files.input import LARGEST_MODEL_BYTES, check_exists, printable_lines, read_bytes
from weir_cli.options import loading


def model(
    file: Annotated[Path, typer.Argument(help="A model file.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    card: Annotated[bool, typer.Option("--card", help="Write the model's card beside it instead.")] = False,
    summary: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For the card: summary.json of 'weir replay' with this model.")
    ] = None,
) -> None:
    """Show a model's features, history, interval, action, bounds and provenance, what computes it, and how far ONNX
    Runtime, if Python has it, is from its golden vectors (1: as far as is allowed); or write its card.

    A model of the MMSys 2024 challenge has no metadata: its tensors and interval are shown, and how to run it.

    The card includes the sections of NAME.notes.md beside the model, such as known failures.
    """
    if not card and summary is not None:
        raise InputError("--summary: is for --card")
    for path in (file, *([summary] if summary else [])):
        check_exists(path)
    with loading():
        from weir_eval.model_file import ModelFile, read_any_model
        from weir_eval.records.summary import read_summary
        from weir_train.model.card import NO_RESULTS, replay_results, write_card
        from weir_train.model.file import parity

    if card:
        typer.echo(write_card(file, NO_RESULTS if summary is None else replay_results(read_summary(summary))))
        return
    described = read_any_model(file)
    shown = asdict(described)
    if isinstance(described, ModelFile):
        has_onnx_runtime = find_spec("onnxruntime") is not None
        shown["onnxruntime_difference"] = (
            round(parity(read_bytes(file, LARGEST_MODEL_BYTES)), 6) if has_onnx_runtime else None
        )
    if as_json:
        typer.echo(json.dumps(shown, indent=1))
        return
    width = max(map(len, shown)) + 2
    for key, value in shown.items():
        text = ", ".join(value) if key == "features" else json.dumps(value) if isinstance(value, dict | list) else value
        typer.echo(printable_lines(f"{key + ':':{width}}{text}"))
