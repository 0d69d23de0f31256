"""Checks files that models are made from before torch loads, and files of new models and their cards; runs a model in
ONNX Runtime, and compares it with its golden vectors.
"""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from weir import Model
from weir_cli.errors import InputError
from weir_cli.files.input import LARGEST_MODEL_BYTES, parse_json, read_bytes, read_text
from weir_cli.files.output import refuse_to_overwrite

if TYPE_CHECKING:
    import onnxruntime

CARD_TITLE = "# Model card: "
NOT_PPO: Final = "was not trained with PPO, and only such a policy can be adapted"
# Files of a training folder.
CHECKPOINT: Final = "checkpoint.zip"
CONFIGURATION: Final = "configuration.json"
AVERAGED: Final = "averaged.zip"
BEST_MODEL: Final = "best_model.zip"
# Relative and absolute tolerance of the library's check of golden vectors (`MatchesGolden`).
GOLDEN_TOLERANCE: Final = 1e-4


def trained_policy(source: Path) -> Path:
    """Returns the policy in a training folder: the average of the weights if there is one, else the last checkpoint. A
    file is itself the checkpoint.
    """
    averaged = source / AVERAGED
    return averaged if averaged.is_file() else source / CHECKPOINT if source.is_dir() else source


def check_checkpoint_file(checkpoint: Path) -> None:
    """Refuses a file that is not the checkpoint of a training run.

    Raises:
        InputError: the file was refused.
    """
    # A pipe might never begin.
    if not checkpoint.is_file() or not zipfile.is_zipfile(checkpoint):
        raise InputError(
            f"{checkpoint}: there is no such checkpoint, or it is damaged; give the folder of a training run"
        )
    read_text(checkpoint.parent / CONFIGURATION)


def check_source(source: Path) -> None:
    """Refuses a file that is neither an adaptable model nor the checkpoint of a training run.

    Raises:
        InputError: the file was refused.
    """
    if source.suffix != ".onnx":
        check_checkpoint_file(trained_policy(source))
        return
    content = read_bytes(source, LARGEST_MODEL_BYTES)
    try:
        text = Model(content).description["provenance"]
    except ValueError as error:
        raise InputError(f"{source}: {error}; give a file written by `weir export`") from None
    found = parse_json(text, f"{source}: its provenance") if text else {}
    provenance = found if isinstance(found, dict) else {}
    missing = [key for key in ("algorithm", "action", "network", "objectives", "reward") if key not in provenance]
    if missing:
        raise InputError(
            f"{source}: its provenance lacks {', '.join(missing)}: only a model written by `weir export` can be adapted"
        )
    if not str(provenance["algorithm"]).startswith("PPO"):
        raise InputError(f"{source}: {NOT_PPO}")


def check_target(target: Path, *models: Path, force: bool) -> None:
    """Checks the paths of a new model and its card before they are written. `models` are a training's inputs.

    Raises:
        InputError: the target is not the name of a model file, is one of these models, exists (unless `force` is set),
            or cannot be written; or the card would replace a file that is no card.
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
    """Returns the path of a model's card, next to the model.

    Raises:
        InputError: that file exists and is no card.
    """
    card = model.with_suffix(".md")
    if card.exists() and not (card.is_file() and read_bytes(card).startswith(CARD_TITLE.encode())):
        raise InputError(f"{card}: the model's card goes there, but it is no model card; rename it")
    return card


def make_session(model: bytes) -> onnxruntime.InferenceSession:
    """Loads a model in ONNX Runtime, on one thread of the CPU."""
    # The import takes a third of a second.
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # as the estimator does
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def parity(model: bytes) -> float:
    """Returns the largest difference between ONNX Runtime and a model's golden vectors, in units of the tolerance (at
    most 1 is good).
    """
    # Imported here, so that commands refuse wrong input before numpy loads.
    import numpy as np

    session = make_session(model)
    worst = 0.0
    input_names = [value.name for value in session.get_inputs()]
    for golden in json.loads(session.get_modelmeta().custom_metadata_map["weir.golden"]):
        names = [value.name for value in session.get_outputs() if value.name in golden]
        answers = session.run(names, {key: np.array([golden[key]], dtype=np.float32) for key in input_names})
        for answer, expected in zip(answers, (np.array(golden[key]) for key in names), strict=True):
            difference = np.abs(answer.reshape(-1) - expected) / (GOLDEN_TOLERANCE * (np.abs(expected) + 1.0))
            worst = max(worst, float(np.max(difference)))
    return worst
