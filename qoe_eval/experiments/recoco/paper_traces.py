"""OpenNetLab's nine traces, as ReCoCo's experiment takes them."""

from __future__ import annotations

import os
from pathlib import Path

from weir.errors import InputError
from weir.traces.formats.convert import to_scenario
from weir.traces.formats.importers import read_trace
from weir.traces.formats.plain_trace import DEFAULT_ONE_WAY_DELAY_MS, DEFAULT_QUEUE
from weir.traces.schema.scenario import Scenario
from weir.trainer.recoco import PAPER_TRACES


def paper_scenarios(folder: Path) -> dict[str, Scenario]:
    """The nine traces by name, whole: 25 ms one way, a queue of 300 ms of the mean capacity, faults repaired.

    Raises:
        InputError: one is missing or cannot be used.
    """
    paths = {trace.name: folder / f"{trace.name}.json" for trace in PAPER_TRACES}
    missing = [path.name for path in paths.values() if not path.is_file()]
    if missing:
        raise InputError(f"--traces {folder}: has no {', '.join(missing)}; the experiment needs OpenNetLab's nine")
    return {
        name: to_scenario(
            read_trace(path, repair=True),
            name=name,
            one_way_delay_ms=DEFAULT_ONE_WAY_DELAY_MS,
            queue=DEFAULT_QUEUE,
        )
        for name, path in paths.items()
    }


def shared_traces() -> Path:
    """Where they are when no folder is named.

    Raises:
        InputError: WEIR_SHARED is not set.
    """
    shared = os.environ.get("WEIR_SHARED")
    if not shared:
        raise InputError("--traces: name the folder with OpenNetLab's nine traces (WEIR_SHARED is not set)")
    return Path(shared) / "traces" / "opennetlab"
