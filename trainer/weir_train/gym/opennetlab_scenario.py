"""The scenarios of OpenNetLab's gym."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any, Final

from weir_eval.runs.inputs import checked_controllers
from weir_traces.catalogue import load_bundled
from weir_traces.formats import ImportedTrace
from weir_traces.formats.convert import to_scenario
from weir_traces.formats.importers import read_trace
from weir_traces.formats.plain_trace import loss_of
from weir_traces.listing import CATALOGUE
from weir_traces.schema.capacity import CapacityTrace
from weir_traces.schema.links import Capacity
from weir_traces.schema.scenario import Scenario

# OpenNetLab's delay for a trace without a round-trip time, and its queue for a trace of 3 Mbps.
ONE_WAY_DELAY_MS: Final = 100.0
QUEUE_MS: Final = 300.0
DEFAULT_CAPACITY_BPS: Final = 3_000_000
DEFAULT_DURATION_MS: Final = 3000
# A sender without its own estimate and probes, and libwebrtc's fake encoder of at most 10 Mbps, which follows its
# target at once; no audio.
SENDER: Final[dict[str, Any]] = {
    "transport_cc": False,
    "media": {
        "kind": "video",
        "max_rate_bps": 10_000_000,
        "audio_rate_bps": 0.0,
        "key_frame_interval_s": 3600.0,
        "rise_time_constant_s": 0.001,
        "fall_time_constant_s": 0.001,
    },
}


def opennetlab_scenario(trace_path: str | os.PathLike[str], duration_time_ms: float | None) -> dict[str, Any]:
    """Returns the scenario of an OpenNetLab run.

    A plain trace limits both directions, with its own loss and delay, or 100 ms each way if it has no delay. A scenario
    keeps its path and its other flows. The sender is OpenNetLab's: video of at most 10 Mbps, without audio.

    Args:
        trace_path: a trace of any format that `weir_traces` reads, a scenario, or `catalogue/NAME`; "" for a steady
            3 Mbps. Repairable faults are repaired, with a warning each.
        duration_time_ms: simulated time; 0 or None for the length of the trace, or the scenario's own duration.

    Raises:
        InputError: the trace cannot be read, or the duration is out of range.
    """
    duration_s = duration_time_ms / 1000.0 if duration_time_ms else None
    trace = _read(os.fspath(trace_path))
    for finding in trace.findings:
        warnings.warn(str(finding), stacklevel=3)
    if trace.scenario is not None:
        document = checked_controllers(trace.source, to_scenario(trace, duration_s=duration_s)).to_dict()
        for flow in document["flows"]:
            if flow["kind"] == "rtp" and flow["controller"] == "under_test":
                flow.update(SENDER)
        return Scenario.from_dict(document, trace.source).to_dict()
    assert trace.capacity is not None
    link = {
        "capacity": Capacity.from_trace(trace.capacity).model_dump(),
        "one_way_delay_ms": ONE_WAY_DELAY_MS if trace.one_way_delay_ms is None else trace.one_way_delay_ms,
        "queue": {"milliseconds": QUEUE_MS},
        "loss": loss_of(trace.loss_ratio),
    }
    return Scenario.make(
        name=Path(trace.source).name,
        duration_s=duration_s or trace.capacity.period_s or DEFAULT_DURATION_MS / 1000.0,
        forward=link,
        reverse=link,
        flows=[{"kind": "rtp", **SENDER}],
    ).to_dict()


def _read(name: str) -> ImportedTrace:
    if not name:
        return ImportedTrace("steady", "csv", CapacityTrace.constant(DEFAULT_CAPACITY_BPS))
    first, _, rest = name.partition("/")
    if first == CATALOGUE and rest and not os.path.isfile(name):
        scenario = load_bundled(rest.removesuffix(".json"))
        return ImportedTrace(scenario.name, "scenario", None, scenario=scenario)
    return read_trace(name, repair=True)
