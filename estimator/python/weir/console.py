"""The common part of commands: output, and options as one dataclass."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, TypeVar, get_type_hints

from rich.console import Console

from weir.files.input import without_controls

Options = TypeVar("Options")


def output_console() -> Console:
    """Standard output: into a file or a pipe no line is broken."""
    console = Console(markup=False, highlight=False)
    if not console.is_terminal:
        console.width = 250
    return console


def error_console() -> Console:
    """Standard error, as plain text without control characters: for progress and complaints."""
    return _PlainConsole(stderr=True, markup=False, highlight=False, soft_wrap=True)


class _PlainConsole(Console):
    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*(without_controls(one) if isinstance(one, str) else one for one in objects), **options)


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
