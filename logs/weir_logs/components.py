"""The components of this distribution, for `weir doctor`: the reader of RTC event logs."""

from __future__ import annotations

from collections.abc import Iterator

from weir_cli.components import Component, found_or_missing, program_version
from weir_sim.executables import find_event_log


def components() -> Iterator[Component]:
    """The program of `make webrtc` that reads event logs."""
    yield found_or_missing("weir-event-log", "calls", _version_and_path)


def _version_and_path() -> str:
    path = str(find_event_log())
    return ", ".join(filter(None, (program_version(path), path)))
