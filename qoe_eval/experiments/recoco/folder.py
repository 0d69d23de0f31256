"""The folder of `weir experiment recoco`: what it was made with, and one command at work in it."""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from weir.errors import InputError
from weir.files.input import parse_json, read_text
from weir.files.output import make_folder, write_text
from weir.traces.schema.scenario import Scenario

EXPERIMENT = "experiment.json"
SCENARIOS = "scenarios"
LOCK = "lock"


def prepare(out: Path, scenarios: Mapping[str, Scenario], settings: Mapping[str, Any]) -> dict[str, Path]:
    """Writes the scenarios and the settings into the folder; refuses a folder with an experiment of other settings.

    Returns:
        The scenario files by name.
    """
    documents = {name: scenario.to_dict() for name, scenario in scenarios.items()}
    digest = hashlib.sha256(json.dumps(documents, sort_keys=True).encode()).hexdigest()[:16]
    wanted = {**settings, "traces": digest}
    path = out / EXPERIMENT
    make_folder(out / SCENARIOS)
    found = parse_json(read_text(path), str(path)) if path.exists() else wanted
    other = [key for key in wanted if not isinstance(found, dict) or found.get(key) != wanted[key]]
    if other:
        raise InputError(
            f"--out {out}: holds an experiment with other {', '.join(other)}; give the same, or another folder"
        )
    files = {name: out / SCENARIOS / f"{name}.json" for name in scenarios}
    for name, scenario in scenarios.items():
        scenario.save(files[name])
    write_text(path, json.dumps(wanted, indent=1) + "\n")
    return {name: file.absolute() for name, file in files.items()}


@contextmanager
def alone_in(out: Path) -> Iterator[None]:
    """Keeps other commands out of the folder.

    Raises:
        InputError: one is at work there already.
    """
    with (out / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"--out {out}: another command is at work there; wait for it or stop it") from None
        yield
