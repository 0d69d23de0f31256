"""The model that comes with Weir."""

from __future__ import annotations

from pathlib import Path

import weir.trainer
from weir.errors import MissingComponent
from weir.installation import how_to_get

NAME = "weir.onnx"


def shipped_model() -> Path:
    """The bundled ONNX model of the controller weir.

    Raises:
        MissingComponent: this copy of Weir has none.
    """
    path = Path(weir.trainer.__file__).parent / "models" / NAME
    if not path.is_file():
        raise MissingComponent(
            f"the model {NAME} that comes with Weir is not there; name one with --model, or leave out --controller weir"
        )
    return path


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
