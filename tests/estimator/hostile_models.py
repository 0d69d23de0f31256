"""Models of someone who wants to harm: bytes that parsers read differently, and graphs that need memory or time.

Each would be a valid model, or is one for ONNX Runtime, except for the fault in its name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# From a model without metadata, kind of action and further keys of the metadata to the file.
Finish = Callable[..., bytes]
# The graph whose action is what nodes make of the newest receive rate in Mbps.
Squashed = Callable[..., onnx.ModelProto]

GRAPH_FIELD = 7
WIRE_BYTES = 2


def varint(value: int, least_size: int = 1) -> bytes:
    """As protobuf writes it; padded with what adds nothing when it has to be longer."""
    out = bytearray()
    while value >= 0x80 or len(out) + 1 < least_size:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(number: int, content: bytes, tag: bytes | None = None) -> bytes:
    """A field of the wire type for bytes."""
    return (tag or varint(number << 3 | WIRE_BYTES)) + varint(len(content)) + content


def whole(model: onnx.ModelProto, graph: Callable[[bytes], bytes]) -> bytes:
    """The file, with the field for its graph written by `graph`."""
    rest = onnx.ModelProto()
    rest.CopyFrom(model)
    rest.ClearField("graph")
    return rest.SerializeToString() + graph(model.graph.SerializeToString())


def hostile_models(finish: Finish, squashed: Squashed) -> dict[str, bytes]:
    """Name to file."""
    return {
        **_read_differently(finish, squashed),
        **_with_operators(finish, squashed),
        **_too_large(finish, squashed),
    }


def _read_differently(finish: Finish, squashed: Squashed) -> dict[str, bytes]:
    good = onnx.load_from_string(finish(squashed(lambda x: [helper.make_node("Tanh", [x], ["action"])]), "log_rate"))
    loop = onnx.load_from_string(finish(loop_model(squashed), "log_rate"))
    tag = GRAPH_FIELD << 3 | WIRE_BYTES
    plain = good.SerializeToString()
    repeated = onnx.ModelProto()
    repeated.CopyFrom(good)
    repeated.metadata_props.append(onnx.StringStringEntryProto(key="weir.history", value="3"))
    text = onnx.ModelProto()
    text.CopyFrom(good)
    text.metadata_props.append(onnx.StringStringEntryProto(key="note", value="????"))
    note = text.SerializeToString()
    cut = onnx.load_from_string(finish(squashed(lambda x: [helper.make_node("Tanh", [x], ["action"])]), "x" + "é" * 33))
    return {
        "no_utf8": note.replace(b"????", b"\xed\xa0\x80?"),
        # The message shows 64 bytes of it.
        "cut_utf8": cut.SerializeToString(),
        # Two graphs are merged, and protobuf keeps the low 32 bits of a tag.
        "hidden_graph": whole(loop, lambda graph: field(GRAPH_FIELD, b"") + field(0, graph, varint(tag | 1 << 32))),
        "two_graphs": whole(loop, lambda graph: field(GRAPH_FIELD, b"") + field(GRAPH_FIELD, graph)),
        "long_tag": whole(good, lambda graph: field(0, graph, varint(tag, least_size=3))),
        "long_size": whole(good, lambda graph: varint(tag) + varint(len(graph), least_size=5) + graph),
        "group": plain + varint(99 << 3 | 3) + varint(99 << 3 | 4),
        "field_zero": plain + field(0, b"x"),
        "unknown_field": plain + field(99, b"x"),
        "wrong_wire_type": plain + varint(14 << 3) + varint(1),
        # The location is an int32 for protobuf, whatever is above: external.
        "hidden_location": _with_constant(good, lambda tensor: tensor + varint(14 << 3) + varint(1 | 1 << 32)),
        "metadata_twice": repeated.SerializeToString(),
        # Numbers, each of which is none: 32 bytes and a message for each.
        "metadata_of_commas": finish(
            squashed(lambda x: [helper.make_node("Tanh", [x], ["action"])]),
            "discrete",
            action_multipliers="," * 2_000_000,
        ),
    }


def _with_constant(model: onnx.ModelProto, change: Callable[[bytes], bytes]) -> bytes:
    """The file with the bytes of its first constant changed."""

    def graph(content: bytes) -> bytes:
        rest = onnx.GraphProto()
        rest.ParseFromString(content)
        first, others = rest.initializer[0], list(rest.initializer[1:])
        rest.ClearField("initializer")
        rest.initializer.extend(others)
        return field(GRAPH_FIELD, rest.SerializeToString() + field(5, change(first.SerializeToString())))

    return whole(model, graph)


def loop_model(squashed: Squashed) -> onnx.ModelProto:
    """Three rounds that do nothing."""
    scalar = partial(helper.make_tensor_value_info, shape=[])
    value = partial(helper.make_tensor_value_info, elem_type=TensorProto.FLOAT, shape=[1, 1])
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["keep_going"], ["condition"]),
            helper.make_node("Identity", ["before"], ["after"]),
        ],
        "body",
        [scalar("iteration", TensorProto.INT64), scalar("keep_going", TensorProto.BOOL), value("before")],
        [scalar("condition", TensorProto.BOOL), value("after")],
    )
    return squashed(
        lambda x: [helper.make_node("Loop", ["times", "", x], ["action"], body=body)], [integers("times", 3)]
    )


def integers(name: str, value: int | Sequence[int]) -> TensorProto:
    """An int64 constant."""
    return numpy_helper.from_array(np.asarray(value, np.int64), name)


def _with_operators(finish: Finish, squashed: Squashed) -> dict[str, bytes]:
    def branch(name: str) -> onnx.GraphProto:
        output = helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 1])
        return helper.make_graph([helper.make_node("Identity", ["megabits"], [name])], name, [], [output])

    def through(operator: str, inputs: Sequence[str], constants: Sequence[TensorProto]) -> bytes:
        """1 GB made of nothing, of which the largest element becomes the action."""
        model = squashed(
            lambda x: [
                helper.make_node(operator, inputs, ["large"]),
                helper.make_node("ReduceMax", ["large"], ["largest"], keepdims=1, axes=[0, 1]),
                helper.make_node("Mul", [x, "largest"], ["action"]),
            ],
            constants,
        )
        return finish(model, "log_rate", golden="[]")

    yes = numpy_helper.from_array(np.asarray(True), "yes")
    return {
        "loop": finish(loop_model(squashed), "rate_bps"),
        "if": finish(
            squashed(
                lambda x: [
                    helper.make_node("If", ["yes"], ["action"], then_branch=branch("then"), else_branch=branch("else"))
                ],
                [yes],
            ),
            "log_rate",
        ),
        "random": finish(
            squashed(lambda x: [helper.make_node("RandomNormalLike", [x], ["action"])]), "rate_bps", golden="[]"
        ),
        "constant_of_shape": through("ConstantOfShape", ["size"], [integers("size", [16384, 16384])]),
        "expand": through("Expand", ["megabits", "size"], [integers("size", [16384, 16384])]),
        "tile": through("Tile", ["megabits", "size"], [integers("size", [16384, 16384])]),
    }


def _too_large(finish: Finish, squashed: Squashed) -> dict[str, bytes]:
    def floats(name: str, *shape: int) -> TensorProto:
        return numpy_helper.from_array(np.full(shape, 0.5, np.float32), name)

    def of(
        nodes: Callable[[str], list[onnx.NodeProto]],
        constants: Sequence[TensorProto],
        declared: Sequence[onnx.ValueInfoProto] = (),
    ) -> bytes:
        model = squashed(nodes, constants)
        model.graph.value_info.extend(declared)
        return finish(model, "log_rate", golden="[]")

    def largest(tensor: str) -> list[onnx.NodeProto]:
        return [
            helper.make_node("ReduceMax", [tensor], ["largest"], keepdims=1),
            helper.make_node("Tanh", ["largest"], ["action"]),
        ]

    add = helper.make_node

    def column_with(node: onnx.NodeProto, constants: Sequence[TensorProto] = ()) -> bytes:
        """A node that takes the column "large" and gives "other", of the same shape or, for who reads its numbers
        otherwise, of another; and what is as large as both together.
        """
        return of(
            lambda x: [
                add("Mul", [x, "column"], ["large"]),
                node,
                add("Add", ["large", "other"], ["square"]),
                *largest("square"),
            ],
            [floats("column", 16384, 1), *constants],
        )

    unordered = onnx.load_from_string(
        of(lambda x: [add("Neg", [x], ["negative"]), add("Tanh", ["negative"], ["action"])], [])
    )
    unordered.graph.node.reverse()
    return {
        # 1 GB from two columns of 64 KB.
        "outer_product": of(
            lambda x: [
                add("Mul", [x, "column"], ["scaled"]),
                add("MatMul", ["scaled", "row"], ["large"]),
                *largest("large"),
            ],
            [floats("column", 16384, 1), floats("row", 1, 16384)],
        ),
        # The same by the rules for shapes that differ, in eight dimensions.
        "broadcast": of(
            lambda x: [
                add("Mul", [x, "c0"], ["m0"]),
                *(add("Add", [f"m{i}", f"c{i + 1}"], [f"m{i + 1}"]) for i in range(7)),
                *largest("m7"),
            ],
            [floats(f"c{i}", *(16 if j == i else 1 for j in range(8))) for i in range(8)],
        ),
        "many_tensors": of(
            lambda x: [
                add("Mul", [x, "block"], ["t0"]),
                *(add("Neg", [f"t{i}"], [f"t{i + 1}"]) for i in range(500)),
                *largest("t500"),
            ],
            [floats("block", 200, 1000)],
        ),
        "many_operations": of(
            lambda x: [
                add("Mul", [x, "block"], ["t0"]),
                *(add("MatMul", [f"t{i}", "block"], [f"t{i + 1}"]) for i in range(20)),
                *largest("t20"),
            ],
            [floats("block", 400, 400)],
        ),
        "declared_shape": of(
            lambda x: [add("Neg", [x], ["negative"]), add("Tanh", ["negative"], ["action"])],
            [],
            [helper.make_tensor_value_info("negative", TensorProto.FLOAT, [1, 100_000])],
        ),
        "computed_shape": of(
            lambda x: [
                add("Reshape", ["counts", "order"], ["shape"]),
                add("Reshape", [x, "shape"], ["flat"]),
                add("Tanh", ["flat"], ["action"]),
            ],
            [integers("counts", [1, 1]), integers("order", [2])],
        ),
        "unordered": unordered.SerializeToString(),
        # ONNX Runtime keeps dimensions where it is 1, and nowhere else: a row and a column make 1 GB.
        "flag": column_with(add("ReduceMax", ["large"], ["other"], axes=[1], keepdims=2)),
        "transposed": column_with(add("Gemm", ["large", "one"], ["other"], transA=2**32), [floats("one", 1, 1)]),
        "step": column_with(
            add("Slice", ["large", "start", "end", "start", "step"], ["other"]),
            [integers("start", [0]), integers("end", [2**63 - 1]), integers("step", [2**62])],
        ),
        # Some milliseconds each 10 ms; ONNX Runtime computes what has a Sigmoid.
        "costly": finish(
            squashed(
                lambda x: [
                    add("Mul", [x, "block"], ["t0"]),
                    *(add("Log", [f"t{i}"], [f"t{i + 1}"]) for i in range(15)),
                    *largest("t15")[:1],
                    add("Sigmoid", ["largest"], ["action"]),
                ],
                [floats("block", 200, 1000)],
            ),
            "log_rate",
            golden="[]",
            interval_ms="10",
        ),
    }
