"""A page as data: sections, and the blocks in them, which `page/blocks.html` lays out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weir_eval.report.chart_rows import Chart
from weir_eval.report.page_table import Block, Table

_LONGEST_NAME = 120
_MARKED = re.compile(r"(\*\*.+?\*\*|`.+?`)")


@dataclass(frozen=True)
class Span:
    """Part of a text: the name of its element, a class of CSS, and where a link leads."""

    text: str
    element: str = "b"
    kind: str = ""
    href: str = ""


Words = str | Sequence[str | Span]
"""A text, or its parts; all of it is escaped."""


@dataclass(frozen=True)
class Text(Block):
    """A paragraph; `kind` is a class of CSS: note, verdict, caption."""

    words: Words
    kind: str = ""


@dataclass(frozen=True)
class Heading(Block):
    """A heading inside of a section."""

    text: str


@dataclass(frozen=True)
class Bullets(Block):
    """A list; `kind` is a class of CSS."""

    items: Sequence[Words]
    kind: str = ""


@dataclass(frozen=True)
class Entries(Block):
    """Names, and what belongs to each."""

    entries: Sequence[tuple[str, Words]]


@dataclass(frozen=True)
class Choices(Block):
    """A drop-down of labels, and the table of the one chosen; only the first is shown without JavaScript."""

    id: str
    title: str
    choices: Sequence[tuple[str, Table]]


@dataclass(frozen=True)
class Charts(Block):
    """A chart of rows; `kind` is a class of CSS, which has its height. With a title, a drop-down of several charts: one
    such on a page.
    """

    charts: Sequence[Chart]
    title: str = ""
    kind: str = "connection"


@dataclass(frozen=True)
class Figure(Block):
    """A chart that `page/scatter.js` draws by its id, from data of its own."""

    id: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Grid(Block):
    """Blocks side by side; `kind` is a class of CSS."""

    kind: str
    cells: Sequence[Sequence[Block]]


@dataclass(frozen=True)
class Folded(Block):
    """Something long, folded away below its title."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Section:
    """One section of a page.

    Attributes:
        id: of its element.
        link: its name in the navigation; one without is a notice and not in it.
        blocks: in their order; those that are None are left out.
        heading: where it is not the link.
        is_folded: it is closed until a click, or a link to it; its charts are drawn then.
    """

    id: str
    link: str
    blocks: Sequence[Block | None]
    heading: str = ""
    is_folded: bool = False


def note(marked: str) -> Text:
    """A paragraph that explains: `**` is around bold words, and a backtick around code. Names from outside, which may
    have these too, are for a `Text`.
    """
    spans = {"*": lambda text: Span(text[2:-2]), "`": lambda text: code(text[1:-1])}
    return Text([spans.get(part[:1], str)(part) for part in _MARKED.split(marked)], "note")


def code(text: str) -> Span:
    """A command, or the name of a file."""
    return Span(text, "code")


def cut(name: str) -> str:
    """A name from outside, which may have thousands of letters, in at most 120."""
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
