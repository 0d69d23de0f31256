"""Options of commands: a dataclass as the parameters of a command, and options that several commands have."""

from __future__ import annotations

import inspect
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields
from typing import Annotated, TypeVar, get_type_hints

import typer

from weir_cli.errors import end_interrupted

Options = TypeVar("Options")
ForceOption = Annotated[bool, typer.Option("--force", help="Replace the file where there is one.")]
ReferenceOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The controller that the others are compared with first. Default: the report's first that neither runs a "
        "model nor is a custom one.",
    ),
]


def _show_all(context: typer.Context, wanted: bool) -> None:
    if wanted:
        typer.echo(context.get_help())
        raise typer.Exit


HelpAllOption = Annotated[
    bool, typer.Option("--help-all", is_eager=True, callback=_show_all, help="Show every option.")
]
"""For a command with MOST_USED, whose --help shows only those options."""


def with_options(options: type[Options]) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Decorates a typer command that takes its options in one object: the fields of the dataclass `options`, annotated
    for typer, become its parameters.
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


@contextmanager
def loading() -> Iterator[None]:
    """Wraps the imports of a command that has checked its options; see `end_interrupted`."""
    handler = signal.signal(signal.SIGINT, end_interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
