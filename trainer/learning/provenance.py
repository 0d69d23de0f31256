"""How a model came to be, as its metadata and its card tell it: from what was really done."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from weir.trainer.configuration.scenarios import ScenarioSettings
from weir.trainer.configuration.training import TrainingConfiguration
from weir.trainer.learning.algorithms import checkpoint_steps
from weir.trainer.learning.run_record import CHECKPOINT, RunRecord, load_run_configuration, read_run_record


def provenance_of_run(folder: str | os.PathLike[str], checkpoint: str | os.PathLike[str]) -> dict[str, Any]:
    """The provenance of a policy in a training folder.

    Raises:
        InputError: the folder holds no training, or the file no checkpoint.
    """
    found = provenance_of(load_run_configuration(folder), checkpoint_steps(checkpoint), read_run_record(folder))
    return found if Path(checkpoint).name == CHECKPOINT else found | {"checkpoint": Path(checkpoint).name}


def provenance_of(configuration: TrainingConfiguration, steps: int, record: RunRecord) -> dict[str, Any]:
    """What the model card tells about how a model came to be.

    Args:
        configuration: that it was trained with.
        steps: that the policy has really learned from.
        record: of the run.
    """
    environment = configuration.environment
    done = f"{steps:,}" if steps >= configuration.steps else f"{steps:,} of {configuration.steps:,} planned"
    found: dict[str, Any] = {
        "algorithm": f"{configuration.algorithm.upper()} (stable-baselines3), {done} steps of "
        f"{environment.interval_ms} ms, seed {configuration.seed}",
        "data": data_text(configuration.scenarios),
        "objectives": environment.objective if isinstance(environment.objective, str) else list(environment.objective),
        "reward": environment.reward,
        "action": environment.action.model_dump(),
        "network": {"hidden": list(configuration.policy.hidden), "preference": configuration.policy.preference_size},
    }
    if record.interrupted and steps < configuration.steps:
        found["interrupted"] = True
    if record.commands:
        found["command"] = " && ".join(record.commands)
    if record.configuration is not None:
        found["configuration"] = record.configuration.model_dump()
    if record.versions:
        found["versions"] = record.versions
    return found


def data_text(scenarios: ScenarioSettings) -> str:
    """What a model was trained on."""
    if scenarios.source == "random_domain":
        return (
            "random domain (weir.traces.random_domain), split train, "
            f"mean capacity at most {scenarios.maximum_mean_bps / 1e6:g} Mbps, "
            f"episodes of {scenarios.minimum_duration_s:g} to {scenarios.maximum_duration_s:g} s"
        )
    if scenarios.source == "files":
        return f"scenario files {', '.join(path.name for path in scenarios.files)}"
    return f"scenarios {', '.join(str(document.get('name')) for document in scenarios.documents)}"
