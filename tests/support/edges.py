"""Folders at the edge of the repository, which a clone may lack: everything else builds and passes its tests."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
EDGES = ("calls", "logs", "papers", "plugins", "suites")


def is_in_absent_edge(path: Path) -> bool:
    """True for a path in such a folder, or in its tests, if the folder is not here."""
    try:
        parts = path.resolve().relative_to(ROOT).parts
    except ValueError:
        return False
    edge = (parts[1:] if parts[:1] == ("tests",) else parts)[:1]
    return bool(edge) and edge[0] in EDGES and not (ROOT / edge[0]).is_dir()
