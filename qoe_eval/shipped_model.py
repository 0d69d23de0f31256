"""The model that comes with Weir."""

from __future__ import annotations

from pathlib import Path

import weir.trainer
from weir.traces.errors import MissingComponent

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
