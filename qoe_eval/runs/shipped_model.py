"""The model that comes with Weir."""

from __future__ import annotations

from pathlib import Path

import weir
from weir.errors import MissingComponent
from weir.installation import how_to_get
from weir.trainer import SHIPPED_MODEL


def shipped_model() -> Path:
    """The bundled ONNX model of the controller weir.

    Raises:
        MissingComponent: this copy of Weir has none.
    """
    if not SHIPPED_MODEL.is_file():
        raise MissingComponent(
            f"the model {SHIPPED_MODEL.name} that comes with Weir is not there; name one with --model, or leave out "
            "--controller weir"
        )
    return SHIPPED_MODEL


def model_to_run(given: Path | None) -> Path:
    """The absolute path of the model for the controller weir: the given one, else the bundled one.

    Raises:
        MissingComponent: there is none, or no ONNX Runtime to run one with.
    """
    if not weir.ONNXRUNTIME_VERSION:
        raise MissingComponent(
            f"models need onnxruntime, which is not installed: {how_to_get('build', 'onnxruntime')} brings it"
        )
    return (given or shipped_model()).absolute()
