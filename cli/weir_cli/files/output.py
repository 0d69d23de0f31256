"""Writes results completely or not at all, with errors that a user can act on.

A new file is written without a name, or next to its path if the file system has no unnamed files, and gets its path
when it is complete: after a full disk, an interruption or a crash, only the old file is there. A device or a pipe
(``/dev/stdout``) is written directly; a pipe without a reader is refused. Root follows no link of another user: a path
is opened folder by folder, and each opened folder or file is checked.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import io
import json
import os
import re
import secrets
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from weir_cli.errors import DiskFull, InputError
from weir_cli.files.input import printable, why
from weir_cli.files.place import place_of

RESULT_FILES = {
    "results.jsonl": "runs or calls",
    "call.json": "a call",
    "configuration.json": "a training",
    "study.log": "a search",
}
"""Maps the file that identifies a folder of results to what the folder holds."""
REPORT = "report.html"
"""The page of a folder of results; its title begins with Weir's name."""
_TITLE, _HEAD_BYTES = b"<title>Weir", 1000
_READABLE_CHARACTERS = 60
_HASH_DIGITS = 8
_JSON_WIDTH = 120


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes a UTF-8 text file; characters that UTF-8 cannot encode are escaped.

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
    """Opens a file for writing, which becomes `path` when the block ends, and is removed when the block fails.

    Raises:
        InputError: it cannot be written.
    """
    with _reporting_errors(path), place_of(path) as place:
        if place.is_special:
            with os.fdopen(place.open(os.O_WRONLY | os.O_TRUNC), "wb") as file:
                yield file
            return
        part = f".weir-{secrets.token_hex(8)}.part"
        try:
            with os.fdopen(_nameless(place.folder) or _new(place.folder, part), "wb") as file:
                yield file
                file.flush()
                if not os.fstat(file.fileno()).st_nlink:
                    # Python follows the link in /proc to the file itself only with a folder's descriptor.
                    source = f"/proc/self/fd/{file.fileno()}"
                    os.link(source, part, src_dir_fd=place.folder, dst_dir_fd=place.folder)
            os.replace(part, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
        finally:
            with suppress(OSError):
                os.unlink(part, dir_fd=place.folder)


def _nameless(folder: int) -> int | None:
    """Opens a file that vanishes with this process unless it gets a name; None if there cannot be one."""
    try:
        return os.open(".", os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o666, dir_fd=folder)
    except OSError:
        return None


def _new(folder: int, name: str) -> int:
    return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=folder)


def opened(path: str | os.PathLike[str], *, append: bool = False) -> io.FileIO:
    """Opens a file for writing without a buffer, and empties it unless `append`.

    Raises:
        InputError: it cannot be opened.
    """
    with _reporting_errors(path), place_of(path) as place:
        how = os.O_APPEND if append else os.O_TRUNC
        return io.FileIO(place.open(os.O_WRONLY | os.O_CREAT | how), "wb")


def append(path: str | os.PathLike[str], content: bytes) -> None:
    """Appends to a file. If the disk becomes full, part of the content remains.

    Raises:
        InputError: it cannot be written.
    """
    with _reporting_errors(path), opened(path, append=True) as file:
        rest = memoryview(content)
        while rest:
            rest = rest[file.write(rest) :]


def make_folder(path: str | os.PathLike[str], option: str = "--out") -> None:
    """Makes a folder, and those above it, unless it exists.

    Raises:
        InputError: it cannot be made; the message names the option that requested it.
    """
    try:
        with place_of(path, make=True) as place:
            place.make_folder()
    except OSError as error:
        raise InputError(
            f"{option} '{printable(path)}': the folder cannot be made ({why(error)}); choose another"
        ) from None


@contextmanager
def alone_in(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Keeps other commands out of a folder until the block ends, if its file system has locks.

    Raises:
        InputError: another command is using the folder.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"{printable(folder)}: another weir writes its results there; wait for it, or choose another folder"
            ) from None
        except OSError:
            pass
        yield
    finally:
        os.close(descriptor)


def refuse_other_results(folder: Path, own: str) -> None:
    """Stops a command that would mix its results with those of another command, or replace a foreign page.

    Args:
        folder: the folder of the results.
        own: the command's own file, which may exist.

    Raises:
        InputError: the folder holds results of another kind, or a page that Weir has not written.
    """
    for name, content in RESULT_FILES.items():
        if name != own and os.path.lexists(folder / name):
            raise InputError(f"--out '{printable(folder)}': holds {content} ({name}); choose another folder")
    page = folder / REPORT
    is_beside_results = own != REPORT and os.path.lexists(folder / own)
    if page.is_file() and not is_beside_results:
        with _reporting_errors(page), page.open("rb") as file:
            if _TITLE not in file.read(_HEAD_BYTES):
                raise InputError(f"{printable(page)}: is not a page of Weir's; choose another folder, or move it away")


def begin_page(folder: Path) -> Path:
    """Creates `folder` if needed and returns the path of the page in it, for results without a folder of their own.
    Called before the work, so that an unsuitable folder costs none.

    Raises:
        InputError: the folder cannot be created, or it holds results of another kind or a page that is not Weir's.
    """
    make_folder(folder)
    refuse_other_results(folder, REPORT)
    return folder / REPORT


def refuse_to_overwrite(path: str | os.PathLike[str], force: bool) -> None:
    """Stops a command that would replace a file, unless `force` is set.

    Raises:
        InputError: the file exists.
    """
    if not force and os.path.isfile(path):
        raise InputError(f"{printable(path)}: is there already; choose another name, or add --force to replace it")


@contextmanager
def _reporting_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        kind = DiskFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else InputError
        raise kind(f"{printable(path)}: cannot be written ({why(error)}); make room, or choose another path") from None


def file_name(*parts: str | int) -> str:
    """Returns a name of at most 69 ASCII letters, digits and ``._+-`` that is unique to these parts.

    It begins with a readable form of the parts and ends in a hash of them all: parts that differ only in replaced
    letters, beyond the length limit, in case or in Unicode's forms get different names on any file system.
    """
    readable = re.sub(r"[^A-Za-z0-9._+-]", "_", "-".join(map(str, parts)))[:_READABLE_CHARACTERS].lstrip(".")
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:_HASH_DIGITS]
    return f"{readable}-{digest}"


def format_json(value: Any, indent: int = 0) -> str:
    """Formats JSON for people, without a line break at the end: objects indented, arrays of numbers in filled lines,
    whole numbers without a fraction.
    """
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        if not value:
            return "{}"
        short = "{" + ", ".join(f"{json.dumps(k)}: {format_json(v)}" for k, v in value.items()) + "}"
        if indent and "\n" not in short and len(short) + indent <= 100:
            return short
        items = [f"{inner}{json.dumps(key)}: {format_json(item, indent + 2)}" for key, item in value.items()]
        return "{\n" + ",\n".join(items) + "\n" + " " * indent + "}"
    if isinstance(value, list):
        if not value:
            return "[]"
        texts = [format_json(item, indent + 2) for item in value]
        if any(isinstance(item, dict) for item in value):
            return "[\n" + ",\n".join(inner + text for text in texts) + "\n" + " " * indent + "]"
        line = "[" + ", ".join(texts) + "]"
        if len(line) + indent <= 100:
            return line
        filled = textwrap.fill(
            ", ".join(texts), _JSON_WIDTH, initial_indent=inner, subsequent_indent=inner, break_on_hyphens=False
        )
        return "[\n" + filled + "\n" + " " * indent + "]"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
