"""JSON text for people: objects indented, arrays of numbers in filled lines, whole numbers without a fraction."""

from __future__ import annotations

import json
import textwrap
from typing import Any

_WIDTH = 120


def format_json(value: Any, indent: int = 0) -> str:
    """Text of a JSON value (dict, list, str, finite number, bool, None), without a line break at its end."""
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
            ", ".join(texts), _WIDTH, initial_indent=inner, subsequent_indent=inner, break_on_hyphens=False
        )
        return "[\n" + filled + "\n" + " " * indent + "]"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
