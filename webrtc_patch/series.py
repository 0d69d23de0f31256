"""The shipped patch series (quilt style), and unified diffs: read, and applied without fuzz."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from weir.errors import InputError

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True)
class Hunk:
    """A run of lines: what stood there (`old`, from line `start`, counted from 1) and what shall stand there."""

    start: int
    old: list[str]
    new: list[str]


@dataclass
class FileDiff:
    """The hunks of one file, in the order of their lines. `path` is relative to the folder that the patch is for."""

    path: str
    is_new: bool
    hunks: list[Hunk] = field(default_factory=list)


@dataclass(frozen=True)
class HunkResult:
    """Where a hunk landed: its line in the text it was applied to, counted from 1; None where it does not fit."""

    hunk: Hunk
    line: int | None


def parse(text: str, name: str) -> list[FileDiff]:
    """The files of a patch; what precedes the first one is its description.

    Raises InputError, naming the patch as `name`, where the text is no unified diff or leaves the source tree.
    """
    files: list[FileDiff] = []
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        if lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ "):
            files.append(FileDiff(_path(lines[at + 1], name), is_new=lines[at].split()[1] == "/dev/null"))
            at += 2
        elif files and (match := _HUNK.match(lines[at])):
            hunk, at = _hunk(lines, at + 1, match, name)
            files[-1].hunks.append(hunk)
        else:
            at += 1
    if not files or not all(file.hunks for file in files):
        raise InputError(f"{name}: not a unified diff")
    return files


def apply(lines: list[str], diff: FileDiff) -> tuple[list[str] | None, list[HunkResult]]:
    """The lines with all hunks applied, and where each landed; None for the lines when one does not fit.

    A hunk whose lines are elsewhere is moved to the nearest place after the previous hunk. It is never applied to
    different lines.
    """
    result: list[str] = []
    results: list[HunkResult] = []
    done = 0  # Lines of the old text that are in the result.
    shift = 0  # By how much the previous hunk was off.
    for hunk in diff.hunks:
        place = _find(lines, hunk.old, hunk.start - 1 + shift, done)
        results.append(HunkResult(hunk, None if place is None else place + 1))
        if place is None:
            continue
        result += [*lines[done:place], *hunk.new]
        done = place + len(hunk.old)
        shift = place - (hunk.start - 1)
    if any(hunk.line is None for hunk in results):
        return None, results
    return result + lines[done:], results


def reverse(diff: FileDiff) -> FileDiff:
    """The diff that takes this one back. Its hunks' lines are the old ones: close enough to find them."""
    return FileDiff(diff.path, False, [Hunk(hunk.start, hunk.new, hunk.old) for hunk in diff.hunks])


def _path(header: str, name: str) -> str:
    path = header[4:].split("\t")[0].strip()
    parts = path.split("/")[1:]
    if not parts or path.startswith("/") or ".." in parts or "" in parts:
        raise InputError(f"{name}: '{path}' is not a file inside the source tree")
    return "/".join(parts)


def _hunk(lines: list[str], at: int, match: re.Match[str], name: str) -> tuple[Hunk, int]:
    old_count, new_count = (int(match[group] or 1) for group in (2, 4))
    old: list[str] = []
    new: list[str] = []
    while len(old) < old_count or len(new) < new_count:
        if at >= len(lines) or lines[at][:1] not in ("", " ", "+", "-"):
            raise InputError(f"{name}: a hunk ends too early, at line {at + 1}")
        kind, content = lines[at][:1] or " ", lines[at][1:]
        if kind != "+":
            old.append(content)
        if kind != "-":
            new.append(content)
        at += 1
    return Hunk(int(match[1]), old, new), at


def _find(lines: list[str], wanted: list[str], expected: int, first: int) -> int | None:
    """The index nearest to `expected`, and not before `first`, at which `wanted` stands."""
    if not wanted:
        return first if not lines else None
    places = (i for i in range(first, len(lines) - len(wanted) + 1) if lines[i : i + len(wanted)] == wanted)
    return min(places, key=lambda place: abs(place - expected), default=None)


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
