"""Replays scenarios under controllers and seeds, and writes results, summary and report into one folder.

    inputs x controllers x seeds --> jobs --> weir-sim processes --> results.jsonl, series/ --> summary.json,
    report.html

A replay that was interrupted is taken up again where it was: runs whose record is complete, and was made from the
same scenario, options, model and simulator, are not run again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weir.qoe_eval.metrics import run_metrics
from weir.qoe_eval.run_store import RunStore, split_series
from weir.qoe_eval.simulator import Outcome, run_jobs, simulator_versions
from weir.traces.scenario import Scenario

# A run gets this much time, and as much again as it simulates: hundreds of times what it needs.
_TIME_LIMIT_S = 30.0


@dataclass(frozen=True)
class ReplayPlan:
    """What to run. `model` is for the controller weir; None when that is not among them."""

    scenarios: Sequence[Scenario]
    controllers: Sequence[str]
    objective: tuple[float, float, float]
    seeds: Sequence[int]
    model: Path | None
    simulator: Path


@dataclass
class ReplayOutcome:
    """All complete records of the plan, in its order, and what went wrong."""

    records: list[dict[str, Any]] = field(default_factory=list)
    failures: list[Outcome] = field(default_factory=list)
    reused: int = 0


def replay(
    plan: ReplayPlan, folder: Path, processes: int, on_progress: Callable[[int, int, str], None] | None = None
) -> ReplayOutcome:
    """Runs what is not there yet, appending each record as it completes.

    A run that the simulator refuses ends the replay: the refusal (a bad model, say) would come again for every run of
    that controller. Runs that die or overstay are counted as failures, and the others go on.

    Args:
        plan: what to run.
        folder: where `results.jsonl` and `series/` go.
        processes: simulator processes at once.
        on_progress: called with runs complete, runs in all, and the name of the latest.

    Raises:
        InputError: the folder cannot be used.
        MissingComponent: the simulator does not work.
        SimulatorFailed: it dies whatever it is given.
        KeyboardInterrupt: what is complete is kept.
    """
    versions = simulator_versions(plan.simulator)
    jobs = _jobs(plan, versions)
    store = RunStore(folder)
    outcome = ReplayOutcome()
    done = {record["key"]: record for record in store.start(jobs)}
    outcome.reused = len(done)
    missing = [job for key, job in jobs.items() if key not in done]
    longest_s = max((scenario.duration_s for scenario in plan.scenarios), default=0.0)
    with store.results_path.open("ab") as file:
        runs = run_jobs(plan.simulator, missing, processes, _TIME_LIMIT_S + longest_s)
        try:
            for answer in runs:
                if answer.record is None:
                    outcome.failures.append(answer)
                    if answer.refused:
                        break
                    continue
                record, series = _result(answer.record, answer.job)
                store.append(file, record, series)
                done[record["key"]] = record
                if on_progress:
                    on_progress(len(done), len(jobs), f"{record['scenario']} · {record['controller']}")
        finally:
            runs.close()
    outcome.records = [done[key] for key in jobs if key in done]
    return outcome


def model_description(plan: ReplayPlan) -> dict[str, str] | None:
    """Name and SHA-256 of the model that the controller weir ran; nothing when it did not run."""
    return {"name": plan.model.name, "sha256": _sha256_of_file(plan.model)} if plan.model else None


def _jobs(plan: ReplayPlan, versions: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Lines for `weir-sim run -` by their key. Seeds outermost: an interrupted replay has compared all controllers on
    the first seeds.
    """
    simulator_hash, model_hash = _sha256_of_file(plan.simulator), _sha256_of_file(plan.model) if plan.model else None
    jobs = {}
    documents = [scenario.to_dict() for scenario in plan.scenarios]
    for seed in plan.seeds:
        for document in documents:
            tested = [f["id"] for f in document["flows"] if f["kind"] == "rtp" and f["controller"] == "under_test"]
            for controller in plan.controllers:
                model = str(plan.model) if plan.model and controller == "weir" else None
                identity = [
                    document,
                    controller,
                    plan.objective,
                    seed,
                    model_hash if model else None,
                    simulator_hash,
                    versions,
                ]
                key = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]
                jobs[key] = {
                    "job": {
                        "key": key,
                        "name": f"{document['name']}, {controller}, seed {seed}",
                        "flows_under_test": tested,
                        "model_sha256": model_hash if model else None,
                    },
                    "scenario": document,
                    "controller": controller,
                    "model": model,
                    "objective": list(plan.objective),
                    "seed": seed,
                    "series": True,
                }
    return jobs


def _result(record: dict[str, Any], job: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    measures = run_metrics(record, job["flows_under_test"] or None)
    lean, series = split_series(record)
    about = {name: job[name] for name in ("key", "flows_under_test", "model_sha256")}
    return lean | about | {"metrics": measures}, series


def _sha256_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
