"""The origin of a model: recorded when it is trained, written into its metadata and its card."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from weir_cli.errors import InputError
from weir_eval.measurement import commit_with_changes, today
from weir_sim.executables import find_simulator
from weir_sim.versions import simulator_versions
from weir_train.configuration.scenarios import ScenarioSettings
from weir_train.configuration.training import TrainingConfiguration
from weir_train.learning.checkpoint import read_checkpoint
from weir_train.learning.learner import learner_of
from weir_train.learning.run_record import TrainingPart, TrainingRecord, load_run_configuration, read_training_record
from weir_train.model.file import CHECKPOINT


def begin_part(
    record: TrainingRecord,
    configuration: TrainingConfiguration,
    first_step: int,
    command: str | None,
    folder: Path,
    simulator: str | os.PathLike[str] | None = None,
) -> None:
    """Records a part of a run when it begins, and the inputs of the algorithm. A part without a command continues the
    last one. `simulator`: path of `weir-sim`; see `find_simulator`.

    Raises:
        InputError: the run has a part of other code; nothing is recorded.
        MissingComponent: `weir-sim` does not start.
    """
    learner = learner_of(configuration)
    part = TrainingPart(
        first_step=first_step,
        command=command or "",
        commit=commit_with_changes(),
        date=today(),
        hardware=f"{os.cpu_count()} CPU cores, {platform.machine()}, {torch.backends.cpu.get_cpu_capability()}",
        versions={package: version(package) for package in ("weir-train", *learner.PACKAGES)} | _simulated(simulator),
    )
    if record.parts:
        _check_same_code(record.parts[-1], part, folder)
    if command or not record.parts:
        record.parts.append(part)
    record.origin = learner.origin(configuration)


def _simulated(simulator: str | os.PathLike[str] | None) -> dict[str, str]:
    """Versions of the simulator's parts. With another libwebrtc, whose GCC is in competition on some paths, the same
    training gives other parameters.
    """
    versions = simulator_versions(find_simulator(simulator))
    return {name: versions[name] for name in ("ns3", "libwebrtc") if name in versions}


def _check_same_code(last: TrainingPart, part: TrainingPart, folder: Path) -> None:
    # An installed package has no commit, but its version.
    if last.commit and part.commit and last.commit != part.commit:
        raise InputError(
            f"--resume: {folder} was trained at commit {last.commit}, and this is {part.commit}, so no commit would "
            "give these parameters again: check out the run's commit (a suffix means changes that were not committed), "
            "or train anew in another folder"
        )
    found = [
        f"{name} {last.versions.get(name, 'none')} in the run, {number} here"
        for name, number in part.versions.items()
        if last.versions.get(name) != number
    ]
    if found:
        raise InputError(
            f"--resume: {folder}: {'; '.join(found)}: install the run's versions, or train anew in another folder"
        )


def provenance_of_run(folder: str | os.PathLike[str], checkpoint: str | os.PathLike[str]) -> dict[str, Any]:
    """Returns the provenance of a policy in a training folder.

    Raises:
        InputError: the folder holds no training, or the file no checkpoint.
    """
    record = read_training_record(folder)
    found = provenance_of(load_run_configuration(folder), read_checkpoint(checkpoint).steps, record)
    return found if Path(checkpoint).name == CHECKPOINT else found | {"checkpoint": Path(checkpoint).name}


def provenance_of(configuration: TrainingConfiguration, steps: int, record: TrainingRecord) -> dict[str, Any]:
    """Returns the entries of the metadata `weir.provenance`."""
    environment = configuration.environment
    done = f"{steps:,}" if steps >= configuration.steps else f"{steps:,} of {configuration.steps:,} planned"
    described = learner_of(configuration).description(configuration, done)
    found: dict[str, Any] = {
        "algorithm": f"{described['algorithm']} of {environment.interval_ms} ms, seed {configuration.seed}",
        "data": data_text(configuration.scenarios, configuration.curriculum),
        "objectives": environment.objective if isinstance(environment.objective, str) else list(environment.objective),
        "side": environment.side,
        "reward": environment.reward,
        "action": environment.action.model_dump(),
        "network": described["network"],
    }
    if configuration.stages:
        found["stages"] = [_stage_text(stage) for stage in configuration.stages]
    if record.interrupted and steps < configuration.steps:
        found["interrupted"] = True
    if record.held_out:
        found["held_out"] = record.held_out
    if commands := [part.command for part in record.parts if part.command]:
        found["command"] = " && ".join(commands)
    if record.configuration is not None:
        found["configuration"] = record.configuration.model_dump()
    found |= record.origin
    if record.parts:
        found["parts"] = [part.text for part in record.parts]
        last = record.parts[-1].model_dump(include={"versions", "hardware", "date", "commit"})
        found |= {name: value for name, value in last.items() if value}
    return found


def data_text(scenarios: ScenarioSettings, curriculum: str) -> str:
    """Describes the scenarios of a training."""
    if scenarios.source == "random_domain":
        return (
            f"{'ordinary paths of the ' if scenarios.ordinary else ''}random domain "
            "(weir_traces.generate.random_domain), split train, "
            f"mean capacity at most {scenarios.maximum_mean_bps / 1e6:g} Mbps, "
            f"episodes of {scenarios.minimum_duration_s:g} to {scenarios.maximum_duration_s:g} s"
        )
    if scenarios.source == "random_traces":
        return f"{scenarios.traces} traces of weir_traces.generate.random_trace, curriculum {curriculum}"
    return f"scenario files {', '.join(path.name for path in scenarios.files)}, curriculum {curriculum}"


def _stage_text(stage: Mapping[str, Any]) -> str:
    """Describes a stage of a training: its last step, and those of its settings that concern the data."""
    tables = [stage, *(stage.get(table, {}) for table in ("environment", "scenarios"))]
    settings = [f"{key} {table[key]}" for table in tables for key in ("curriculum", "stack", "source") if key in table]
    return " ".join([f"to step {stage['steps']:,}", *([f"({'; '.join(settings)})"] if settings else [])])
