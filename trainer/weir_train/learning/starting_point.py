"""The starting point of adaptation: the policy in a model file, or in a training folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import onnx
import torch

from weir_cli.errors import InputError
from weir_cli.files.input import LARGEST_MODEL_BYTES, read_bytes
from weir_eval.model_file import PARAMETERS, read_model
from weir_sim.controllers import PRESETS
from weir_sim.objectives import checked_objective
from weir_train.configuration.training import TrainingConfiguration, checked_configuration
from weir_train.gym.specification import ObjectiveSource
from weir_train.learning.algorithms import load_policy
from weir_train.learning.provenance import provenance_of_run
from weir_train.learning.run_record import load_run_configuration
from weir_train.model.file import NOT_PPO, check_source, trained_policy
from weir_train.policies.networks import PreferencePolicy

# Maps prefixes of parameters in an exported graph to those in the policy.
GRAPH_NAMES = dict(zip(PARAMETERS, ("mlp_extractor.policy.", "action_net."), strict=True))
ACTOR_PARTS = ("mlp_extractor.policy.", "action_net.", "log_std")


@dataclass(frozen=True)
class StartingPoint:
    """The starting point of adaptation.

    `parameters` are those of the policy, or only of its actor (from a model file; `has_critic` is false). The policy
    was trained on `old_objectives`. `provenance` and `metadata` are those of the model so far.
    """

    configuration: TrainingConfiguration
    parameters: Mapping[str, torch.Tensor]
    has_critic: bool
    old_objectives: tuple[ObjectiveSource, ...]
    provenance: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)


def read_starting_point(path: str | os.PathLike[str], settings: TrainingConfiguration) -> StartingPoint:
    """Reads a model file, a training folder or a checkpoint in one, which determines features, interval, action, reward
    and network.

    Raises:
        InputError: it is missing or unfit; the message has the reason.
    """
    file = Path(path)
    check_source(file)
    if file.suffix == ".onnx":
        return _from_model_file(file, settings)
    checkpoint = trained_policy(file)
    folder = checkpoint.parent
    policy = load_policy(checkpoint)
    if not isinstance(policy, PreferencePolicy):
        raise InputError(f"{file}: {NOT_PPO}")
    run = load_run_configuration(folder)
    values = settings.model_dump() | {key: getattr(run, key).model_dump() for key in ("environment", "policy")}
    environment = settings.environment
    values["environment"] |= {"environments": environment.environments, "side": environment.side, "objective": "random"}
    return StartingPoint(
        checked_configuration(values | {"name": run.name, "version": run.version}, str(file)),
        policy.state_dict(),
        True,
        (_source(run.environment.objective),),
        provenance_of_run(folder, checkpoint),
    )


def _from_model_file(file: Path, settings: TrainingConfiguration) -> StartingPoint:
    model = read_model(file)
    provenance = model.provenance
    try:
        environment = settings.environment.model_dump() | {
            "features": model.features,
            "history": model.history,
            "interval_ms": model.interval_ms,
            "action": provenance["action"],
            "reward": provenance["reward"],
            "objective": "random",
        }
        network = dict(provenance["network"])
        adapted = [
            checked_objective(entry["objective"])
            for entry in provenance.get("adaptations", [])
            if "objective" in entry or "traces" not in entry
        ]
        objectives = (_source(provenance["objectives"]), *adapted)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"{file}: its provenance is broken ({error})") from None
    if "preference" in network:
        network["preference_size"] = network.pop("preference")
    values = settings.model_dump() | {"environment": environment, "name": model.name, "version": model.version}
    values["policy"] |= network
    proto = onnx.load_from_string(read_bytes(file, LARGEST_MODEL_BYTES))
    return StartingPoint(
        checked_configuration(values, str(file)),
        {
            inside + tensor.name.removeprefix(outside): torch.from_numpy(onnx.numpy_helper.to_array(tensor).copy())
            for tensor in proto.graph.initializer
            for outside, inside in GRAPH_NAMES.items()
            if tensor.name.startswith(outside)
        },
        False,
        objectives,
        provenance,
        {entry.key: entry.value for entry in proto.metadata_props},
    )


def _source(objectives: Any) -> ObjectiveSource:
    """Converts the objectives of a configuration for `RequirementReplay`; anything except weights and presets becomes
    "random".
    """
    if isinstance(objectives, list | tuple):
        return checked_objective(objectives)
    return objectives if objectives in PRESETS else "random"


def load_parameters(policy: PreferencePolicy, parameters: Mapping[str, torch.Tensor]) -> None:
    """Sets the given parameters of the policy.

    Raises:
        InputError: those of the actor are missing, or some do not fit.
    """
    current = policy.state_dict()
    needed = {name for name in current if name.startswith(ACTOR_PARTS[:2])}
    mismatched = sorted(needed - set(parameters)) + [
        name
        for name, value in parameters.items()
        if name not in current or current[name].shape != value.shape or not value.isfinite().all()
    ]
    if mismatched:
        raise InputError(f"the model's network does not match its description: {', '.join(mismatched)}")
    policy.load_state_dict(dict(parameters), strict=False)
