"""The runs of a replay, as lines for `weir-sim run -`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from weir_cli.files.input import sha256_of_file
from weir_eval.records.summary import ModelAbout
from weir_eval.runs.call_media import CallMedia
from weir_eval.runs.custom_controllers import CustomController
from weir_eval.runs.simulator_worker import SimulatorJob
from weir_sim.controllers import POLICY_FILE, is_pool, pool_members, uses_model
from weir_sim.versions import simulator_versions
from weir_traces.schema.scenario import Scenario
from weir_traces.schema.variation import varied

SeriesOfPlan = Literal["kept", "first kept", "measured"]


@dataclass(frozen=True)
class ReplayPlan:
    """The runs: every scenario varied by each seed (`weir_traces.schema.variation`), equally for all controllers.

    `model` is for the controller weir; None if that is not among them. `custom`: the custom controllers by name.

    `guard_off`: guard rules (`weir_sim.controllers.GUARD_RULES`) that are switched off. `decision_delay_ms`: time that
    each decision of a model takes.

    `path_seed`: all runs have the path of this seed, and differ only in other random values.

    `call`: the media of virtual calls, for the simulator with libwebrtc's stack; None for the simulator's own stack.

    `series`: "kept" in files with the results; "first kept": those of the first seed; or only "measured". Every run
    computes them, since scores depend on what the viewer sees.
    """

    scenarios: Sequence[Scenario]
    controllers: Sequence[str]
    objective: tuple[float, float, float]
    seeds: Sequence[int]
    model: Path | None
    simulator: Path
    series: SeriesOfPlan = "kept"
    custom: Mapping[str, CustomController] = field(default_factory=dict)
    guard_off: Sequence[str] = ()
    decision_delay_ms: float = 0.0
    call: CallMedia | None = None
    path_seed: int | None = None


@dataclass(frozen=True)
class ReplayJob(SimulatorJob):
    """One run of a replay. `key` is a digest of everything that determines the bytes of the run; `media` are those of
    the flows under test, by ID.
    """

    key: str
    media: dict[str, JsonValue]
    variation: dict[str, JsonValue]
    model_sha256: str | None
    decision_delay_ms: float
    keep_series: bool
    simulator: Path
    call: CallMedia | None


def model_description(plan: ReplayPlan) -> ModelAbout | None:
    """Name and SHA-256 of the model of the controller weir; None if that does not run."""
    return ModelAbout(name=plan.model.name, sha256=sha256_of_file(plan.model)) if plan.model else None


def plan_jobs(plan: ReplayPlan) -> dict[str, ReplayJob]:
    """The runs of a plan by key, a digest of everything that determines the bytes of a run. Seeds are outermost, so
    that an interrupted replay has results of all controllers for the first seeds.

    Raises:
        MissingComponent: the simulator does not work.
    """
    versions = simulator_versions(plan.simulator)
    simulator_hash, model_hash = sha256_of_file(plan.simulator), sha256_of_file(plan.model) if plan.model else None
    call = plan.call.request() if plan.call else None
    jobs = {}
    for seed in plan.seeds:
        for scenario, variation in varied(plan.scenarios, seed, plan.path_seed):
            document = scenario.to_dict()
            tested = (f for f in document["flows"] if f["kind"] == "rtp" and f["controller"] == "under_test")
            media = {flow["id"]: flow["media"] for flow in tested}
            for controller in plan.controllers:
                own_model = plan.model if uses_model(controller) else None
                own_hash = model_hash if own_model else None
                custom = plan.custom.get(controller)
                identity = [document, controller, plan.objective, seed, own_hash, simulator_hash, versions]
                if custom:
                    identity.append(custom.identity)
                if is_pool(controller):
                    identity.append(member_digests(controller))
                if plan.guard_off:
                    identity.append(sorted(plan.guard_off))
                delay_ms = float(plan.decision_delay_ms) if runs_policy(controller, custom) else 0.0
                if delay_ms:
                    identity.append({"decision_delay_ms": delay_ms})
                if plan.call:
                    identity.append({"call": plan.call.description()})
                key = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]
                jobs[key] = ReplayJob(
                    name=f"{document['name']}, {controller}, seed {seed}",
                    request={
                        "scenario": document,
                        "controller": controller,
                        "custom": custom.job() if custom else None,
                        "model": str(own_model) if own_model else None,
                        "objective": list(plan.objective),
                        "seed": seed,
                        "guard_off": list(plan.guard_off),
                        "decision_delay_ms": delay_ms,
                        "call": call,
                    },
                    key=key,
                    media=media,
                    variation=variation,
                    model_sha256=custom.sha256 if custom and custom.model else own_hash,
                    decision_delay_ms=delay_ms,
                    keep_series=plan.series == "kept" or (plan.series == "first kept" and seed == plan.seeds[0]),
                    simulator=plan.simulator,
                    call=plan.call,
                )
    return jobs


def runs_policy(controller: str, custom: CustomController | None) -> bool:
    """True if a model decides, alone or in a pool."""
    if custom:
        return bool(custom.model)
    return uses_model(controller) or (is_pool(controller) and bool(member_digests(controller)))


def member_digests(pool: str) -> list[str]:
    """The SHA-256 of each policy file in a pool specification."""
    files = (member.removeprefix(POLICY_FILE) for member in pool_members(pool) if member.startswith(POLICY_FILE))
    return [sha256_of_file(Path(file)) for file in files]
