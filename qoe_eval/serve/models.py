"""The models that a call may change to while it lasts: the shipped one, and those of one folder. Whoever may steer a
call may name no other file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from weir._core import describe_model
from weir.errors import InputError
from weir.files.input import LARGEST_MODEL_BYTES, read_bytes
from weir.qoe_eval.runs.options import shipped_model

SHIPPED = "shipped"
_SUFFIX = ".onnx"
MAX_LISTED = 200


class Models:
    """By name: "shipped", or a file's. The folder is read anew each time; None: there is only the shipped model."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def names(self) -> list[str]:
        """The shipped one, then those of the folder by name, at most 200."""
        return [SHIPPED, *sorted(self._files())[:MAX_LISTED]]

    def checked(self, name: Any) -> Path:
        """The file of a model, which has passed every check that a call makes of it; takes up to seconds.

        Raises:
            InputError: there is none of this name, or it is refused; the message says why.
            MissingComponent: this copy of Weir has no model.
        """
        if not isinstance(name, str) or name not in (SHIPPED, *self._files()):
            raise InputError(f"model: {str(name)[:80]!r} is none of {', '.join(self.names()[:4])}, ...")
        path = shipped_model() if name == SHIPPED else self._files()[name]
        try:
            describe_model(read_bytes(path, LARGEST_MODEL_BYTES))
        except (InputError, ValueError) as error:
            raise InputError(f"model {name}: {error}; the model stays as it is") from None
        return path.absolute()

    def _files(self) -> dict[str, Path]:
        """Plain files that lie in the folder itself; a link does not lead out of it."""
        if self._folder is None:
            return {}
        try:
            folder = self._folder.resolve(strict=True)
            found = {path.name: path.resolve() for path in folder.iterdir() if path.suffix == _SUFFIX}
        except (OSError, RuntimeError):
            return {}
        return {
            name: path
            for name, path in found.items()
            if name != SHIPPED and name.isprintable() and path.parent == folder and path.is_file()
        }
