"""A table in Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Head and rows, a line each; what would break a line or a cell is made harmless."""
    return _line(head) + "|" + "---|" * len(head) + "\n" + "".join(_line(row) for row in rows)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"
