"""The entry point of `weir`: runs the command, and converts errors to one message and an exit status.

Imports only the standard library, so that it can report any missing package.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from enum import IntEnum
from typing import TextIO

from weir_cli.errors import ComponentFailed, DiskFull, InputError, MissingComponent, end_interrupted

# Write errors that are not the command's fault.
_FULL_OR_CLOSED = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO)
# Python's text when every folder for temporary files is full; it looks like a missing file.
_NO_TEMPORARY_FOLDER = "No usable temporary directory"


class ExitStatus(IntEnum):
    """The exit status of `weir`."""

    DONE = 0
    FAILED = 1
    WRONG_INPUT = 2
    MISSING_COMPONENT = 3


def main() -> None:
    """Runs the command and exits with its status."""
    # Ctrl-C ends the process at once during imports and shutdown. While a command runs, it raises KeyboardInterrupt.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, end_interrupted)
    # Standard streams that are closed at the start are None; files opened later would get their descriptors.
    sys.stdin, sys.stdout, sys.stderr = sys.stdin or _nothing(), sys.stdout or _nothing(), sys.stderr or _nothing()
    # Make file names that are not valid UTF-8 printable.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        sys.exit(_run())
    finally:
        if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, end_interrupted):
            signal.signal(signal.SIGINT, signal.SIG_DFL)


def _run() -> ExitStatus:
    try:
        if any(argument == "" or (argument[:2] == "--" and argument[-1] == "=") for argument in sys.argv[1:]):
            raise InputError("an argument is empty; give it a value, or leave its option away")
        from weir_cli.app import build_app

        build_app()()
    except (ComponentFailed, DiskFull) as error:
        return _fail(str(error), ExitStatus.FAILED)
    except InputError as error:
        return _fail(str(error), ExitStatus.WRONG_INPUT)
    except MissingComponent as error:
        return _fail(str(error), ExitStatus.MISSING_COMPONENT)
    except ModuleNotFoundError as error:
        package = (error.name or "weir").partition(".")[0]
        if package == "weir":
            raise
        from weir_cli.installation import missing_module

        return _fail(str(missing_module(package)), ExitStatus.MISSING_COMPONENT)
    except OSError as error:
        if error.errno not in _FULL_OR_CLOSED and not str(error.strerror).startswith(_NO_TEMPORARY_FOLDER):
            if error.filename is None:
                raise
            return _fail(f"{os.fsdecode(error.filename)}: {error.strerror}; check the path", ExitStatus.WRONG_INPUT)
        status = _fail(
            f"{error.filename or 'the output'}: {error.strerror}; free some space and try again", ExitStatus.FAILED
        )
        # Prevent a second error when Python flushes the remaining output at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return status
    return ExitStatus.DONE


def _fail(message: str, status: ExitStatus) -> ExitStatus:
    from weir_cli.files.input import printable_lines

    print(f"weir: {printable_lines(message)}", file=sys.stderr)
    return status


def _nothing() -> TextIO:
    return open(os.devnull, "r+")
