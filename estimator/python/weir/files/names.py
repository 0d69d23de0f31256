"""Names of files and folders for things that users name as they like."""

from __future__ import annotations

import hashlib
import json
import re

_READABLE_CHARACTERS = 60
_HASH_DIGITS = 8


def file_name(*parts: str | int) -> str:
    """A name of at most 69 ASCII letters, digits and ``._+-`` that stands for these parts and no others.

    It begins with what is readable of them and ends in a hash of them all: parts that differ only in letters that are
    not kept, beyond the length that is kept, in case or in Unicode's forms have names of their own on any file system.
    """
    readable = re.sub(r"[^A-Za-z0-9._+-]", "_", "-".join(map(str, parts)))[:_READABLE_CHARACTERS].lstrip(".")
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:_HASH_DIGITS]
    return f"{readable}-{digest}"
