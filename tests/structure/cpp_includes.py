"""Which C++ folder of Weir includes which, read from the source; and the rules that these includes keep."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


@dataclass(frozen=True)
class Include:
    """A line `#include`; `quoted`: with quotation marks, as Weir's own headers are."""

    file: Path
    line: int
    header: str
    quoted: bool

    def __str__(self) -> str:
        mark = ("<", ">") if not self.quoted else ('"', '"')
        return f"{self.file}:{self.line}: #include {mark[0]}{self.header}{mark[1]}"


def read_includes(folder: Path) -> Iterator[Include]:
    """Every include of the C and C++ files below a folder; `file` is relative to it."""
    for path in sorted(path for path in folder.rglob("*") if path.suffix in (".h", ".cc", ".c")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found = _INCLUDE.match(line)
            if found:
                yield Include(path.relative_to(folder), number, found[2], found[1] == '"')


def upward_includes(folder: Path, order: Sequence[Sequence[str]]) -> list[Include]:
    """The includes, below `folder`, of one of its folders from one above it or beside it.

    Args:
        folder: whose folders they are; a header of theirs is included as "FOLDER/NAME.h".
        order: the lowest first, each of folders that do not know one another.
    """
    rank = {name: number for number, names in enumerate(order) for name in names}
    return [
        one
        for one in read_includes(folder)
        if (includer := one.file.parts[0]) in rank
        and (included := one.header.partition("/")[0]) in rank
        and one.quoted
        and includer != included
        and rank[included] >= rank[includer]
    ]
