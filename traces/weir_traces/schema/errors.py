"""Describes the faults of a scenario, one per line: JSON path, fault, remedy."""

from __future__ import annotations

import difflib
from typing import Any

from pydantic import ValidationError

from weir_traces.schema import Part
from weir_traces.schema.flows import CONTROLLER_PATTERN, FUSED, SINGLE
from weir_traces.schema.values_over_time import CHANGING, CONSTANT

_FORMS = (CONSTANT, CHANGING, SINGLE, FUSED)
_SHOWN = 10


def known_keys() -> frozenset[str]:
    """The keys of all parts of a scenario."""
    parts, found = [Part], set()
    while parts:
        part = parts.pop()
        parts += part.__subclasses__()
        found |= {field.alias or name for name, field in part.model_fields.items()}
    return frozenset(found)


def describe(error: ValidationError, data: Any) -> str:
    """A single fault on one line; for several, their number and a line for each of the first.

    Args:
        error: the result of validating ``data``.
        data: the parsed JSON, used to convert pydantic's locations to JSON paths.
    """
    faults = error.errors(include_url=False)
    lines = []
    for fault in faults[:_SHOWN]:
        path = _json_path(fault["loc"], data)
        lines.append(f"{path}: {_fault(fault)}" if path else _fault(fault))
    if len(faults) == 1:
        return lines[0]
    if len(faults) > _SHOWN:
        lines.append(f"and {len(faults) - _SHOWN} more")
    return "\n  ".join([f"{len(faults)} faults:", *lines])


def _json_path(location: tuple[int | str, ...], data: Any) -> str:
    path = ""
    here = data
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
            here = here[part] if isinstance(here, list) and part < len(here) else None
        elif part in _FORMS or (isinstance(here, dict) and part not in here and here.get("kind") == part):
            continue  # pydantic adds the chosen variant, which is not a key in the file
        else:
            path += f".{part}" if path else part
            here = here.get(part) if isinstance(here, dict) else None
    return path


def _fault(fault: Any) -> str:
    kind, context, value = fault["type"], fault.get("ctx", {}), fault["input"]
    shown = str(context["actual_length"]) if kind == "too_long" else _shown(value)
    if kind == "extra_forbidden":
        key = str(fault["loc"][-1])
        if key in known_keys():
            return "this key does not belong here; remove it"
        close = difflib.get_close_matches(key, sorted(known_keys()), n=1)
        return "unknown key; " + (f'did you mean "{close[0]}"? Else remove it' if close else "remove it")
    if kind == "missing":
        return "is missing; add it"
    if kind == "literal_error":
        return f"{shown} is not allowed; use {context['expected']}"
    if kind == "union_tag_invalid":
        return f"kind {context['tag']!r} is not known; use one of {context['expected_tags']}"
    if kind == "union_tag_not_found":
        return 'needs the key "kind"; add it'
    if kind == "value_error":
        return str(context["error"])
    if kind == "string_pattern_mismatch" and context["pattern"] == CONTROLLER_PATTERN:
        return f"must be 1 to 1024 printable ASCII characters, not {shown}"
    remedies = {
        "greater_than": "must be greater than {gt:.12g}",
        "greater_than_equal": "must be at least {ge:.12g}",
        "less_than": "must be less than {lt:.12g}",
        "less_than_equal": "must be at most {le:.12g}",
        "float_type": "must be a number",
        "int_type": "must be a whole number",
        "bool_type": "must be true or false",
        "string_type": "must be a string",
        "list_type": "must be a JSON array",
        "dict_type": "must be a JSON object",
        "finite_number": "must be finite",
        "string_too_short": "must not be empty",
        "string_pattern_mismatch": "must have no control characters",
        "too_short": "needs at least {min_length} value(s)",
        "too_long": "takes at most {max_length} value(s)",
        "model_type": "must be a JSON object",
        "model_attributes_type": "must be a JSON object",
    }
    rule = remedies.get(kind)
    return f"{rule.format(**context)}, not {shown}" if rule else f"{fault['msg']} (given {shown})"


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return f"{'an empty' if not value else 'a'} JSON {'object' if isinstance(value, dict) else 'array'}"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
