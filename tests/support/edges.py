"""Folders at the edge of the repository, which a clone may lack: everything else builds and passes its tests."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# The commands of each.
EDGES = {
    "calls": {"call", "link", "serve"},
    "logs": {"whatif"},
    "papers": {"paper"},
    "plugins": set(),
    "suites": {"bench", "evaluate"},
}
ABSENT = {edge for edge in EDGES if not (ROOT / edge).is_dir()}
ABSENT_COMMANDS = {command for edge in ABSENT for command in EDGES[edge]}


def is_in_absent_edge(path: Path) -> bool:
    """True for a path in such a folder, or in its tests, if the folder is not here."""
    try:
        parts = path.resolve().relative_to(ROOT).parts
    except ValueError:
        return False
    edge = (parts[1:] if parts[:1] == ("tests",) else parts)[:1]
    return bool(edge) and edge[0] in ABSENT


def skip_without_command(command: str) -> None:
    """Skips the test if the command is of a folder that is not here."""
    if command in ABSENT_COMMANDS:
        pytest.skip(f"the folder of `weir {command}` is not here")
