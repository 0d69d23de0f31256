"""The options that state how to read the rows of a file, shared by all commands that read traces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from weir_traces.formats.reading import Reading


@dataclass(frozen=True, kw_only=True)
class ReadingArguments:
    """Options for ambiguous files of rows; for other formats, a warning names them."""

    time_column: Annotated[
        str | None,
        typer.Option(metavar="NAME|N", help="Column of times in a table: its name, or its number from 1 on."),
    ] = None
    rate_column: Annotated[
        str | None,
        typer.Option(metavar="NAME|N", help="Column of rates in a table: its name, or its number from 1 on."),
    ] = None
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="[s,]UNIT",
            help="Unit of rates that a file does not name: bps, kbps, Mbps, Gbps, B/s, or bytes for those since the "
            "row before, total-bytes for all so far; s, ms, us or ns for times; both as in ms,kbps.",
        ),
    ] = None
    step: Annotated[
        float | None,
        typer.Option(min=1e-3, max=86_400, metavar="S", help="Rows have no times, and each lasts S seconds."),
    ] = None
    rate_holds: Annotated[
        Literal["before", "after", "step"] | None,
        typer.Option(
            metavar="before|after|step",
            help="A rate belongs to the time before its row, as in logs of what arrived, or after it, as in lists of "
            "changes, or to one step, without capacity where rows are missing, as in bins of counted packets. Default: "
            "as the file shows.",
        ),
    ] = None

    def reading(self) -> Reading:
        """The statements of these options. Raises InputError for unknown units."""
        from weir_traces.formats.reading import Reading
        from weir_traces.formats.units import parse_units

        time_unit_s, rate_unit = parse_units(self.unit) if self.unit is not None else (None, None)
        return Reading(self.time_column, self.rate_column, time_unit_s, rate_unit, self.step, self.rate_holds)
