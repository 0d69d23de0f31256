"""Reads, checks, converts and writes capacity traces in every known format; defines the result of an importer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from weir_traces.formats.validation import Finding
from weir_traces.schema.capacity import CapacityTrace
from weir_traces.schema.scenario import Scenario
from weir_traces.schema.values_over_time import DelayOverTime, RatioOverTime

TraceFormat = Literal[
    "scenario", "opennetlab", "sabre", "mmsys2024", "iperf3", "nuttcp", "mm-link", "byte log", "mahimahi", "rates",
    "csv", "puffer", "ucc", "starlink", "lumos5g", "columns",
]  # fmt: skip


@dataclass(frozen=True)
class ImportedTrace:
    """The result of an importer. ``capacity`` has all repairs applied; it differs from the file if ``findings`` has
    errors.

    ``loss_ratio`` (0..1) and ``one_way_delay_ms`` are None if the file has none. ``reverse`` describes the return
    path, if the file does. ``capacity`` is None only for a scenario whose forward link is unlimited. ``understood``:
    columns, units and the side on which rates hold, for people.
    """

    source: str
    format: TraceFormat
    capacity: CapacityTrace | None
    findings: list[Finding] = field(default_factory=list)
    loss_ratio: float | RatioOverTime | None = None
    one_way_delay_ms: float | DelayOverTime | None = None
    reverse: ImportedTrace | None = None
    scenario: Scenario | None = None
    understood: str = ""

    @property
    def errors(self) -> list[Finding]:
        """The findings that make the file unusable without repair."""
        return [finding for finding in self.findings if finding.severity == "error"]

    def refused(self, *, repair: bool, strict: bool) -> list[Finding]:
        """The findings because of which the file must not be used.

        Args:
            repair: accept errors that can be repaired.
            strict: do not accept warnings with a repair.
        """
        errors = [finding for finding in self.errors if not (repair and finding.repair)]
        repaired = [finding for finding in self.findings if finding.severity == "warning" and finding.repair]
        return errors + (repaired if strict else [])
