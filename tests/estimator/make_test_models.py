"""Writes the small ONNX models of the estimator's tests: one good model per kind, and one per way to be refused.

Usage: make_test_models.py FOLDER. Run by CMake; no model is kept in the repository as a binary.
Every good model takes the features FEATURES with a history of HISTORY, newest interval first.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx
import onnx.shape_inference
import onnxruntime
from benchmark_models import benchmark_models
from hostile_models import hostile_models
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tree_models import OPSETS, Grown, good_trees, refused_trees, tree_node

FEATURES = ("receive_rate_bps", "loss_ratio", "queueing_delay_mean_s")
HISTORY = 2
OBSERVATION = len(FEATURES) * HISTORY
INT64_MAX = 2**63 - 1
MULTIPLIERS = (0.5, 0.9, 1.0, 1.1)

Array = NDArray[np.float32]


def constant(name: str, value: Sequence[float] | Array) -> TensorProto:
    return numpy_helper.from_array(np.asarray(value, dtype=np.float32), name)


def floats(name: str, *shape: int | str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape))


def build(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
    constants: Sequence[TensorProto] = (),
    opsets: Sequence[tuple[str, int]] = (("", 17),),
) -> onnx.ModelProto:
    graph = helper.make_graph(list(nodes), "policy", list(inputs), list(outputs), list(constants))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(*opset) for opset in opsets], ir_version=9)


def metadata(kind: str, **changes: str | None) -> dict[str, str]:
    """The weir.* keys of a good model of that kind of action; a change to None removes the key."""
    keys: dict[str, str | None] = {
        "schema": "1",
        "name": f"test-{kind}",
        "version": "7",
        "features": ",".join(FEATURES),
        "history": str(HISTORY),
        "interval_ms": "100",
        "action_kind": kind,
        "min_bps": "30000",
        "max_bps": "50000000",
        "provenance": "tests/estimator/make_test_models.py",
    }
    if kind == "relative":
        keys["action_alpha"] = "0.025"
    if kind == "discrete":
        keys["action_multipliers"] = ",".join(str(m) for m in MULTIPLIERS)
    keys.update(changes)
    return {f"weir.{key}": value for key, value in keys.items() if value is not None}


def golden(model: onnx.ModelProto, error: float = 0.0) -> str:
    """Runs the model on two inputs. `error` is added to each action, to make vectors that do not fit."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    shapes = {i.name: i.shape for i in session.get_inputs()}
    generator = np.random.default_rng(1)
    vectors = []
    for _ in range(2):
        observation = generator.uniform(0.1, 1.0, shapes["observation"][1])
        vector: dict[str, list[float]] = {"observation": observation.astype(np.float32).tolist()}
        if "objective" in shapes:
            vector["objective"] = [0.4, 0.5, 0.1]
        if "state" in shapes:
            vector["state"] = generator.uniform(-1, 1, shapes["state"][1]).astype(np.float32).tolist()
        outputs = session.run(["action"], {name: np.asarray([value], np.float32) for name, value in vector.items()})
        vector["action"] = [float(a) + error for a in outputs[0][0]]
        vectors.append(vector)
    return json.dumps(vectors)


def finish(model: onnx.ModelProto, kind: str, golden_error: float = 0.0, **changes: str | None) -> bytes:
    if "golden" not in changes:
        changes["golden"] = golden(model, golden_error)
    helper.set_model_props(model, metadata(kind, **changes))
    onnx.checker.check_model(model)
    return model.SerializeToString()


def linear(actions: int = 1, scale: float = 1.0, observation: onnx.ValueInfoProto | None = None) -> onnx.ModelProto:
    """action[i] = scale (receive_rate of the newest interval + 1000 w_throughput), minus i."""
    weights = np.zeros((OBSERVATION, actions), np.float32)
    weights[0, :] = scale
    return build(
        [
            helper.make_node("Gemm", ["observation", "weights", "rank"], ["rate"]),
            helper.make_node("Gemm", ["objective", "preference", "rate"], ["action"]),
        ],
        [observation or floats("observation", 1, OBSERVATION), floats("objective", 1, 3)],
        [floats("action", 1, actions)],
        [
            constant("weights", weights),
            constant("preference", np.repeat([[1000.0 * scale], [0.0], [0.0]], actions, axis=1)),
            constant("rank", -np.arange(actions, dtype=np.float32)),
        ],
    )


def squashed(nodes: Callable[[str], list[onnx.NodeProto]], constants: Sequence[TensorProto] = ()) -> onnx.ModelProto:
    """A model without objective whose action is `nodes` applied to the newest receive rate in Mbps."""
    return build(
        [
            helper.make_node("Gemm", ["observation", "pick", "nothing"], ["megabits"]),
            *nodes("megabits"),
        ],
        [floats("observation", 1, OBSERVATION)],
        [floats("action", 1, 1)],
        [
            constant("pick", [[1e-6 if i == 0 else 0.0] for i in range(OBSERVATION)]),
            constant("nothing", [0.0]),
            *constants,
        ],
    )


def steering() -> onnx.ModelProto:
    """action = 1.05 receive rate + 20 kbps, less 3 Mbps for each second of queueing delay and 0.5 Mbps times loss, all
    of the newest interval; without objective.
    """
    newest = (1.05, -5e5, -3e6)
    weights = [[weight] for weight in newest + (0.0,) * (OBSERVATION - len(newest))]
    return build(
        [helper.make_node("Gemm", ["observation", "weights", "more"], ["action"])],
        [floats("observation", 1, OBSERVATION)],
        [floats("action", 1, 1)],
        [constant("weights", weights), constant("more", [20e3])],
    )


def recurrent(with_next_state: bool = True) -> onnx.ModelProto:
    """next_state = (receive rate in Mbps, number of decisions so far); action = 1 + decisions so far, in Mbps."""
    weights = np.zeros((OBSERVATION, 2), np.float32)
    weights[0, 0] = 1e-6
    outputs = [floats("action", 1, 1), floats("next_state", 1, 2)]
    return build(
        [
            helper.make_node("Gemm", ["observation", "weights", "tick"], ["seen"]),
            helper.make_node("Mul", ["state", "keep"], ["kept"]),
            helper.make_node("Add", ["seen", "kept"], ["next_state"]),
            helper.make_node("Gemm", ["next_state", "count", "nothing"], ["action"]),
        ],
        [floats("observation", "batch", OBSERVATION), floats("state", "batch", 2)],
        outputs if with_next_state else outputs[:1],
        [
            constant("weights", weights),
            constant("keep", [[0.0, 1.0]]),
            constant("tick", [0.0, 1.0]),
            constant("count", [[0.0], [1e6]]),
            constant("nothing", [0.0]),
        ],
    )


def with_another_output() -> onnx.ModelProto:
    """action = twice the newest receive rate, and an output that the contract does not have."""
    model = squashed(lambda x: [helper.make_node("Mul", [x, "twice"], ["action"])], [constant("twice", [2e6])])
    model.graph.node.append(helper.make_node("Identity", ["megabits"], ["another"]))
    model.graph.output.append(floats("another", 1, 1))
    return model


def tanh_of_joined() -> onnx.ModelProto:
    """action = the mean tangent of the observation in Mbps and 300 zeros, which are joined before."""
    size = OBSERVATION + 300
    return build(
        [
            helper.make_node("Mul", ["observation", "scale"], ["scaled"]),
            helper.make_node("Concat", ["scaled", "zeros"], ["joined"], axis=1),
            helper.make_node("Tanh", ["joined"], ["tangents"]),
            helper.make_node("Gemm", ["tangents", "mean", "nothing"], ["action"]),
        ],
        [floats("observation", 1, OBSERVATION)],
        [floats("action", 1, 1)],
        [
            constant("scale", [1e-6]),
            constant("zeros", np.zeros((1, 300), np.float32)),
            constant("mean", np.full((size, 1), 1 / size)),
            constant("nothing", [0.0]),
        ],
    )


def network(features: Sequence[str], history: int, preference: int) -> bytes:
    """The size of MOCC's actor: 64-32 units, beside them a preference sub-network of `preference` units where that is
    not 0; seeded random weights, log_rate.
    """
    size = len(features) * history
    wish = preference or 3
    generator = np.random.default_rng(3)

    def weights(name: str, rows: int, columns: int) -> TensorProto:
        return constant(name, generator.normal(0, rows**-0.5, (rows, columns)).astype(np.float32))

    model = build(
        [
            helper.make_node("Add", ["observation", "one"], ["shifted"]),
            helper.make_node("Max", ["shifted", "tiny"], ["above_zero"]),
            helper.make_node("Log", ["above_zero"], ["scaled"]),
            *(
                [
                    helper.make_node("Gemm", ["objective", "wp", "bp"], ["p0"]),
                    helper.make_node("Tanh", ["p0"], ["p1"]),
                ]
                if preference
                else []
            ),
            helper.make_node("Concat", ["scaled", "p1" if preference else "objective"], ["joined"], axis=1),
            helper.make_node("Gemm", ["joined", "w1", "b1"], ["h0"]),
            helper.make_node("Tanh", ["h0"], ["h1"]),
            helper.make_node("Gemm", ["h1", "w2", "b2"], ["h2"]),
            helper.make_node("Tanh", ["h2"], ["h3"]),
            helper.make_node("Gemm", ["h3", "w3", "b3"], ["h4"]),
            helper.make_node("Tanh", ["h4"], ["action"]),
        ],
        [floats("observation", 1, size), floats("objective", 1, 3)],
        [floats("action", 1, 1)],
        [
            constant("one", [1.0]),
            constant("tiny", [1e-6]),
            *([weights("wp", 3, wish), constant("bp", np.zeros(wish, np.float32))] if preference else []),
            weights("w1", size + wish, 64),
            constant("b1", np.zeros(64, np.float32)),
            weights("w2", 64, 32),
            constant("b2", np.zeros(32, np.float32)),
            weights("w3", 32, 1),
            constant("b3", np.zeros(1, np.float32)),
        ],
    )
    return finish(model, "log_rate", features=",".join(features), history=str(history), name="mocc-sized")


def every_operator(opset: int) -> bytes:
    """All operators that are allowed, in several ways each; every tensor declared with the shape onnx infers for it."""
    nodes: list[onnx.NodeProto] = []
    constants = [constant("pick", [[1e-6 if i == 0 else 0.0] for i in range(OBSERVATION)])]

    def number(*shape: int) -> str:
        values = np.random.default_rng(len(constants)).uniform(0.1, 0.5, shape)
        constants.append(constant(f"number_{len(constants)}", values.astype(np.float32)))
        return constants[-1].name

    def integers(*values: int) -> str:
        constants.append(numpy_helper.from_array(np.asarray(values, np.int64), f"integers_{len(constants)}"))
        return constants[-1].name

    def node(operator: str, *inputs: str, **attributes: float | Sequence[int]) -> str:
        output = f"{operator}_{len(nodes)}"
        nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def with_axes(operator: str, since: int, value: str, axes: Sequence[int], **attributes: int) -> str:
        if opset >= since:
            return node(operator, value, integers(*axes), **attributes)
        return node(operator, value, axes=axes, **attributes)

    x = node("Tanh", node("MatMul", "observation", "pick"))
    for operator in ("Abs", "Sigmoid", "Exp", "Log", "Neg", "Relu", "Sqrt", "Identity"):
        x = node(operator, x)
    grown = Grown()
    grown.split(0, 0.5, lambda: grown.leaf(0.25), lambda: grown.leaf(0.5))
    nodes.append(tree_node(x, "answer", grown.attributes()))
    x = node("Sum", x, "answer", number(3, 1, 5), number(4, 1))
    for operator, other in (("Add", (5,)), ("Sub", ()), ("Mul", (2, 1, 1, 1)), ("Div", (1, 4, 5))):
        x = node(operator, x, number(*other))
    x = node("Max", node("Min", x, number(2, 1, 1, 5), number()), number())
    x = node("Clip", x, "", number())
    x = node("Concat", x, number(2, 3, 4, 2), axis=-1)  # (2, 3, 4, 7)
    x = node("MatMul", x, number(3, 7, 6))
    x = node("Slice", x, integers(-2, 0), integers(INT64_MAX, -1), integers(1, -1), integers(1, 2))  # (2, 2, 4, 3)
    x = node("Slice", x, integers(1), integers(2))
    x = with_axes("ReduceMax", 18, x, [1, -1])
    x = with_axes("ReduceMin", 18, x, [0], keepdims=0)  # (1, 4, 1)
    x = with_axes("Unsqueeze", 13, x, [-1, 0])
    x = node("Reshape", x, integers(0, -1, 2))
    x = node("Reshape", x, integers(1, 4))
    x = node("Gemm", x, number(6, 4), number(6), transB=1, alpha=0.5)
    x = node("Gemm", number(1, 3), x, number(3, 1), transA=1, beta=2.0)  # (3, 6)
    x = node("Reshape", node("ReduceMax", x, keepdims=0), integers(1, 1))
    nodes[-1].output[0] = "action"
    inputs, outputs = [floats("observation", 1, OBSERVATION)], [floats("action", 1, 1)]
    model = build(nodes, inputs, outputs, constants, opsets=[("", opset), *OPSETS[1:]])
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    assert len(inferred.graph.value_info) == len(nodes) - 1
    return finish(inferred, "log_rate")


def good_models() -> dict[str, bytes]:
    tanh = squashed(lambda x: [helper.make_node("Tanh", [x], ["action"])])
    # NaN while the rate is between 1 and 2 Mbps: invisible to the checks at load.
    between = squashed(
        lambda x: [
            helper.make_node("Add", [x, "one"], ["low"]),
            helper.make_node("Add", [x, "two"], ["high"]),
            helper.make_node("Mul", ["low", "high"], ["product"]),
            helper.make_node("Log", ["product"], ["logarithm"]),
            helper.make_node("Mul", ["logarithm", "million"], ["action"]),
        ],
        [constant("one", [-1.0]), constant("two", [-2.0]), constant("million", [1e6])],
    )
    benchmark_features = (
        "receive_rate_bps",
        "loss_ratio",
        "queueing_delay_mean_s",
        "queueing_delay_min_s",
        "queueing_delay_p95_s",
        "delay_gradient",
        "interarrival_time_mean_s",
        "time_since_last_packet_s",
        "application_limited",
        "last_estimate_bps",
    )
    return {
        "rate_bps": finish(linear(), "rate_bps"),
        "log_rate": finish(tanh, "log_rate"),
        "steering": finish(steering(), "rate_bps"),
        "relative": finish(
            squashed(lambda x: [helper.make_node("Mul", [x, "minus"], ["action"])], [constant("minus", [-1.0])]),
            "relative",
        ),
        "discrete": finish(linear(actions=len(MULTIPLIERS)), "discrete"),
        "recurrent": finish(recurrent(), "rate_bps"),
        "nan_between_1_and_2_mbps": finish(between, "rate_bps"),
        "tanh_of_joined": finish(tanh_of_joined(), "log_rate"),
        "with_retransmission_share": finish(
            linear(), "rate_bps", features="receive_rate_bps,loss_ratio,retransmission_share"
        ),
        # MOCC's state, section 4.1.
        "mocc_state": finish(
            squashed(lambda x: [helper.make_node("Tanh", [x], ["action"])]),
            "relative",
            features="sending_ratio,delay_ratio,delay_gradient",
        ),
        "mocc_sized": network(benchmark_features, 8, preference=16),
        "without_preference": network(benchmark_features, 8, preference=0),
        # 1 where the newest receive rate is 1 Mbps, by way of 2^-140.
        "subnormal": finish(
            squashed(
                lambda x: [
                    helper.make_node("Mul", [x, "small"], ["smaller"]),
                    helper.make_node("Mul", ["smaller", "small"], ["subnormal"]),
                    helper.make_node("Mul", ["subnormal", "large"], ["normal"]),
                    helper.make_node("Mul", ["normal", "large"], ["action"]),
                ],
                [constant("small", [2.0**-70]), constant("large", [2.0**70])],
            ),
            "log_rate",
            golden='[{"observation": [0, 0, 0, 0, 0, 0], "action": [0]}]',
        ),
        # Uses operators that `weir export` does not write.
        "foreign_operator": finish(squashed(lambda x: [helper.make_node("Abs", [x], ["action"])]), "log_rate"),
        **good_trees(finish, OBSERVATION),
        **benchmark_models(finish),
        **{f"every_operator_{opset}": every_operator(opset) for opset in (11, 13, 18, 21)},
    }


def external_data_model(folder: Path) -> bytes:
    path = folder / "external_data.onnx"
    model = linear()
    helper.set_model_props(model, metadata("rate_bps", golden=golden(model)))
    onnx.save(model, path, save_as_external_data=True, location="external_data.weights", size_threshold=0)
    return path.read_bytes()


def refused_models(folder: Path) -> dict[str, bytes]:
    wrong_input = linear()
    wrong_input.graph.input[0].name = wrong_input.graph.node[0].input[0] = "pixels"
    foreign = build(
        [helper.make_node("Relu", ["image"], ["classes"])],
        [floats("image", 1, 3, 8, 8)],
        [floats("classes", 1, 3, 8, 8)],
    )
    double = build(
        [helper.make_node("Cast", ["observation"], ["action"], to=TensorProto.FLOAT)],
        [helper.make_tensor_value_info("observation", TensorProto.DOUBLE, [1, OBSERVATION])],
        [floats("action", 1, OBSERVATION)],
    )
    custom = squashed(lambda x: [helper.make_node("Gelu", [x], ["action"], domain="com.microsoft")])
    custom.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    with_node = linear()
    weights = with_node.graph.initializer.pop(0)
    with_node.graph.node.insert(0, helper.make_node("Constant", [], [weights.name], value=weights))
    good = finish(linear(), "rate_bps")
    return {
        "empty": b"",
        "text": b"version https://example.invalid/pointer\n",
        "truncated": good[: len(good) // 2],
        "foreign": foreign.SerializeToString(),
        "missing_schema": finish(linear(), "rate_bps", schema=None),
        "newer_schema": finish(linear(), "rate_bps", schema="2"),
        "unknown_feature": finish(linear(), "rate_bps", features="receive_rate_bps,moon_phase,loss_ratio"),
        "repeated_feature": finish(linear(), "rate_bps", features="loss_ratio,receive_rate_bps,loss_ratio"),
        "wrong_history": finish(linear(), "rate_bps", history="3"),
        "huge_history": finish(linear(), "rate_bps", history="100000"),
        "bad_interval": finish(linear(), "rate_bps", interval_ms="fast"),
        "missing_action_kind": finish(linear(), "rate_bps", action_kind=None),
        "unknown_action_kind": finish(linear(), "rate_bps", action_kind="telepathy"),
        "missing_multipliers": finish(linear(actions=4), "discrete", action_multipliers=None),
        "multipliers_do_not_fit": finish(linear(actions=3), "discrete"),
        "bounds_reversed": finish(linear(), "rate_bps", min_bps="2000", max_bps="1000"),
        "wrong_input": finish(wrong_input, "rate_bps", golden="[]"),
        "wrong_dtype": finish(double, "rate_bps", golden="[]"),
        "another_output": finish(with_another_output(), "rate_bps", golden="[]"),
        "no_next_state": finish(recurrent(with_next_state=False), "rate_bps"),
        "golden_mismatch": finish(linear(), "rate_bps", golden_error=10.0),
        "golden_missing": finish(linear(), "rate_bps", golden=None),
        "golden_broken": finish(linear(), "rate_bps", golden='[{"observation":[1,2'),
        "golden_wrong_size": finish(linear(), "rate_bps", golden='[{"observation":[1],"action":[1]}]'),
        "nan_on_zeros": finish(squashed(lambda x: [helper.make_node("Log", [x], ["action"])]), "rate_bps"),
        "infinite_on_saturation": finish(squashed(lambda x: [helper.make_node("Exp", [x], ["action"])]), "rate_bps"),
        "external_data": external_data_model(folder),
        "custom_domain": finish(custom, "rate_bps", golden="[]"),
        "constant_node": finish(with_node, "rate_bps"),
        **hostile_models(finish, squashed),
        **refused_trees(finish, OBSERVATION),
    }


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: make_test_models.py FOLDER", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (good_models() | refused_models(folder)).items():
        (folder / f"{name}.onnx").write_bytes(content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
