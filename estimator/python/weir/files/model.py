"""Model files: their metadata, inputs and outputs. Needs onnx, of the extra `bench`."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from typing import Any

import onnx
from google.protobuf.message import DecodeError

from weir.errors import InputError
from weir.files.input import LARGEST_MODEL_BYTES, read_bytes
from weir.registry import check_features

SCHEMA = "1"
_DEEPEST_PROVENANCE = 32
# Prefixes of a network's parameters in an exported graph; the other tensors are constants.
PARAMETERS = ("actor.", "head.")
# As in the library, which refuses such a model.
_MOST_METADATA_BYTES = 1 << 20


@dataclass(frozen=True)
class ModelFile:
    """A model file of `weir.schema` 1.

    `inputs` and `outputs`: name to shape. `golden_vectors`: their number. `parameters`: learned numbers.
    """

    path: str
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

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)


def read_model(path: str | os.PathLike[str]) -> ModelFile:
    """Reads a model file and its metadata.

    Raises:
        InputError: it is missing, no ONNX, or has no (or foreign, or broken) `weir.schema` metadata; the message
        names the fault.
    """
    data = read_bytes(path, LARGEST_MODEL_BYTES)
    try:
        model = onnx.load_from_string(data)
        onnx.checker.check_model(model)
    except (DecodeError, onnx.checker.ValidationError) as error:
        reason = str(error).splitlines()[0] if str(error) else "empty"
        raise InputError(f"{path}: is not an ONNX model ({reason}): give a file written by `weir export`") from None
    if any(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in model.graph.initializer):
        raise InputError(f"{path}: keeps parameters in another file: give a file written by `weir export`")
    if sum(entry.ByteSize() for entry in model.metadata_props) > _MOST_METADATA_BYTES:
        raise InputError(f"{path}: has more than 1 MiB of metadata: give a file written by `weir export`")
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    schema = metadata.get("weir.schema")
    if schema != SCHEMA:
        found = "no weir.schema" if schema is None else f"weir.schema {schema!r}"
        raise InputError(
            f"{path}: is an ONNX model with {found} in its metadata, not {SCHEMA!r}: "
            "give a file written by `weir export`"
        )
    try:
        features = metadata["weir.features"].split(",")
        check_features(features)
        return ModelFile(
            path=str(path),
            bytes=len(data),
            sha256=hashlib.sha256(data).hexdigest(),
            parameters=sum(
                _size(tensor.dims) for tensor in model.graph.initializer if tensor.name.startswith(PARAMETERS)
            ),
            name=metadata.get("weir.name", ""),
            version=metadata.get("weir.version", ""),
            features=features,
            history=int(metadata["weir.history"]),
            interval_ms=int(metadata["weir.interval_ms"]),
            action_kind=metadata["weir.action_kind"],
            min_bps=float(metadata["weir.min_bps"]),
            max_bps=float(metadata["weir.max_bps"]),
            golden_vectors=len(json.loads(metadata.get("weir.golden", "[]"))),
            inputs=_shapes(model.graph.input),
            outputs=_shapes(model.graph.output),
            provenance=_provenance(metadata.get("weir.provenance", "")),
        )
    except KeyError as error:
        raise InputError(f"{path}: the metadata lack {error.args[0]}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: the metadata are broken: {error}") from None


def _size(dimensions: Any) -> int:
    size = 1
    for dimension in dimensions:
        size *= dimension
    return size


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
