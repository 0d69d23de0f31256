"""The progress of long work: its share, 0 to 1."""

from __future__ import annotations

from collections.abc import Callable

OnShare = Callable[[float], None]
"""Receives the share that is complete, on any thread."""


def ignore_share(share: float) -> None:
    """For callers that do not show progress."""


def part_of(on_share: OnShare, start: float, end: float) -> OnShare:
    """Returns the receiver of the progress of a part, which is this range of the whole."""
    return lambda share: on_share(start + share * (end - start))
