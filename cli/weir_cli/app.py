"""The command `weir` with the subcommands of all installed distributions; only the one that runs is imported."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from weir_cli.errors import InputError, end_interrupted, unknown
from weir_cli.installation import installed_version

Commands = Mapping[str, tuple[Any, str]]
"""A table as in `weir_cli.commands`."""

# The base class of typer's usage errors.
_UsageError: Any = typer.BadParameter.__base__
_LOOK: dict[str, Any] = {"pretty_exceptions_enable": False, "rich_markup_mode": None}


def build_app() -> typer.Typer:
    """The command with its subcommands, including those whose optional packages are not installed."""
    # Completion options precede any command. Adding them loads pydantic, which takes longer than the rest.
    completion = not sys.argv[1:] or sys.argv[1].startswith("-")
    app = _group(
        registered_commands(),
        "Estimates the bandwidth of a call, and compares rate controllers.",
        completion=completion,
    )
    app.callback()(_options)
    return app


def registered_commands() -> Commands:
    """The commands of all distributions, in the order of their names. Loads their tables alone."""
    tables = [entry.load() for entry in entry_points(group="weir.commands")]
    return dict(sorted((name, command) for table in tables for name, command in table.items()))


class _BooleanHelp:
    """A mixin that makes False the default of --help: for None, typer would load pydantic."""

    def get_help_option(self, ctx: Any) -> Any:
        option = super().get_help_option(ctx)  # type: ignore[misc] # of the class that it is mixed into
        if option is not None:
            option.default = False
        return option


class _Command(_BooleanHelp, TyperCommand):
    """A command. If its module has MOST_USED (help texts by parameter), --help shows only these parameters."""

    most_used: Mapping[str, str] = {}

    def format_help(self, ctx: Any, formatter: Any) -> None:
        if not self.most_used or "--help-all" in sys.argv:
            super().format_help(ctx, formatter)
            return
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        params = {param.name: param for param in self.params}
        with formatter.section("Most used"):
            formatter.write_dl([(_shown(params[name], ctx), text) for name, text in self.most_used.items()])
        formatter.write_paragraph()
        formatter.write_text(f"{len(params) - len(self.most_used)} more: {ctx.command_path} --help-all")


def _shown(parameter: Any, ctx: Any) -> str:
    metavar = parameter.metavar or parameter.make_metavar(ctx)
    return f"{parameter.opts[-1]} {metavar}" if parameter.opts[-1].startswith("-") else metavar


def _group(commands: Commands, text: str, *, completion: bool = False) -> typer.Typer:
    class Group(_BooleanHelp, TyperGroup):
        def __init__(self, **attributes: Any) -> None:
            super().__init__(**attributes)
            # The names are for suggestions only; `get_command` loads the commands.
            self.commands: Any = dict.fromkeys(commands)

        def main(self, *arguments: Any, **options: Any) -> Any:
            try:
                status = super().main(*arguments, **options | {"standalone_mode": False})
            except _UsageError as error:
                if type(error).__name__ != "NoArgsIsHelpError":
                    raise InputError(_in_our_form(error)) from None
                error.show()
                status = error.exit_code
            sys.exit(status or 0)

        def invoke(self, ctx: Any) -> Any:
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt:
                typer.echo("weir: interrupted", err=True)
                raise typer.Exit(1) from None

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            return _load(cmd_name, *commands[cmd_name]) if cmd_name in commands else None

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            with formatter.section("Commands"):
                formatter.write_dl([(name, text) for name, (_, text) in commands.items()])

    app = typer.Typer(cls=Group, help=text, no_args_is_help=True, add_completion=completion, **_LOOK)
    app.callback()(lambda: None)
    return app


def _in_our_form(error: Any) -> str:
    """The message of a usage error: option, value in quotes, fault, and the command that shows the options."""
    from weir_cli.files.input import printable

    parameter, context = getattr(error, "param", None), error.ctx
    refused: list[Any] = getattr(error.__cause__, "errors", list)()
    text = error.format_message().rstrip(".")
    if hasattr(error, "possibilities"):
        meant = ", ".join(sorted(error.possibilities or []))
        text = f"{error.option_name}: no such option" + (f"; did you mean {meant}?" if meant else "")
    elif parameter is not None and refused:
        option = parameter.opts[-1] if parameter.opts[-1].startswith("-") else parameter.make_metavar(context)
        value, fault = str(refused[0]["input"]), refused[0]["msg"].removeprefix("Value error, ").rstrip(".")
        if choices := re.search(r"is not one of (.*)", fault):
            known = re.findall("'([^']*)'", choices[1])
            fault = f"not known; {unknown(value, known)}"
        fault = fault.replace("Input should be", "must be", 1).partition(", unable to parse")[0]
        text = f"{option} '{printable(value)}': {fault}"
    if context is None:
        return _lower_first(text)
    return f"{_lower_first(text)}{' ' if text.endswith('?') else '; '}'{context.command_path} --help' shows the options"


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _load(name: str, place: Any, text: str) -> Any:
    if not isinstance(place, str):
        return typer.main.get_command(_group(place, text))
    module, _, attribute = place.partition(":")
    found = getattr(import_module(module), attribute)
    if not isinstance(found, typer.Typer):
        function, found = found, typer.Typer(add_completion=False, **_LOOK)
        found.command(name, cls=_Command)(function)
    command = typer.main.get_command(found)
    if isinstance(command, _Command):
        command.most_used = getattr(import_module(module), "MOST_USED", {})
    # Ctrl-C ended the process while modules were loading; from here on it raises KeyboardInterrupt.
    if signal.getsignal(signal.SIGINT) is end_interrupted:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return command


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"weir {installed_version() or '(not installed)'}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass
