"""The fingerprint of a simulator: its behavior in a few replays, as one SHA-256.

A code change that does not affect replays keeps the fingerprint; any other change makes the records of results stale.
It is of the shipped model. `simulator/fingerprints.json` has one for each version of libwebrtc; run
`python -m weir_eval.fingerprint` to write that of this build.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from weir_cli.files.input import parse_json, read_text
from weir_cli.files.output import write_text
from weir_eval.records.run_record import RunRecord
from weir_eval.runs.jobs import ReplayPlan, plan_jobs
from weir_eval.runs.simulator import run_jobs
from weir_sim.controllers import DEFAULT_PRESET, PRESETS
from weir_sim.executables import find_simulator
from weir_sim.installed import shipped_model
from weir_sim.versions import simulator_versions
from weir_traces.catalogue import load_bundled
from weir_traces.schema.scenario import Scenario

SCENARIOS = ("steps", "cellular-3m", "tcp-competitor", "jittery", "lossy-bursty", "call-on-cellular")
CONTROLLERS = ("weir", "weir-send", "rule", "gcc")
DURATION_S = 20.0
_TIME_LIMIT_S = 60.0
# Enough digits to show a change of behavior, and few enough to hide the rounding of another processor.
_DIGITS = 6


def fingerprint(simulator: Path, model: Path) -> str:
    """The SHA-256 over packets and bytes sent, packets received and lost, and delays of every flow of the replays.

    Raises:
        RuntimeError: a replay failed.
    """
    found = {}
    plan = ReplayPlan(
        [_shortened(load_bundled(name)) for name in SCENARIOS],
        CONTROLLERS,
        PRESETS[DEFAULT_PRESET],
        (1,),
        model,
        simulator,
        "measured",
    )
    for outcome in run_jobs(simulator, plan_jobs(plan).values(), 1, _TIME_LIMIT_S):
        if outcome.record is None:
            raise RuntimeError(f"{outcome.job.name}: {outcome.error}")
        found[outcome.job.name] = _behaviour(outcome.record)
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


def _behaviour(record: RunRecord) -> list[list[str]]:
    return [
        [
            flow.id,
            *(str(count) for count in (flow.packets_sent, flow.bytes_sent, flow.packets_received, flow.packets_lost)),
            *(f"{value:.{_DIGITS}g}" for value in flow.delay_ms.values()),
        ]
        for flow in record.flows
    ]


def _shortened(scenario: Scenario) -> Scenario:
    return scenario.model_copy(update={"duration_s": min(scenario.duration_s, DURATION_S)})


def read_fingerprints(path: Path) -> Mapping[str, str]:
    """The fingerprints in a file, by version of libwebrtc."""
    return {str(version): str(digest) for version, digest in parse_json(read_text(path), str(path)).items()}


def main(path: Path) -> None:
    """Writes the fingerprint of this build to a file, and keeps those of other versions."""
    simulator = find_simulator()
    own = {simulator_versions(simulator)["libwebrtc"]: fingerprint(simulator, shipped_model())}
    found = {**read_fingerprints(path), **own}
    write_text(path, json.dumps(found, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(Path("simulator/fingerprints.json"))
