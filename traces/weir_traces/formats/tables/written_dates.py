"""Converts dates with names of months or slashes, and 12-hour times, to ISO 8601.

Logs have them in the forms of `date`, syslog, mail and spreadsheets: Wed Dec 15 16:04:38 UTC 2021, Jun 30 14:37:36,
15 Dec 2021 16:04:38, 12/15/2021 4:04:38 PM. Time zones are ignored. A date with slashes may have the day or the
month first, which matters only if a log has several dates.
"""

from __future__ import annotations

import re

from weir_cli.errors import InputError

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?:{'|'.join(_MONTHS)})[a-z]*"
_TIME = r"(?P<hour>\d{1,2}):(?P<rest>\d{2}:\d{2}(?:[.,]\d{1,9})?)(?:\s*(?P<half>[ap])\.?m\.?)?"
_NAMED = re.compile(
    rf"(?:[a-z]{{3,9}},?\s+)?(?:(?P<month>{_MONTH})\s+(?P<day>\d{{1,2}})|(?P<day2>\d{{1,2}})[\s-](?P<month2>{_MONTH}))"
    rf"(?:,?[\s-](?P<year>\d{{4}}))?,?\s+{_TIME}(?:\s+(?:[a-z]{{1,4}}|[+-]\d{{4}}))?(?:\s+(?P<year2>\d{{4}}))?",
    re.IGNORECASE,
)
_HALF_DAY = re.compile(_TIME.removesuffix("?"), re.IGNORECASE)
_SLASHED = re.compile(rf"(?P<first>\d{{1,2}})/(?P<second>\d{{1,2}})/(?P<year>\d{{4}}),?\s+{_TIME}", re.IGNORECASE)
# Replaces a missing year; a leap year, in which every date is valid.
_ANY_YEAR = "2000"


def is_written_date(cell: str) -> bool:
    """True for a date with a time, or a 12-hour time, in one of these forms."""
    return any(pattern.fullmatch(cell.strip()) for pattern in (_NAMED, _SLASHED, _HALF_DAY))


def as_iso(cells: list[str], name: str, source: str) -> list[str]:
    """The cells of a column as YYYY-MM-DD HH:MM:SS or HH:MM:SS if the first has one of these forms; other cells are
    unchanged.

    Raises:
        InputError: the order of day and month is ambiguous in several dates.
    """
    if not is_written_date(cells[0]):
        return cells
    slashed = [found for cell in cells if (found := _SLASHED.fullmatch(cell.strip()))]
    dates = {(int(found["first"]), int(found["second"])) for found in slashed}
    day_first = any(first > 12 for first, _ in dates)
    if len(dates) > 1 and day_first == any(second > 12 for _, second in dates):
        raise InputError(
            f"{source}: {name} has dates such as {slashed[0][0][:40]!r}, with the day or the month first; write them "
            "as 2024-02-29 12:00:05"
        )
    return [_iso(cell.strip(), day_first) for cell in cells]


def _iso(cell: str, day_first: bool) -> str:
    date = ""
    if found := _SLASHED.fullmatch(cell):
        month, day = (found["second"], found["first"]) if day_first else (found["first"], found["second"])
        date = f"{found['year']}-{month}-{day} "
    elif found := _NAMED.fullmatch(cell):
        month = _MONTHS.index((found["month"] or found["month2"])[:3].lower()) + 1
        date = f"{found['year'] or found['year2'] or _ANY_YEAR}-{month}-{found['day'] or found['day2']} "
    elif not (found := _HALF_DAY.fullmatch(cell)):
        return cell
    hour = int(found["hour"])
    if found["half"]:
        hour = hour % 12 + 12 * (found["half"].lower() == "p")
    return f"{date}{hour}:{found['rest']}"
