"""The colours of controllers on pages: places in the palette of report.css, in the order of the registry."""

from __future__ import annotations

from collections.abc import Iterable

from weir.registry import SIMULATED

# As many as there are --series-N in report.css.
_PALETTE = 12


def controller_colours() -> str:
    """CSS that gives each controller of the simulator its colour, `--c-NAME`."""
    return _rules(SIMULATED, range(len(SIMULATED)))


def other_colours(names: Iterable[str]) -> str:
    """The same for other controllers, such as a user's own, in turn from what the registry leaves of the palette.

    Args:
        names: letters, digits, _ and -.
    """
    names = list(names)
    free = max(1, _PALETTE - len(SIMULATED))
    return _rules(names, (len(SIMULATED) + index % free for index in range(len(names))))


def _rules(names: Iterable[str], places: Iterable[int]) -> str:
    rules = (f"--c-{name}: var(--series-{1 + place % _PALETTE})" for name, place in zip(names, places, strict=True))
    return f":root {{ {'; '.join(rules)} }}"
