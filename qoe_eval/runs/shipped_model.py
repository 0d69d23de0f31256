"""The model that comes with Weir."""

from __future__ import annotations

from pathlib import Path

from weir.errors import MissingComponent
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
        MissingComponent: there is none.
    """
    return (given or shipped_model()).absolute()
