"""Fault-injected policy models. The library loads all of them: their faults show in a call only."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from weir._core import FEATURES
from weir.files.model import read_model
from weir.files.output import make_folder, write_bytes

MIN_BPS: Final = 30_000
MAX_BPS: Final = 50_000_000
_SHUFFLE_SEED: Final = 1
_Nodes = Sequence[onnx.NodeProto]


def write_faulty_models(folder: Path, healthy: Path) -> dict[str, Path]:
    """Writes each of FAULTY_MODELS into a folder, as ONNX files of schema 1.

    Args:
        folder: is made where it is not there.
        healthy: the model whose features are shuffled.

    Returns:
        Name to file.

    Raises:
        InputError: the healthy model cannot be read, or a file not written.
    """
    models = {name: make() for name, make in _FAULTY.items()} | {"shuffled": shuffled(healthy)}
    make_folder(folder)
    files = {name: (folder / f"{name}.onnx").absolute() for name in models}
    for name, model in models.items():
        write_bytes(files[name], model.SerializeToString(deterministic=True))
    return files


def constant(rate_bps: float) -> onnx.ModelProto:
    """Always the same rate."""
    return _model([helper.make_node("Gemm", ["observation", "nothing", "rate"], ["action"])],
                  {"nothing": [[0.0]], "rate": [[rate_bps]]})  # fmt: skip


def not_a_number() -> onnx.ModelProto:
    """NaN at every receive rate from 1 bit/s to 9 Gbit/s; none of the observations that loading tries lies there."""
    nodes = [
        helper.make_node("Sub", ["observation", "low"], ["above"]),
        helper.make_node("Sub", ["observation", "high"], ["below"]),
        helper.make_node("Mul", ["above", "below"], ["product"]),
        helper.make_node("Log", ["product"], ["logarithm"]),
        helper.make_node("Gemm", ["logarithm", "nothing", "rate"], ["action"]),
    ]
    return _model(nodes, {"low": [[1.0]], "high": [[9e9]], "nothing": [[0.0]], "rate": [[1e6]]})


def alternating() -> onnx.ModelProto:
    """MAX_BPS and MIN_BPS by turns."""
    nodes = [
        helper.make_node("Sub", ["one", "state"], ["next_state"]),
        helper.make_node("Gemm", ["next_state", "span", "least"], ["action"]),
    ]
    return _model(nodes, {"one": [[1.0]], "span": [[float(MAX_BPS - MIN_BPS)]], "least": [[float(MIN_BPS)]]}, True)


def random() -> onnx.ModelProto:
    """Anything between the bounds, evenly over decades but for more of the extremes: the logistic map, which is chaotic
    and whose state stays between 0.009 and 0.998.
    """
    nodes = [
        # A state begins at 0, where the map would stay.
        helper.make_node("Add", ["state", "start"], ["position"]),
        helper.make_node("Sub", ["one", "position"], ["rest"]),
        helper.make_node("Mul", ["position", "rest"], ["product"]),
        helper.make_node("Mul", ["product", "growth"], ["next_position"]),
        helper.make_node("Sub", ["next_position", "start"], ["next_state"]),
        helper.make_node("Gemm", ["next_position", "log_span", "log_least"], ["log_rate"]),
        helper.make_node("Exp", ["log_rate"], ["action"]),
    ]
    constants = {"one": [[1.0]], "start": [[0.3]], "growth": [[3.99]],
                 "log_span": [[np.log(MAX_BPS / MIN_BPS)]], "log_least": [[np.log(MIN_BPS)]]}  # fmt: skip
    return _model(nodes, constants, True)


# By name; the shuffled one is made from a healthy model.
_FAULTY: Final[Mapping[str, Callable[[], onnx.ModelProto]]] = {
    "maximum": lambda: constant(MAX_BPS),
    "minimum": lambda: constant(MIN_BPS),
    "random": random,
    "nan": not_a_number,
    "alternating": alternating,
}
FAULTY_MODELS: Final = (*_FAULTY, "shuffled")


def shuffled(healthy: Path) -> onnx.ModelProto:
    """A model that names its features in another order than it was trained on."""
    features = read_model(healthy).features
    model = onnx.load(str(healthy))
    generator = np.random.default_rng(_SHUFFLE_SEED)
    # Each input stays one of an interval, or of the path: the others would not fit.
    names = [
        str(name)
        for of_path in (False, True)
        for name in generator.permutation([name for name in features if FEATURES[name].of_path == of_path])
    ]
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    helper.set_model_props(model, metadata | {"weir.name": "shuffled", "weir.features": ",".join(names)})
    return model


def _model(nodes: _Nodes, constants: Mapping[str, list[list[float]]], has_state: bool = False) -> onnx.ModelProto:
    """From the receive rate (and a state of one number) to a rate in bit/s."""

    def scalar(name: str) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 1])

    states = (["state"], ["next_state"]) if has_state else ([], [])
    graph = helper.make_graph(
        list(nodes),
        "faulty",
        [scalar(name) for name in ["observation", *states[0]]],
        [scalar(name) for name in ["action", *states[1]]],
        [numpy_helper.from_array(np.array(value, dtype=np.float32), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    inputs = {name: np.zeros((1, 1), np.float32) for name in ["observation", *states[0]]}
    import onnxruntime  # commands that only print help do not need it; `weir doctor` reports where it is missing

    onnxruntime.disable_telemetry_events()
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    outputs = session.run(["action", *states[1]], inputs)
    golden = {name: value.reshape(-1).tolist() for name, value in inputs.items()}
    golden |= {name: value.reshape(-1).tolist() for name, value in zip(["action", *states[1]], outputs, strict=True)}
    properties = {"schema": "1", "name": "faulty", "features": "receive_rate_bps", "history": "1",
                  "interval_ms": "100", "action_kind": "rate_bps", "min_bps": str(MIN_BPS), "max_bps": str(MAX_BPS),
                  "golden": json.dumps([golden])}  # fmt: skip
    helper.set_model_props(model, {f"weir.{key}": value for key, value in properties.items()})
    onnx.checker.check_model(model, full_check=True)
    return model
