"""The part of a summary that compares its folder with another one."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from weir_eval.records.comparisons import PairedRow
from weir_eval.records.part import Part

Both = Annotated[tuple[float, float], Field(strict=False)]
"""A value here and there."""


class Against(Part):
    """The results of a folder, here, less those of another one, there: every controller that both have with itself.

    Attributes:
        folder: the other one, as given.
        command: the command that wrote it.
        runs: number of pairs of runs with the same controller, scenario and seed.
        unpaired_here, unpaired_there: number of runs that have no counterpart.
        equal: number of pairs with the same value of every measure.
        differing: options of the commands, and settings of the records in a pair, that differ, with their values here
            and there.
        paired: differences over the pairs; `a` and `b` are the same controller, here and there. Utility is omitted if
            objectives differ.
        scenarios: means here and there over the paired seeds, by scenario, controller and measure.
    """

    folder: str
    command: str
    runs: int
    unpaired_here: int
    unpaired_there: int
    equal: int
    differing: dict[str, str]
    paired: list[PairedRow]
    scenarios: dict[str, dict[str, dict[str, Both]]]
