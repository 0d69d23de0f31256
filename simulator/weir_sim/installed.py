"""The files of the library's distribution that programs run."""

from __future__ import annotations

from pathlib import Path

import weir
from weir_cli.errors import MissingComponent
from weir_cli.installation import how_to_get


def shipped_model() -> Path:
    """Returns the ONNX file of the shipped model.

    Raises:
        MissingComponent: this copy of Weir has none.
    """
    path = weir.shipped_model_path()
    if not path.is_file():
        raise MissingComponent(f"the shipped model, {path}, is missing: {how_to_get('build')} installs it")
    return path
