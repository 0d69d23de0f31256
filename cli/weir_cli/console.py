"""The output of commands."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from weir_cli.files.input import printable_lines


class _PlainConsole(Console):
    """Prints strings as they are: neither rich's markup nor untrusted escape sequences have an effect."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, highlight=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(printable_lines(text), **options)

    def print(self, *objects: Any, **options: Any) -> None:
        """Prints like rich, but strips trailing spaces in files and pipes: rich pads each row of a table."""
        if self.is_terminal:
            super().print(*objects, **options)
            return
        with self.capture() as captured:
            super().print(*objects, **options)
        self.file.write("\n".join(line.rstrip(" ") for line in captured.get().split("\n")))


def output_console(pipe_width: int = 250) -> Console:
    """Standard output; a file or a pipe, which has no width, gets `pipe_width`."""
    console = _PlainConsole()
    if not console.is_terminal:
        console.width = pipe_width
    return console


def error_console() -> Console:
    """Standard error as plain text, for progress and errors."""
    return _PlainConsole(stderr=True, soft_wrap=True)


def counted(number: int, noun: str) -> str:
    """A number with the noun that it counts."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
