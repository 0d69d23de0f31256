"""Writes the defaults of scenarios as JSON, with which the C++ tests make whole scenarios of short ones.

An object's defaults are under its kind or, where it has none, under its key; those of the document under "scenario".
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, get_args

ROOT = Path(__file__).parents[2]


def _defaults_of(part: Any, name: str, found: dict[str, dict[str, Any]]) -> None:
    from pydantic import TypeAdapter

    from weir_traces.schema import Part

    kind = part.model_fields.get("kind")
    entry = found.setdefault(get_args(kind.annotation)[0] if kind else name, {})
    for key, field in part.model_fields.items():
        alias = field.alias or key
        if key != "kind" and not field.is_required():
            value = field.get_default(call_default_factory=True)
            entry[alias] = TypeAdapter(Any).dump_python(value, mode="json", by_alias=True)
        for inner in _parts_in(field.annotation, Part):
            _defaults_of(inner, alias, found)


def _parts_in(annotation: Any, base: type) -> list[Any]:
    if isinstance(annotation, type) and issubclass(annotation, base):
        return [annotation]
    return [part for inner in get_args(annotation) for part in _parts_in(inner, base)]


def main(out: Path) -> None:
    # The build runs this before anything is installed.
    sys.path[:0] = [str(ROOT / "traces"), str(ROOT / "cli")]
    from weir_traces.schema.scenario import Scenario

    found: dict[str, dict[str, Any]] = {}
    _defaults_of(Scenario, "scenario", found)
    del found["queue"]  # has exactly one of its keys
    out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
