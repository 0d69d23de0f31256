"""The `weir` command.

Exit status: 0 done, 1 failed, 2 wrong use or input, 3 a component is missing. An error that a user can mend is one
message on standard error.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Annotated, TextIO

import typer
from rich.console import Console

from weir.errors import InputError, MissingComponent
from weir.installation import installed_version
from weir.qoe_eval.bench.command import bench
from weir.qoe_eval.call.call import call
from weir.qoe_eval.doctor import doctor
from weir.qoe_eval.experiments.command import app as experiment_app
from weir.qoe_eval.link.link import link
from weir.qoe_eval.replay_command import replay
from weir.qoe_eval.report_command import app as report_app
from weir.qoe_eval.serve.serve import serve
from weir.traces.cli import app as traces_app
from weir.trainer.cli import add_commands
from weir.webrtc_patch.check import app as webrtc_app

# Wherever a write fails of these, it is no fault of the command.
_FULL_OR_CLOSED = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO)
# What Python says, as of a file that is not there, when every folder for temporary files is full.
_NO_TEMPORARY_FOLDER = "No usable temporary directory"


def main() -> None:
    """Runs the command and exits with its status."""
    # Those that were closed before we began are None, and the next files to be opened would get their numbers.
    sys.stdin, sys.stdout, sys.stderr = sys.stdin or _nothing(), sys.stdout or _nothing(), sys.stderr or _nothing()
    complain = Console(stderr=True, highlight=False, markup=False, soft_wrap=True).print
    # Names of files need not be valid UTF-8; they can be printed all the same.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    status = 0
    try:
        build_app()()
    except InputError as error:
        complain(f"weir: {error}")
        status = 2
    except MissingComponent as error:
        complain(f"weir: {error}")
        status = 3
    except OSError as error:
        if error.errno not in _FULL_OR_CLOSED and not str(error.strerror).startswith(_NO_TEMPORARY_FOLDER):
            raise
        complain(f"weir: {error.filename or 'what was to be written'}: {error.strerror}; make room and try again")
        _silence_output()
        status = 1
    sys.exit(status)


def _nothing() -> TextIO:
    return open(os.devnull, "r+")


def _silence_output() -> None:
    """What waits to be written to a full standard output would be complained about once more at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def build_app() -> typer.Typer:
    """The command with those of all packages; they are there whether or not what training needs is installed."""
    app = typer.Typer(
        name="weir",
        help="Measures what a network path can carry for a call, and compares rate controllers on it.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_options)
    for command in (replay, call, link, serve, doctor, bench):
        app.command()(command)
    app.add_typer(report_app, name="report")
    app.add_typer(traces_app, name="traces")
    app.add_typer(experiment_app, name="experiment")
    app.add_typer(webrtc_app, name="webrtc")
    add_commands(app)
    return app


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
