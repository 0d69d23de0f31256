"""Results, written whole or not at all, with errors that a user can act on.

A new file is written without a name, or where the file system has no such files beside its place, and takes its place
when it is complete: a full disk, an interruption or a death leaves what was there before, and nothing else. A device or
a pipe (``/dev/stdout``) is written to as it is, a pipe that nobody reads is refused. Root writes through no link of
another user.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import secrets
import stat
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from weir.errors import DiskFull, InputError
from weir.files.input import printable, why

RESULT_FILES = {
    "results.jsonl": "runs or calls",
    "call.json": "a call",
    "configuration.json": "a training",
    "tune.json": "a search",
}
"""The file by which a folder of results is known, and what the folder then holds."""
_READABLE_CHARACTERS = 60
_HASH_DIGITS = 8
_JSON_WIDTH = 120
# More than the kernel follows in a path.
_MOST_LINKS = 50


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
            with open(path, "wb", opener=_open_without_waiting) as file:
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
    with _told(path), open(path, "ab", buffering=0, opener=_open_without_waiting) as file:
        rest = memoryview(content)
        while rest:
            rest = rest[file.write(rest) :]


def make_folder(path: str | os.PathLike[str], option: str = "--out") -> None:
    """Makes a folder, and those above it, unless it is there.

    Raises:
        InputError: it cannot be made; the message names the option that asked for it.
    """
    try:
        _refuse_links_of_others(path)
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{option} '{printable(path)}': the folder cannot be made ({why(error)}); choose another"
        ) from None


@contextmanager
def alone_in(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Keeps other commands out of a folder until the block ends, where its file system has locks.

    Raises:
        InputError: one is at work there already.
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
    """Stops a command that would mix its results with those of another command.

    Args:
        folder: where they would go.
        own: the command's own file, which may be there.

    Raises:
        InputError: the folder holds results of another kind.
    """
    for name, what in RESULT_FILES.items():
        if name != own and os.path.lexists(folder / name):
            raise InputError(f"--out '{printable(folder)}': holds {what} ({name}); choose another folder")


def refuse_to_overwrite(path: str | os.PathLike[str], force: bool) -> None:
    """Stops a command that would replace a file, unless `force` is set.

    Raises:
        InputError: there is such a file.
    """
    if not force and os.path.isfile(path):
        raise InputError(f"{printable(path)}: is there already; choose another name, or add --force to replace it")


def _is_special(path: str | os.PathLike[str]) -> bool:
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return False


def _open_without_waiting(path: str | os.PathLike[str], flags: int) -> int:
    """Opens a file to write into, as open() does; a pipe that nobody reads would keep that waiting for ever."""
    try:
        descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise InputError(f"{printable(path)}: is a pipe that nobody reads; choose another path") from None
        raise
    os.set_blocking(descriptor, True)
    return descriptor


def _refuse_links_of_others(path: str | os.PathLike[str]) -> None:
    """Refuses, as root, a path with a link or a pipe of a user who is neither root nor who called sudo: it could make
    root overwrite any file, or wait for ever.
    """
    if os.geteuid() != 0:
        return
    sudo = os.environ.get("SUDO_UID", "")
    trusted = {0, int(sudo)} if sudo.isdecimal() else {0}
    place, links = "/", 0
    steps = os.path.join("" if os.path.isabs(path) else os.getcwd(), os.fsdecode(path)).split("/")[::-1]
    while steps and links < _MOST_LINKS:
        if (step := steps.pop()) in ("", "."):
            continue
        place = os.path.dirname(place) if step == ".." else os.path.join(place, step)
        try:
            status = os.lstat(place)
        except (OSError, ValueError):
            continue
        is_link = stat.S_ISLNK(status.st_mode)
        if (is_link or stat.S_ISFIFO(status.st_mode)) and status.st_uid not in trusted:
            raise InputError(
                f"{printable(path)}: {printable(place)} is a {'link' if is_link else 'pipe'} of user {status.st_uid}, "
                "through which root does not write; choose another path"
            )
        if is_link:
            links += 1
            target = os.readlink(place)
            place = "/" if target.startswith("/") else os.path.dirname(place)
            steps += target.split("/")[::-1]


@contextmanager
def _told(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        _refuse_links_of_others(path)
        yield
    except OSError as error:
        kind = DiskFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else InputError
        raise kind(f"{printable(path)}: cannot be written ({why(error)}); make room, or choose another path") from None


def file_name(*parts: str | int) -> str:
    """A name of at most 69 ASCII letters, digits and ``._+-`` that stands for these parts and no others.

    It begins with what is readable of them and ends in a hash of them all: parts that differ only in letters that are
    not kept, beyond the length that is kept, in case or in Unicode's forms have names of their own on any file system.
    """
    readable = re.sub(r"[^A-Za-z0-9._+-]", "_", "-".join(map(str, parts)))[:_READABLE_CHARACTERS].lstrip(".")
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:_HASH_DIGITS]
    return f"{readable}-{digest}"


def format_json(value: Any, indent: int = 0) -> str:
    """JSON text for people, without a line break at its end: objects indented, arrays of numbers in filled lines, whole
    numbers without a fraction.
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
