"""The patch series that Weir ships, one folder each beside this file, quilt style."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weir.errors import InputError
from weir.webrtc_patch.unified_diff import FileDiff, parse

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Patch:
    """One patch: its file name and what it does to each file."""

    name: str
    files: list[FileDiff]


def series_names() -> list[str]:
    """The names of the shipped series, sorted."""
    return sorted(folder.parent.name for folder in _FOLDER.glob("*/series"))


def read_series(name: str) -> list[Patch]:
    """The patches of a shipped series, in the order in which they apply.

    Raises InputError when there is no such series.
    """
    if name not in series_names():
        raise InputError(f"no patch series '{name}'; there are: {', '.join(series_names())}")
    folder = _FOLDER / name
    names = [line.strip() for line in (folder / "series").read_text(encoding="utf-8").splitlines()]
    return [
        Patch(patch, parse((folder / patch).read_text(encoding="utf-8"), f"{name}/{patch}"))
        for patch in names
        if patch and not patch.startswith("#")
    ]
