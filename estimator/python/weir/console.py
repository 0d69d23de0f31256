"""The common part of commands: output, and options as one dataclass."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Annotated, Any, TypeVar, get_type_hints

import typer
from rich.console import Console
from rich.text import Text

from weir.files.input import printable_lines

Options = TypeVar("Options")
ForceOption = Annotated[bool, typer.Option("--force", help="Replace the file where there is one.")]


class _PlainConsole(Console):
    """Prints strings as they are: neither rich's markup nor a stranger's escape sequences have an effect."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, highlight=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(printable_lines(text), **options)


def output_console(pipe_width: int = 250) -> Console:
    """Standard output; a file or a pipe, which has no width of its own, gets `pipe_width`."""
    console = _PlainConsole()
    if not console.is_terminal:
        console.width = pipe_width
    return console


def error_console() -> Console:
    """Standard error, as plain text: for progress and complaints."""
    return _PlainConsole(stderr=True, soft_wrap=True)


def with_options(options: type[Options]) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Decorates a command of typer that takes its options in one object: the fields of the dataclass `options`, which
    are annotated as typer needs them, become its parameters.
    """
    types = get_type_hints(options, include_extras=True)

    parameters = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=types[field.name],
        )
        for field in fields(options)  # type: ignore[arg-type] # every caller gives a dataclass
    ]

    def decorate(run: Callable[[Options], None]) -> Callable[..., None]:
        def command(**values: object) -> None:
            run(options(**values))

        command.__doc__, command.__name__ = run.__doc__, run.__name__
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # any attribute can be set
        return command

    return decorate
