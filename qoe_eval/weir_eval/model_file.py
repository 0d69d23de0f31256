"""Model files: their metadata, inputs and outputs. Needs onnx."""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import dataclass
from typing import Any

import onnx

from weir import Model
from weir_cli.errors import InputError
from weir_cli.files.input import LARGEST_MODEL_BYTES, read_bytes

_DEEPEST_PROVENANCE = 32
# Prefixes of a network's parameters in an exported graph; the other tensors are constants.
PARAMETERS = ("actor.", "head.")


@dataclass(frozen=True)
class ModelFile:
    """A model file of `weir.schema` 1.

    `inputs` and `outputs` map names to shapes; `golden_vectors` and `parameters` are counts; `computed_by` is "the
    library", or "ONNX Runtime" if the model needs it.
    """

    path: str
    format: str
    bytes: int
    sha256: str
    parameters: int
    name: str
    version: str
    features: list[str]
    history: int
    interval_ms: int
    action_kind: str
    min_bps: float
    max_bps: float
    golden_vectors: int
    inputs: dict[str, list[int | str]]
    outputs: dict[str, list[int | str]]
    provenance: Any
    computed_by: str


@dataclass(frozen=True)
class ChallengeModelFile:
    """A model file of the MMSys 2024 challenge, which has no metadata.

    `inputs`, `outputs` and `computed_by` are as in `ModelFile`. `use` has the options of commands that run it.
    """

    path: str
    format: str
    bytes: int
    sha256: str
    interval_ms: int
    inputs: dict[str, list[int | str]]
    outputs: dict[str, list[int | str]]
    computed_by: str
    use: str


def read_model(path: str | os.PathLike[str]) -> ModelFile:
    """Reads a model file and its metadata.

    Raises:
        InputError: it is missing, the library refuses it, or it is from the MMSys 2024 challenge; the message has the
            reason.
    """
    model = read_any_model(path)
    if isinstance(model, ChallengeModelFile):
        raise InputError(
            f"{path}: is a model of the MMSys 2024 challenge, without Weir's metadata; give a file written by "
            "`weir export`"
        )
    return model


def read_any_model(path: str | os.PathLike[str]) -> ModelFile | ChallengeModelFile:
    """Reads a model file of either format that the library runs.

    Raises:
        InputError: it is missing, or the library refuses it; the message has the reason.
    """
    data = read_bytes(path, LARGEST_MODEL_BYTES)
    try:
        model = Model(data)
    except ValueError as error:
        raise InputError(f"{path}: {error}; give a file written by `weir export`") from None
    about = model.description
    graph = onnx.load_from_string(data)
    common: dict[str, Any] = {
        "path": str(path),
        "format": about["format"],
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "interval_ms": round(about["interval_ms"]),
        "inputs": _shapes(graph.graph.input),
        "outputs": _shapes(graph.graph.output),
        "computed_by": "ONNX Runtime" if model.needs_onnxruntime else "the library",
    }
    if about["format"] == "mmsys2024":
        use = "weir replay --controller FILE, or FILE:bare without the guard; weir:FILE in a pool"
        return ChallengeModelFile(**common, use=use)
    golden = next((entry.value for entry in graph.metadata_props if entry.key == "weir.golden"), "[]")
    parameters = (tensor.dims for tensor in graph.graph.initializer if tensor.name.startswith(PARAMETERS))
    return ModelFile(
        **common,
        name=about["name"],
        version=about["version"],
        features=about["features"],
        history=about["history"],
        action_kind=about["action_kind"],
        min_bps=about["min_bps"],
        max_bps=about["max_bps"],
        parameters=sum(math.prod(dimensions) for dimensions in parameters),
        golden_vectors=len(json.loads(golden)),
        provenance=_provenance(about["provenance"]),
    )


def _shapes(values: Any) -> dict[str, list[int | str]]:
    return {
        value.name: [dimension.dim_param or dimension.dim_value for dimension in value.type.tensor_type.shape.dim]
        for value in values
    }


def _provenance(text: str) -> Any:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    # Deeper nesting can be neither copied nor printed.
    level = [found]
    for _ in range(_DEEPEST_PROVENANCE):
        level = [
            inner
            for value in level
            for inner in (value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
        ]
    return text if level else found
