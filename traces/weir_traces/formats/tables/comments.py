"""Comments above the rows of a table: a header, as NumPy's savetxt writes it, and units."""

from __future__ import annotations

import re

from weir_traces.formats.tables.headers import time_unit_in_name, unit_in_name
from weir_traces.formats.tables.splitting import is_value, separator_of, split_row
from weir_traces.formats.units import RateUnit, rate_unit

_COMMENTS = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)+")
_BETWEEN_NAMES = (r"\t|,|;|\s{2,}", r"[\s,;]+")


def with_header(text: str) -> str:
    """Makes the last comment above the rows a header if it has a name for each cell and one of them has a unit."""
    found = _COMMENTS.match(text)
    if found is None or "#" not in found[0]:
        return text
    lines = found[0].splitlines()
    row = text[found.end() :].partition("\n")[0]
    separator = separator_of(row)
    cells = split_row(row, separator)
    last = next(index for index in reversed(range(len(lines))) if lines[index].strip())
    comment = lines[last].strip().lstrip("#").strip()
    if not any(map(is_value, cells)) or any(character in comment for character in ('"', "\r")):
        return text
    for between in _BETWEEN_NAMES:
        names = [name.strip() for name in re.split(between, comment)]
        has_unit = any(unit_in_name(name) or (len(cells) > 1 and time_unit_in_name(name)) for name in names)
        if len(names) == len(cells) and has_unit and not any(map(is_value, names)):
            lines[last] = (separator or " ").join(name if separator else re.sub(r"\s+", "_", name) for name in names)
            return "\n".join(lines) + "\n" + text[found.end() :]
    return text


def units_in_comments(text: str) -> list[RateUnit]:
    """The rate units in the comments above the rows."""
    found = _COMMENTS.match(text)
    words = re.split(r"[\s,;:=()\[\]]+", found[0]) if found else []
    return [unit for word in words if (unit := rate_unit(word)) is not None]
