"""Writes TOML, which Python itself can only read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any


def to_toml(values: Mapping[str, Any], path: str = "") -> str:
    """Formats a document of booleans, numbers, strings, lists and tables, without null values."""
    tables = {key: value for key, value in values.items() if isinstance(value, Mapping)}
    rest = {key: value for key, value in values.items() if key not in tables and value is not None}
    text = "".join(f"{_key(key)} = {_inline(value)}\n" for key, value in rest.items())
    for key, table in tables.items():
        name = f"{path}{_key(key)}"
        text += f"\n[{name}]\n{to_toml(table, f'{name}.')}"
    return text


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return (
            "{ "
            + ", ".join(f"{_key(key)} = {_inline(member)}" for key, member in value.items() if member is not None)
            + " }"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if isinstance(value, str):
        # JSON does not escape DEL, which TOML does not allow.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value, allow_nan=False)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _inline(key)
