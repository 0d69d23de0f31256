"""Results, written whole or not at all, with errors that a user can act on.

A new file is written without a name, or where the file system has no such files beside its place, and takes its place
when it is complete: a full disk, an interruption or a death leaves what was there before, and nothing else. A device or
a pipe (``/dev/stdout``) is written to as it is.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from weir.errors import InputError
from weir.files.input import printable, why


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes a UTF-8 text file; characters that UTF-8 does not have become an escape.

    Raises:
        InputError: it cannot be written.
    """
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_bytes(path: str | os.PathLike[str], content: bytes | memoryview) -> None:
    """Writes a file.

    Raises:
        InputError: it cannot be written.
    """
    with replacing(path) as file:
        file.write(content)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write into, which becomes `path` when the block ends, and is removed when the block fails.

    Raises:
        InputError: it cannot be written.
    """
    with _told(path):
        if _is_special(path):
            with open(path, "wb") as file:
                yield file
            return
        # A link stays one.
        target = Path(os.path.realpath(path))
        part = target.with_name(f".weir-{secrets.token_hex(8)}.part")
        try:
            with _nameless(target.parent) or part.open("xb") as file:
                yield file
                file.flush()
                _give_name(file, part)
            part.replace(target)
        finally:
            with suppress(OSError):
                part.unlink()


def _nameless(folder: Path) -> IO[bytes] | None:
    """A file that is gone with this process, until it is given a name; None where there cannot be one."""
    try:
        return os.fdopen(os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o666), "wb")
    except OSError:
        return None


def _give_name(file: IO[bytes], path: Path) -> None:
    if not os.fstat(file.fileno()).st_nlink:
        # Only with a folder's descriptor does Python follow the link in /proc to the file itself.
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.link(f"/proc/self/fd/{file.fileno()}", path.name, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            os.close(folder)


def append(path: str | os.PathLike[str], content: bytes) -> None:
    """Writes at the end of a file. A disk that fills up leaves part of it there.

    Raises:
        InputError: it cannot be written.
    """
    with _told(path), open(path, "ab", buffering=0) as file:
        rest = memoryview(content)
        while rest:
            rest = rest[file.write(rest) :]


def make_folder(path: str | os.PathLike[str], option: str = "--out") -> None:
    """Makes a folder, and those above it, unless it is there.

    Raises:
        InputError: it cannot be made; the message names the option that asked for it.
    """
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{option} {printable(path)}: the folder cannot be made ({why(error)}); choose another"
        ) from None


def refuse_to_overwrite(path: str | os.PathLike[str], force: bool) -> None:
    """Stops a command that would replace a file, unless it was told to.

    Raises:
        InputError: there is such a file.
    """
    if not force and Path(path).is_file():
        raise InputError(f"{printable(path)}: is there already; choose another name, or add --force to replace it")


def _is_special(path: str | os.PathLike[str]) -> bool:
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return False


@contextmanager
def _told(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{printable(path)}: cannot be written ({why(error)}); make room, or choose another path"
        ) from None
