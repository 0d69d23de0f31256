"""Reads files that a user names, with a size limit and with errors that the user can act on."""

from __future__ import annotations

import codecs
import errno
import hashlib
import json
import math
import os
import select
import stat
import time
from collections import Counter
from pathlib import Path
from typing import Any, BinaryIO

from weir_cli.errors import InputError

LARGEST_TEXT_BYTES = 64 << 20
"""Size limit of a trace, a scenario, a configuration or a summary, far above any real one."""

LARGEST_MODEL_BYTES = 64 << 20
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}
_LONGEST_WAIT_S = 10.0
_LONGEST_READ_S = 60.0


def read_bytes(path: str | os.PathLike[str], largest_bytes: int = LARGEST_TEXT_BYTES) -> bytes:
    """Reads a file, or a pipe that another process writes into.

    Raises:
        InputError: it is missing, unreadable, above `largest_bytes`, or a pipe that delivers nothing for 10 s or has no
            end after 60 s.
    """
    shown = printable(path)
    try:
        # Non-blocking: opening a pipe without a writer would wait forever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise InputError(f"{shown}: no such file; check the path") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{shown}: cannot be read ({why(error)})") from None
    content = bytearray()
    deadline = time.monotonic() + _LONGEST_READ_S
    try:
        ready = select.poll()
        ready.register(descriptor, select.POLLIN)
        while len(content) <= largest_bytes:
            if not ready.poll(_LONGEST_WAIT_S * 1e3):
                raise InputError(f"{shown}: nothing came out of it for {_LONGEST_WAIT_S:g} s; give a file")
            if time.monotonic() > deadline:
                raise InputError(f"{shown}: has no end after {_LONGEST_READ_S:g} s; give a file")
            chunk = os.read(descriptor, min(1 << 20, largest_bytes + 1 - len(content)))
            if not chunk:
                return bytes(content)
            content += chunk
    except OSError as error:
        raise InputError(f"{shown}: cannot be read ({why(error)})") from None
    finally:
        os.close(descriptor)
    raise InputError(f"{shown}: over {largest_bytes >> 20} MiB, more than is read; give a smaller file")


def open_file(path: str | os.PathLike[str]) -> BinaryIO:
    """Opens a file that is read in parts, or only at its start. A pipe, which might never begin and whose start can be
    read only once, and a device are refused as an OSError.
    """
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "is no file")
    return file


def check_exists(path: str | os.PathLike[str]) -> None:
    """Refuses a path that does not exist, before the code that reads it is loaded.

    Raises:
        InputError: there is no such file or folder.
    """
    if not os.path.lexists(path):
        raise InputError(f"{printable(path)}: no such file; check the path")


def sha256_of_file(path: Path) -> str:
    """Returns the hash in hexadecimal digits. Raises an OSError if the file cannot be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_text(path: str | os.PathLike[str]) -> str:
    """Reads the text of a file.

    Raises:
        InputError: as in `read_bytes`, or it is empty or not UTF-8 text.
    """
    return decoded(read_bytes(path), printable(path))


def decoded(content: bytes, source: str) -> str:
    """Decodes a file's bytes: UTF-8, or UTF-16 with a byte order mark, as spreadsheets and editors save it.

    Raises:
        InputError: they are neither, or blank.
    """
    is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = content.decode("utf-16" if is_utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{source}: byte {error.start} is no {'UTF-16' if is_utf16 else 'UTF-8'} text; give a text file, saved as "
            "UTF-8"
        ) from None
    if not text.strip():
        raise InputError(f"{source}: the file is empty; give one with content")
    return text


def parse_json(text: str, source: str) -> Any:
    """Parses JSON.

    Raises:
        InputError: no JSON (the message names source, line and column), a number that is not finite, or an object with
            one key twice.
    """

    def refuse(constant: str) -> Any:
        raise InputError(f"{source}: {constant} is no JSON number; write a finite number")

    def whole(digits: str) -> int:
        # Refuses numbers above the range of a double, far below the length that Python refuses.
        return int(digits) if math.isfinite(float(digits)) else too_large(digits)

    def fraction(digits: str) -> float:
        return value if math.isfinite(value := float(digits)) else too_large(digits)

    def too_large(digits: str) -> Any:
        start = f"{digits[:20]}..., " if len(digits) > 20 else f"{digits}, "
        raise InputError(
            f"{source}: the number {start}{len(digits)} characters long, is too large; write a smaller one"
        )

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(pairs)
        if len(values) < len(pairs):
            key = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
            raise InputError(f'{source}: the key "{printable(key)}" is there twice in one object; keep one of them')
        return values

    try:
        return json.loads(text, parse_constant=refuse, parse_int=whole, parse_float=fraction, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{source}: line {error.lineno}, column {error.colno}: not valid JSON ({error.msg}); fix it there"
        ) from None
    except RecursionError:
        raise InputError(f"{source}: the JSON is nested too deeply; nothing that is read here needs that") from None


def check_utf8(subject: str, path: Path) -> None:
    """Refuses a path that cannot be passed to another program in JSON.

    Raises:
        InputError: its name is not UTF-8.
    """
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(f"{subject} '{printable(path)}': its name is no UTF-8 text; rename it") from None


def printable(text: str | os.PathLike[str]) -> str:
    r"""Escapes a path or text for one printed line in UTF-8: bytes of a file name that are not UTF-8 become ``\xe9``,
    and control characters ``\x1b``.
    """
    text = os.fspath(text)
    try:
        # Shows surrogates that represent a name's bytes (PEP 383) as those bytes.
        raw = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raw = text.encode("utf-8", "surrogatepass")
    return raw.decode("utf-8", "backslashreplace").translate(_CONTROLS)


def printable_lines(text: str) -> str:
    """Like `printable`, for a text of several lines, which may have tabs."""
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))


def why(error: Exception) -> str:
    """Returns the reason for a failed read or write, without the path."""
    return getattr(error, "strerror", None) or str(error)
