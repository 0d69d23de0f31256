"""The keys of a configuration file as tables in Markdown, from the classes that check it."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from pydantic import BaseModel

# Bounds of JSON Schema.
_BOUNDS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}


def keys(tables: Mapping[str, type[BaseModel]]) -> None:
    """Prints the keys of tables that are alike: each table's defaults in a column with this head, the range, and the
    docstring that the first table with the key has. Keys that are tables themselves are not among them.
    """
    rows: dict[tuple[str, str], dict[str, str]] = {}
    meanings: dict[str, str] = {}
    for head, table in tables.items():
        for key, schema in table.model_json_schema()["properties"].items():
            if any("$ref" in kind for kind in _kinds(schema)):
                continue
            required = table.model_fields[key].is_required()
            rows.setdefault((key, _range(schema)), {})[head] = "required" if required else _value(schema["default"])
            meanings.setdefault(key, _docstrings(table).get(key, ""))
    print(f"| key | {' | '.join(tables)} | range | |\n|{'---|' * (len(tables) + 3)}")
    for key, meaning in meanings.items():
        for values in [values for name, values in rows if name == key]:
            columns = [rows[key, values].get(head, "") for head in tables]
            print(f"| `{key}` | {' | '.join(columns)} | {values} | {meaning} |")


def _docstrings(table: type[BaseModel]) -> dict[str, str]:
    """The docstrings below the fields of a class and its bases, each as one line. Python itself drops them."""
    found: dict[str, str] = {}
    for owner in reversed(table.__mro__[: table.__mro__.index(BaseModel)]):
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
        assert isinstance(definition, ast.ClassDef)
        for field, below in pairwise(definition.body):
            match field, below:
                case ast.AnnAssign(target=ast.Name(key)), ast.Expr(ast.Constant(str(text))):
                    found[key] = " ".join(text.split()).removesuffix(".")
    return found


def _kinds(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(schema.get("anyOf", [schema]))


def _value(value: Any) -> str:
    """A value as TOML has it."""
    if value is None:
        return "none"
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"`{_number(value) if number else json.dumps(value)}`"


def _number(value: float) -> str:
    return f"{int(value):_}" if value == int(value) else f"{value:g}"


def _range(schema: Mapping[str, Any]) -> str:
    """The values that a key may have; nothing where its type alone limits them."""
    return " or ".join(filter(None, map(_range_of_kind, _kinds(schema))))


def _range_of_kind(kind: Mapping[str, Any]) -> str:
    if values := kind.get("enum", [kind["const"]] if "const" in kind else []):
        return ", ".join(map(_value, values))
    if kind.get("type") == "array":
        items = kind["prefixItems"][0] if "prefixItems" in kind else kind["items"]
        fewest, most = kind.get("minItems"), kind.get("maxItems")
        count = f"{fewest} to {most} values" if fewest != most else f"{most} values" if most else ""
        if fewest and not most:
            count = f"≥ {fewest} values"
        return ", each ".join(filter(None, [count, _range_of_kind(items)]))
    return ", ".join(f"{sign} {_number(kind[bound])}" for bound, sign in _BOUNDS.items() if bound in kind)
