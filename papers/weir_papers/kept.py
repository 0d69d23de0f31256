"""Results that a repetition keeps, so that the same command continues after an interruption."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from weir_cli.errors import InputError
from weir_cli.files.input import parse_json, read_text
from weir_cli.files.output import make_folder, write_text


def kept(
    path: Path, options: Mapping[str, Any], measure: Callable[[], dict[str, Any]], *, field: str = "size"
) -> dict[str, Any]:
    """The result in a file; measured, and written there, where there is none yet. The file has the options in `field`.

    Raises:
        InputError: the file is of other options.
    """
    wanted = json.loads(json.dumps(options))
    if path.exists():
        found = parse_json(read_text(path), str(path))
        if found.get(field) != wanted:
            raise InputError(f"{path}: was measured with other options; give the same, or another folder")
        return dict(found["result"])
    make_folder(path.parent)
    result = measure()
    write_text(path, json.dumps({field: wanted, "result": result}, indent=1, allow_nan=False) + "\n")
    return result
