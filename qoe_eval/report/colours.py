"""The colours of controllers on pages: places in the palette of report.css, in the order of the registry."""

from __future__ import annotations

import re
from collections.abc import Iterable

from weir.registry import SIMULATED

# As many as there are --series-N in report.css.
_PALETTE = 12


def css_name(controller: str) -> str:
    """A controller's name, or a pool's line, as a part of a name in CSS; report.js and the live page do the same."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", controller)


def controller_colours() -> str:
    """CSS that gives each controller of the simulator its colour, `--c-NAME`."""
    return _rules(SIMULATED, range(len(SIMULATED)))


def other_colours(names: Iterable[str]) -> str:
    """The same for other controllers, such as a user's own, in turn from what the registry leaves of the palette.

    Args:
        names: what `css_name` makes of them tells them apart.
    """
    names = list(names)
    free = max(1, _PALETTE - len(SIMULATED))
    return _rules(names, (len(SIMULATED) + index % free for index in range(len(names))))


def _rules(names: Iterable[str], places: Iterable[int]) -> str:
    placed = zip(map(css_name, names), places, strict=True)
    rules = (f"--c-{name}: var(--series-{1 + place % _PALETTE})" for name, place in placed)
    return f":root {{ {'; '.join(rules)} }}"
