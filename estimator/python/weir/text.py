"""Texts of others, as they may be printed."""

from __future__ import annotations

import os

_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}


def printable(text: str | os.PathLike[str]) -> str:
    r"""A path or text that can be printed in one line and written as UTF-8: bytes of a file name that are none become
    ``\xe9``, and characters that a terminal obeys ``\x1b``.
    """
    text = os.fspath(text)
    try:
        # Surrogates that stand for a name's bytes (PEP 383) are shown as those bytes.
        raw = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raw = text.encode("utf-8", "surrogatepass")
    return raw.decode("utf-8", "backslashreplace").translate(_CONTROLS)


def printable_lines(text: str) -> str:
    """As `printable`, of a text of several lines, perhaps with tabs."""
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))
