"""The options of two command lines that differ, of those that records do not have."""

from __future__ import annotations

import shlex

_WITH_VALUES = (
    "--loss", "--reverse", "--time-column", "--rate-column", "--unit", "--step", "--rate-holds", "--mahimahi-window-ms",
    "--controller-time-limit",
)  # fmt: skip
_FLAGS = ("--repair",)


def differing_options(here: str, there: str) -> dict[str, tuple[str, str]]:
    """The values of these options here and there, by option, where they differ. Command lines are as recorded; one that
    is empty or cannot be split has none to compare.
    """
    try:
        first, second = (shlex.split(command) for command in (here, there))
    except ValueError:
        return {}
    if not first or not second:
        return {}
    both = {name: (_value(name, first), _value(name, second)) for name in (*_WITH_VALUES, *_FLAGS)}
    return {name: values for name, values in both.items() if values[0] != values[1]}


def _value(name: str, words: list[str]) -> str:
    """The last value of an option, as for the command."""
    found = "not given"
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == "--":
            break
        if word == name:
            found = "given" if name in _FLAGS else following
        elif word.startswith(f"{name}="):
            found = word.partition("=")[2]
    return found
