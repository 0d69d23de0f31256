"""Fault-injected policy models. The library loads all of them: their faults appear only in a call."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from weir import FEATURES
from weir_cli.files.output import make_folder, write_bytes
from weir_eval.model_file import read_model

MIN_BPS: Final = 30_000
MAX_BPS: Final = 50_000_000
_SHUFFLE_SEED: Final = 1
_Graph = tuple[Sequence[onnx.NodeProto], Mapping[str, float]]
"""Nodes and constants of a model, which has a state if a node outputs `next_state`."""


def _node(output: str, operator: str, *inputs: str) -> onnx.NodeProto:
    return helper.make_node(operator, inputs, [output])


def _constant(rate_bps: float) -> _Graph:
    return [_node("action", "Gemm", "observation", "nothing", "rate")], {"nothing": 0.0, "rate": rate_bps}


_GRAPHS: Final[Mapping[str, _Graph]] = {
    "maximum": _constant(MAX_BPS),
    "minimum": _constant(MIN_BPS),
    # Chaotic rates between the bounds, uniform over decades except for more extremes: the logistic map, which stays
    # between 0.009 and 0.998. The state has an offset, as it begins at 0, a fixed point of the map.
    "random": (
        [
            _node("position", "Add", "state", "start"),
            _node("rest", "Sub", "one", "position"),
            _node("product", "Mul", "position", "rest"),
            _node("next_position", "Mul", "product", "growth"),
            _node("next_state", "Sub", "next_position", "start"),
            _node("log_rate", "Gemm", "next_position", "log_span", "log_least"),
            _node("action", "Exp", "log_rate"),
        ],
        {"one": 1.0, "start": 0.3, "growth": 3.99, "log_span": math.log(MAX_BPS / MIN_BPS),
         "log_least": math.log(MIN_BPS)},
    ),
    # NaN at every receive rate from 1 bit/s to 9 Gbit/s, a range that the checks at loading do not cover.
    "nan": (
        [
            _node("above", "Sub", "observation", "low"),
            _node("below", "Sub", "observation", "high"),
            _node("product", "Mul", "above", "below"),
            _node("logarithm", "Log", "product"),
            _node("action", "Gemm", "logarithm", "nothing", "rate"),
        ],
        {"low": 1.0, "high": 9e9, "nothing": 0.0, "rate": 1e6},
    ),
    # Alternates between the bounds.
    "alternating": (
        [_node("next_state", "Sub", "one", "state"), _node("action", "Gemm", "next_state", "span", "least")],
        {"one": 1.0, "span": MAX_BPS - MIN_BPS, "least": MIN_BPS},
    ),
}  # fmt: skip
FAULTY_MODELS: Final = (*_GRAPHS, "shuffled")


def write_faulty_models(folder: Path, healthy: Path) -> dict[str, Path]:
    """Writes all FAULTY_MODELS to a folder, as ONNX files of schema 1.

    Args:
        folder: created if it does not exist.
        healthy: the model whose features are shuffled.

    Returns:
        The files by name.

    Raises:
        InputError: the healthy model cannot be read, or a file cannot be written.
    """
    models = {name: _model(*graph) for name, graph in _GRAPHS.items()} | {"shuffled": _shuffled(healthy)}
    make_folder(folder)
    files = {name: (folder / f"{name}.onnx").absolute() for name in models}
    for name, model in models.items():
        write_bytes(files[name], model.SerializeToString(deterministic=True))
    return files


def _shuffled(healthy: Path) -> onnx.ModelProto:
    """A model whose metadata name its features in another order than in training."""
    features = read_model(healthy).features
    model = onnx.load(str(healthy))
    generator = np.random.default_rng(_SHUFFLE_SEED)
    # Shuffle features of an interval and of the path separately: they do not fit each other's inputs.
    names = [
        str(name)
        for of_path in (False, True)
        for name in generator.permutation([name for name in features if FEATURES[name].of_path == of_path])
    ]
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    helper.set_model_props(model, metadata | {"weir.name": "shuffled", "weir.features": ",".join(names)})
    return model


def _model(nodes: Sequence[onnx.NodeProto], constants: Mapping[str, float]) -> onnx.ModelProto:
    """A model that maps the receive rate (and a state of one number) to a rate in bit/s."""
    has_state = any("next_state" in node.output for node in nodes)
    inputs = ["observation", *["state"] * has_state]
    outputs = ["action", *["next_state"] * has_state]

    def scalars(names: Sequence[str]) -> list[onnx.ValueInfoProto]:
        return [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 1]) for name in names]

    values = [numpy_helper.from_array(np.array([[value]], np.float32), name) for name, value in constants.items()]
    graph = helper.make_graph(list(nodes), "faulty", scalars(inputs), scalars(outputs), values)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    import onnxruntime  # commands that only print help do not need it; `weir doctor` reports where it is missing

    onnxruntime.disable_telemetry_events()
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    answers = session.run(outputs, {name: np.zeros((1, 1), np.float32) for name in inputs})
    golden = {name: [0.0] for name in inputs}
    golden |= {name: value.reshape(-1).tolist() for name, value in zip(outputs, answers, strict=True)}
    properties = {"schema": "1", "name": "faulty", "features": "receive_rate_bps", "history": "1",
                  "interval_ms": "100", "action_kind": "rate_bps", "min_bps": str(MIN_BPS), "max_bps": str(MAX_BPS),
                  "golden": json.dumps([golden])}  # fmt: skip
    helper.set_model_props(model, {f"weir.{key}": value for key, value in properties.items()})
    onnx.checker.check_model(model, full_check=True)
    return model
