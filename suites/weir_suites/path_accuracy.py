"""Measures the accuracy of `weir whatif`, in closed and open loop, by virtual calls on known paths.

    python -m weir_suites.path_accuracy FOLDER [RECORD]

On each path a call under GCC writes its event log, the path is estimated from this log alone, and the call under weir
on the estimate is compared with that on the true path; a call there with another seed shows how much two calls differ.
In open loop, GCC's target on the log is compared with the logged one.
FOLDER keeps the runs for the next time; RECORD is a file of docs/results. The estimator was developed on the paths
`developed`: all bundled scenarios, random ones, mixtures of the suite `natural`, and the traces of OpenNetLab and
Mahimahi in the folder `traces` of WEIR_SHARED, if that is set. Random ones and mixtures 100 to 147, on which it was
developed later, are in neither set. Those of `held out` are random ones and mixtures unseen during development. Each
path lasts at most one minute; all take ten minutes of CPU time.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from weir_cli.files.input import sha256_of_file
from weir_eval.fingerprint import fingerprint
from weir_eval.measurement import Measurement, Value, commit, today, write_measurement
from weir_eval.options.shared import shared_traces
from weir_eval.records.run_record import RunRecord
from weir_eval.runs import scenario_sets as sets
from weir_eval.runs.run_plans import complete_plans
from weir_logs.event_logs.closed_loop import call_plan
from weir_logs.event_logs.event_log import parse_event_log
from weir_logs.event_logs.event_log_file import event_log_lines
from weir_logs.event_logs.open_loop import OpenLoop, difference, logged_targets
from weir_logs.event_logs.path_estimate import estimate_path
from weir_logs.event_logs.whatif import Recording, run_whatif
from weir_sim.controllers import POLICY, PRESETS
from weir_sim.executables import find_simulator, find_virtual_call
from weir_sim.installed import shipped_model
from weir_sim.versions import simulator_versions
from weir_suites import scenarios
from weir_traces.bounds import TRACE_SETS
from weir_traces.generate.natural_domain import natural_scenario
from weir_traces.generate.random_domain import random_scenario
from weir_traces.schema.media import with_media
from weir_traces.schema.scenario import Scenario

_LONGEST_S: Final = 60.0
_LOGS: Final = "WEIR_EVENT_LOGS"
# SRTP's authentication tag, which the log of a virtual call does not include.
_SRTP_TAG_BYTES: Final = 10
_BOUNDS: Final = {"receive_rate_bps": 0.15, "network_delay_ms_p95": 0.25}
_OPEN_LOOP_BOUND: Final = 0.02


def known_paths() -> dict[str, list[Scenario]]:
    """The paths of each set, without duplicates; those that define only capacity get the video of a call."""
    settings = sets.Settings(model=shipped_model(), models=Path(), traces=shared_traces(*TRACE_SETS))
    plain = [scenarios.bundled, *sets.whole_traces.values()]
    developed = [with_media(one, "video") for build in plain for one in build(settings).scenarios]
    found = {"developed": [*developed, *_drawn(range(8), range(8))], "held out": _drawn(range(32, 64), range(40, 72))}
    return {
        name: list(
            {one.name: one.model_copy(update={"duration_s": min(one.duration_s, _LONGEST_S)}) for one in some}.values()
        )
        for name, some in found.items()
    }


def _drawn(random: range, mixtures: range) -> list[Scenario]:
    return [
        *(random_scenario(sets.FIRST_RANDOM_SEED + seed, split="held_out") for seed in random),
        *map(natural_scenario, mixtures),
    ]


@dataclass(frozen=True)
class PathError:
    """Relative errors on one path, by measure: of the call on the estimate, and of a second call on the true path.

    `open_loop`: the median relative error, unsigned, of GCC's target in open loop compared with the logged one.
    """

    name: str
    predicted: Mapping[str, float]
    repeated: Mapping[str, float]
    open_loop: float


def measure_errors(paths: Sequence[Scenario], folder: Path, processes: int) -> list[PathError]:
    """The errors on each path that has an estimate.

    Raises:
        InputError: a folder or a run cannot be used.
        MissingComponent: a program of `make webrtc` is missing.
    """
    program, model = find_virtual_call(), shipped_model()

    def calls(scenarios: Sequence[Scenario], controller: str, name: str, seed: int = 1) -> dict[str, RunRecord]:
        plan = call_plan(
            scenarios, [controller], PRESETS["balanced"], model if controller == POLICY else None, program, seed
        )
        return {one.scenario: one for one in complete_plans([plan], folder / name, processes).all_records()}

    logs = folder / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    os.environ[_LOGS] = str(logs)
    try:
        calls(paths, "gcc", "logged")
    finally:
        del os.environ[_LOGS]
    estimates, open_loop = [], {}
    for one in paths:
        # The file name of EventLogPath in calls/virtual_call/peer_setup.cc.
        file = re.sub(r"[^\w-]", "_", f"{one.name}-gcc-1-0", flags=re.ASCII)
        lines = event_log_lines(logs / f"{file}.rtceventlog")
        log = parse_event_log(lines, one.name)
        open_loop[one.name] = _open_loop_error(Recording(one.name, lines, log), model)
        estimates.append(estimate_path(log, one.name, _SRTP_TAG_BYTES).scenario)
    true, again = (calls(paths, POLICY, f"true-{seed}", seed) for seed in (1, 2))
    predicted = calls(estimates, POLICY, "predicted")
    return [
        PathError(name, _relative(predicted[name], of_path), _relative(again[name], of_path), open_loop[name])
        for name, of_path in true.items()
    ]


def _open_loop_error(recording: Recording, model: Path) -> float:
    logged = logged_targets(recording.log)
    (found,) = run_whatif(recording, ["gcc"], OpenLoop.like(logged, model, "balanced"))
    against = difference(found, logged, recording.log.duration_s)
    # Without a time in common the error is 100 %.
    return 1.0 if against is None else against.median_percent / 100


def _relative(found: RunRecord, true: RunRecord) -> dict[str, float]:
    values = {name: (found.measures.get(name), true.measures.get(name)) for name in _BOUNDS}
    return {name: one / other - 1 for name, (one, other) in values.items() if one is not None and other}


def summary(errors: Sequence[PathError]) -> dict[str, float]:
    """Shares of paths within the bounds, quantiles of the unsigned errors, and the error of each path."""
    found: dict[str, float] = {"paths": len(errors)}
    for kind in ("predicted", "repeated"):
        within = np.ones(len(errors), bool)
        for name, bound in _BOUNDS.items():
            signed = np.array([getattr(one, kind).get(name, np.inf) for one in errors])
            found[f"{kind}/{name}/within"] = float(np.mean(np.abs(signed) <= bound))
            for percent in (50, 75, 90):
                found[f"{kind}/{name}/p{percent}"] = float(np.percentile(np.abs(signed), percent))
            within &= np.abs(signed) <= bound
        found[f"{kind}/both/within"] = float(np.mean(within))
    of_open_loop = np.array([one.open_loop for one in errors])
    found["open_loop/within"] = float(np.mean(of_open_loop <= _OPEN_LOOP_BOUND))
    for percent in (50, 90):
        found[f"open_loop/p{percent}"] = float(np.percentile(of_open_loop, percent))
    for one in errors:
        found |= {f"path/{one.name}/{name}": value for name, value in one.predicted.items()}
    return found


def main(arguments: Sequence[str]) -> None:
    """Prints the numbers, and writes the record if a file is given."""
    if len(arguments) not in (1, 2):
        raise SystemExit(__doc__)
    values: dict[str, float] = {}
    for name, paths in known_paths().items():
        errors = measure_errors(paths, Path(arguments[0]) / name.replace(" ", "-"), os.cpu_count() or 1)
        values |= {f"{name}/{key}": value for key, value in summary(errors).items()}
    for key, value in values.items():
        print(f"{key:70} {value:+.3f}")
    if len(arguments) < 2:
        return
    simulator = find_simulator()
    record = Measurement(
        measured="replays",
        about="Closed loop of weir whatif: calls under weir on paths that were estimated from the event log of a call "
        "under GCC, against calls on the true paths; GCC's target in open loop on those logs, against the logged one; "
        "relative errors.",
        command="python -m weir_suites.path_accuracy build/results/whatif docs/results/whatif.json",
        model_sha256=sha256_of_file(shipped_model()),
        subject="simulator",
        simulator=fingerprint(simulator, shipped_model()),
        libwebrtc=simulator_versions(simulator).get("libwebrtc", ""),
        date=today(),
        commit=commit(),
        values={key: Value(value) for key, value in values.items()},
    )
    write_measurement(Path(arguments[1]), record)


if __name__ == "__main__":
    main(sys.argv[1:])
