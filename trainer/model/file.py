"""Files of new models: where they and their cards go, and a session that runs them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from weir.errors import InputError
from weir.files.input import read_bytes
from weir.files.output import refuse_to_overwrite

if TYPE_CHECKING:
    import onnxruntime

CARD_TITLE = "# Model card: "


def check_target(target: Path, *models: Path, force: bool) -> None:
    """Checks the file of a new model, and its card beside it, before it is made. `models`: a training's inputs.

    Raises:
        InputError: the target is no name of a model file, one of these models, there already (unless `force` is set),
            or cannot be written; or beside it is a file that its card would replace.
    """
    if target.suffix != ".onnx":
        raise InputError(f"--out '{target}': the name of a model file ends with .onnx")
    if os.path.realpath(target) in map(os.path.realpath, models):
        raise InputError(f"--out '{target}': is an input of the training; give another name")
    folder = os.path.dirname(os.path.realpath(target))
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        raise InputError(f"--out '{target}': its folder is missing or not writable")
    refuse_to_overwrite(target, force)
    card_of(target)


def card_of(model: Path) -> Path:
    """The file of a model's card, beside the model.

    Raises:
        InputError: there is a file of that name that is no card.
    """
    card = model.with_suffix(".md")
    if card.exists() and not (card.is_file() and read_bytes(card).startswith(CARD_TITLE.encode())):
        raise InputError(f"{card}: the model's card goes there, but it is no model card; rename it")
    return card


def make_session(model: bytes) -> onnxruntime.InferenceSession:
    """A model in ONNX Runtime, on one thread of the CPU."""
    # The import takes a third of a second.
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # as the estimator does
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
