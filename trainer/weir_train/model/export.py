"""Exports a trained policy to ONNX with the metadata of `weir.schema` 1, and checks the parity of all runtimes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx
import torch

import weir
from weir import Policy
from weir_cli.errors import InputError
from weir_cli.files.output import write_bytes
from weir_train.gym.specification import EnvironmentSpecification
from weir_train.model.file import parity
from weir_train.model.golden_inputs import golden_inputs, golden_states
from weir_train.model.policy_graph import policy_graph
from weir_train.policies.networks import DeployablePolicy, DeployedPolicy
from weir_train.policies.recurrent import DeployedRecurrentPolicy, RecurrentActor


def export(
    policy: DeployablePolicy,
    specification: EnvironmentSpecification,
    path: str | os.PathLike[str],
    *,
    name: str = "weir",
    version: str = weir.__version__,
    provenance: Mapping[str, Any] | None = None,
    metadata: Mapping[str, str] | None = None,
    on_stage: Callable[[str], None] = lambda stage: None,
) -> onnx.ModelProto:
    """Writes the policy as an ONNX file and checks it: the same policy gives the same bytes. `metadata`: further
    entries; `on_stage` receives the next stage.

    Raises:
        InputError: the file cannot be written, or torch, ONNX Runtime and the library disagree.
    """
    recurrent = isinstance(policy.deployed_modules()[1], RecurrentActor)
    kind = DeployedRecurrentPolicy if recurrent else DeployedPolicy
    deployed = kind(policy, specification).eval()
    on_stage("writing the graph")
    model = policy_graph(deployed, specification)
    onnx.helper.set_model_props(model, dict(metadata or {}))
    golden = _golden(deployed)
    on_stage("checking it in ONNX Runtime and the library")
    finish(model, specification, path, golden, name=name, version=version, provenance=provenance or {})
    return model


def finish(
    model: onnx.ModelProto,
    specification: EnvironmentSpecification,
    path: str | os.PathLike[str],
    golden: list[dict[str, list[float]]],
    *,
    name: str,
    version: str,
    provenance: Mapping[str, Any],
) -> None:
    """Adds metadata to those of a graph, checks it and writes it; see `export`. `golden` has inputs and outputs by
    name, computed independently of the graph.
    """
    kept = {entry.key: entry.value for entry in model.metadata_props}
    onnx.helper.set_model_props(model, kept | _metadata(specification, name, version, provenance, golden))
    onnx.checker.check_model(model, full_check=True)
    worst = parity(model.SerializeToString())
    if not worst <= 1.0:
        raise InputError(
            f"{path}: its golden vectors and ONNX Runtime differ by {worst:.2g} times what is allowed; nothing is "
            "written"
        )
    data = model.SerializeToString(deterministic=True)
    try:
        Policy(data)
    except ValueError as error:
        raise InputError(f"the library refuses the model: {error}") from None
    write_bytes(path, data)


def _golden(deployed: DeployedPolicy) -> list[dict[str, list[float]]]:
    observations, objectives = golden_inputs(deployed.specification)
    rows = {"observation": observations, "objective": objectives}
    answers = ["action"]
    if isinstance(deployed, DeployedRecurrentPolicy):
        rows["state"] = golden_states(deployed.state_size)
        answers.append("next_state")
    vectors = []
    for index in range(len(observations)):
        vector = {name: values[index] for name, values in rows.items()}
        with torch.no_grad():
            found = deployed(*(torch.from_numpy(values[None]) for values in vector.values()))
        outputs = zip(answers, found if isinstance(found, tuple) else (found,), strict=True)
        vector |= {name: values.numpy().reshape(-1) for name, values in outputs}
        vectors.append({name: floats(values) for name, values in vector.items()})
    return vectors


def _metadata(
    specification: EnvironmentSpecification,
    name: str,
    version: str,
    provenance: Mapping[str, Any],
    golden: list[dict[str, list[float]]],
) -> dict[str, str]:
    action = specification.action
    kind = "rate_bps" if action.kind == "around_rule" else action.kind
    metadata = {
        "weir.schema": "1",
        "weir.name": name,
        "weir.version": version,
        "weir.features": ",".join(specification.features),
        "weir.history": str(specification.history),
        "weir.interval_ms": str(specification.interval_ms),
        "weir.action_kind": kind,
        "weir.min_bps": f"{action.min_bps:.0f}",
        "weir.max_bps": f"{action.max_bps:.0f}",
        "weir.provenance": json.dumps(provenance, sort_keys=True),
        "weir.golden": json.dumps(golden, separators=(",", ":")),
    }
    if kind == "relative":
        metadata["weir.action_alpha"] = repr(action.alpha)
    return metadata


def floats(values: np.ndarray) -> list[float]:
    """Returns float32 values as the shortest decimals that restore them."""
    return [float(np.format_float_positional(value, unique=True)) for value in values]
