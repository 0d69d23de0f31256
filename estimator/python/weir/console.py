"""Where commands print their tables."""

from __future__ import annotations

from rich.console import Console


def output_console() -> Console:
    """Standard output: into a file or a pipe no line is broken."""
    console = Console(markup=False, highlight=False)
    if not console.is_terminal:
        console.width = 250
    return console
