"""The models that a running call may switch to: the shipped one, and those in one folder. Viewers can select no other
file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from weir import Model
from weir_cli.errors import InputError
from weir_cli.files.input import LARGEST_MODEL_BYTES, read_bytes
from weir_sim.installed import shipped_model

SHIPPED = "shipped"
_SUFFIX = ".onnx"
MAX_LISTED = 200


class Models:
    """Models by name: "shipped", or that of a file. Reads the folder each time; None: only the shipped model."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def names(self) -> list[str]:
        """The shipped model, then those of the folder, sorted, at most 200."""
        return [SHIPPED, *sorted(self._files())[:MAX_LISTED]]

    def checked(self, name: Any) -> Path:
        """The file of a model, after all checks that a call performs; takes up to seconds.

        Raises:
            InputError: there is no such model, or it is invalid.
            MissingComponent: this installation has no model.
        """
        if not isinstance(name, str) or name not in (SHIPPED, *self._files()):
            raise InputError(f"model: {str(name)[:80]!r} is not one of {', '.join(self.names()[:4])}, ...")
        path = shipped_model() if name == SHIPPED else self._files()[name]
        try:
            Model(read_bytes(path, LARGEST_MODEL_BYTES))
        except (InputError, ValueError) as error:
            raise InputError(f"model {name}: {error}; the model stays as it is") from None
        return path.absolute()

    def _files(self) -> dict[str, Path]:
        """Regular files in the folder itself; links must not lead out of it."""
        if self._folder is None:
            return {}
        try:
            folder = self._folder.resolve(strict=True)
            found = {path.name: Path(os.path.realpath(path)) for path in folder.iterdir() if path.suffix == _SUFFIX}
        except (OSError, RuntimeError):
            return {}
        return {
            name: path
            for name, path in found.items()
            if name != SHIPPED and name.isprintable() and path.parent == folder and path.is_file()
        }
