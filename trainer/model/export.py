"""Export of a trained policy to ONNX with the metadata of `weir.schema` 1, and the parity of all runtimes on it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch

import weir
from weir.errors import InputError
from weir.files.output import write_bytes
from weir.trainer.gym.specification import PRESETS, EnvironmentSpecification
from weir.trainer.learning.networks import DeployablePolicy, DeployedPolicy
from weir.trainer.model.policy_graph import policy_graph

GOLDEN_VECTORS = 6
RELATIVE_TOLERANCE = 1e-4
ABSOLUTE_TOLERANCE = 1e-4


def export(
    policy: DeployablePolicy,
    specification: EnvironmentSpecification,
    path: str | os.PathLike[str],
    *,
    name: str = "weir",
    version: str = weir.__version__,
    provenance: Mapping[str, Any] | None = None,
) -> onnx.ModelProto:
    """Writes the policy as an ONNX file and checks it: the same policy gives the same bytes.

    Args:
        policy: a trained policy.
        specification: of the environment it was trained in.
        path: of the file.
        name: for the metadata.
        version: for the metadata.
        provenance: how the model came to be; JSON values.

    Raises:
        InputError: the file cannot be written, or torch, ONNX Runtime and the library (when built) disagree.
    """
    deployed = DeployedPolicy(policy, specification).eval()
    observations, objectives = golden_inputs(specification)
    with torch.no_grad():
        actions = [
            deployed(torch.from_numpy(observation[None]), torch.from_numpy(objective[None])).numpy().reshape(-1)
            for observation, objective in zip(observations, objectives, strict=True)
        ]
    model = policy_graph(deployed, specification)
    golden = [
        {"observation": _floats(observation), "objective": _floats(objective), "action": _floats(action)}
        for observation, objective, action in zip(observations, objectives, actions, strict=True)
    ]
    onnx.helper.set_model_props(model, _metadata(specification, name, version, provenance or {}, golden))
    onnx.checker.check_model(model, full_check=True)
    worst = parity(model)
    if not worst <= 1.0:
        raise InputError(
            f"{path}: torch and ONNX Runtime differ by {worst:.2g} times what is allowed; nothing is written"
        )
    data = model.SerializeToString(deterministic=True)
    check_in_library(data)
    write_bytes(path, data)
    return model


def golden_inputs(specification: EnvironmentSpecification) -> tuple[np.ndarray, np.ndarray]:
    """Observations (GOLDEN_VECTORS, D) and objectives (GOLDEN_VECTORS, 3), float32, the same at every call: quiet,
    queueing, lossy and silent paths.
    """
    generator = np.random.default_rng(20240401)
    shape = (GOLDEN_VECTORS, specification.history)
    rate = 10 ** generator.uniform(5.0, 7.3, (GOLDEN_VECTORS, 1)) * generator.uniform(0.7, 1.2, shape)
    queue = generator.choice([0.001, 0.02, 0.2], (GOLDEN_VECTORS, 1)) * generator.uniform(0.5, 1.5, shape)
    loss = generator.choice([0.0, 0.0, 0.05], (GOLDEN_VECTORS, 1)) * generator.uniform(0.5, 1.5, shape)
    rate[-1, 0] = 0.0
    packets = np.ceil(rate * specification.interval_ms / 1000.0 / 9600.0)
    silence = np.where(packets > 0, 0.005, specification.interval_ms / 1000.0)
    known = {
        "interval_s": np.full(shape, specification.interval_ms / 1000.0),
        "receive_rate_bps": rate,
        "packets_received": packets,
        "bytes_received": rate * specification.interval_ms / 8000.0,
        "packets_lost": np.round(loss * packets),
        "loss_ratio": loss,
        "queueing_delay_mean_s": queue,
        "queueing_delay_min_s": 0.5 * queue,
        "queueing_delay_max_s": 2.0 * queue,
        "queueing_delay_p95_s": 1.8 * queue,
        "delay_gradient": generator.normal(0.0, 0.05, shape),
        "base_round_trip_time_s": np.full(shape, 0.05),
        "delay_ratio": 1.0 + queue / 0.05,
        "sending_ratio": 1.0 / (1.0 - loss),
        "time_since_last_packet_s": silence,
        "interarrival_time_mean_s": 1.0 / np.maximum(packets, 1.0) / 10.0,
        "jitter_s": 0.1 * queue,
        "video_share": np.ones(shape),
        "last_estimate_bps": rate.max(axis=1, keepdims=True) * generator.uniform(0.8, 1.2, shape),
    }
    records = np.stack([known.get(name, np.zeros(shape)) for name in specification.features], axis=2)
    presets = np.array(list(PRESETS.values()))
    objectives = presets[np.arange(GOLDEN_VECTORS) % len(presets)]
    return records.reshape(GOLDEN_VECTORS, -1).astype(np.float32), objectives.astype(np.float32)


def parity(model: onnx.ModelProto) -> float:
    """The largest difference between ONNX Runtime and the golden vectors, in units of the tolerance (at most 1 is
    good).
    """
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    onnxruntime.disable_telemetry_events()  # as the estimator does
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    worst = 0.0
    for golden in json.loads(metadata["weir.golden"]):
        inputs = {key: np.array([golden[key]], dtype=np.float32) for key in ("observation", "objective")}
        action = session.run(["action"], inputs)[0].reshape(-1)
        expected = np.array(golden["action"])
        worst = max(
            worst,
            float(np.max(np.abs(action - expected) / (RELATIVE_TOLERANCE * np.abs(expected) + ABSOLUTE_TOLERANCE))),
        )
    return worst


def check_in_library(model: bytes) -> bool:
    """Loads the model in the estimator's own library, which checks the golden vectors; False when it is not built.

    Raises:
        InputError: the library refuses the model.
    """
    if find_spec("weir._core") is None:
        return False
    from weir import _core

    try:
        _core.Policy(model)
    except ValueError as error:
        raise InputError(f"the library refuses the model: {error}") from None
    return True


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


def _floats(values: np.ndarray) -> list[float]:
    """float32 values as the shortest decimals that give them back."""
    return [float(np.format_float_positional(value, unique=True)) for value in values]
