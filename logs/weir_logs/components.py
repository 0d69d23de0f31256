"""The components of this distribution, for `weir doctor`: the reader of RTC event logs."""

from __future__ import annotations

from collections.abc import Iterator

from weir_cli.components import Component, found_program
from weir_sim.executables import find_event_log


def components() -> Iterator[Component]:
    """The program of `make webrtc` that reads event logs."""
    yield found_program("weir-event-log", "calls", find_event_log)
