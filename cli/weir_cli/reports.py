"""The contract of `weir report` with the distributions that write reports: entry points of the group `weir.reports`.

An entry point is a function `rewrite(request) -> Report | None`. It returns None for a path that is not of its kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from weir_cli.errors import InputError


@dataclass(frozen=True, kw_only=True)
class ReportRequest:
    """The arguments of `weir report`.

    `out` is the folder for the page of a single file; `reference` the controller that others are compared with;
    `against` another folder to compare with; `csv` asks for tables; `quiet` for no text beside the summary.
    """

    path: Path
    out: Path | None = None
    reference: str | None = None
    against: Path | None = None
    csv: bool = False
    quiet: bool = False

    def refuse_options_of_runs(self, why: str) -> None:
        """Raises InputError if an option is set that only reports of runs and calls have."""
        if self.csv:
            raise InputError(f"{self.path}: --csv is for runs and calls{why}")
        if self.reference is not None:
            raise InputError(f"{self.path}: --reference is for runs and calls")
        if self.against is not None:
            raise InputError(f"{self.path}: --against is for runs and calls")


@dataclass(frozen=True)
class Report:
    """A written report: its summary as a JSON text, and its page."""

    summary: str
    page: Path


Reporter = Callable[[ReportRequest], Report | None]
