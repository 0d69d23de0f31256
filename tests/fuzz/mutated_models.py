"""Damages models in every way there is and loads them: each must be refused with a message or be bounded.

Usage: mutated_models.py COUNT [--seed SEED] [--folder FOLDER]. FOLDER gets the model that is being loaded, so that one
that ends this process is still there. What the loader takes, protobuf must read in the same way: ONNX's own operators
without subgraphs, no weights in other files.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError, Message
from onnx import TensorProto, defs, helper, numpy_helper

from weir import _core

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "estimator" / "models" / "weir.onnx"

# Processor time.
LONGEST_LOAD_S = 0.5
# Growth of the whole process.
MOST_GROWTH_BYTES = 400 << 20
INTERESTING = (0, 1, 2, -1, 3, 127, 128, 255, 2**16, 2**31 - 1, 2**31, 2**32, 2**32 + 1, 2**40, 2**63 - 1, -(2**63))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    given = parser.parse_args(arguments)
    print(load_mutants(sound_models(), given.count, given.seed, given.folder))
    return 0


def sound_models() -> list[bytes]:
    """The models that are damaged: the shipped one, and one with every operator."""
    # Written by the build, see tests/CMakeLists.txt.
    written = ROOT / "build" / "release" / "tests" / "models"
    names = ("recurrent", "discrete", "tree", "every_operator_11", "every_operator_21")
    return [SHIPPED.read_bytes(), *((written / f"{name}.onnx").read_bytes() for name in names)]


def load_mutants(models: Sequence[bytes], count: int, seed: int, folder: Path) -> str:
    """Loads `count` damaged models, and returns what became of them in one line.

    Raises:
        AssertionError: a promise of the loader does not hold; the model is `mutant.onnx` in `folder`.
    """
    chance = random.Random(seed)
    kept = folder / "mutant.onnx"
    for model in models:
        _core.Policy(model)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcomes: Counter[str] = Counter()
    slowest_s = 0.0
    for index in range(count):
        mutant = mutate(chance, chance.choice(models))
        kept.write_bytes(mutant)
        start_s = time.process_time()
        refusal = refusal_of(mutant)
        slowest_s = max(slowest_s, time.process_time() - start_s)
        assert slowest_s < LONGEST_LOAD_S, f"{kept} ({index}) took {slowest_s:.1f} s"
        assert refusal is None or refusal.startswith("the model cannot be used: "), f"{kept} ({index}): {refusal}"
        if refusal is None:
            outcomes["loaded"] += 1
            assert_read_the_same(mutant)
        else:
            outcomes["refused by ONNX Runtime" if "ONNX Runtime refuses" in refusal else "refused"] += 1
    growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert growth < MOST_GROWTH_BYTES, f"memory grew by {growth >> 20} MiB"
    told = ", ".join(f"{number} {outcome}" for outcome, number in sorted(outcomes.items()))
    return f"{count} models: {told}; the slowest took {slowest_s * 1e3:.0f} ms; memory grew by {growth >> 20} MiB"


def refusal_of(content: bytes) -> str | None:
    """Why the loader refuses a model; None when it takes it, and one decision has been made."""
    try:
        policy = _core.Policy(content)
    except ValueError as error:
        return str(error)
    with suppress(ValueError):  # an output that is not finite
        policy.run([1.0] * policy.description["observation_size"])
    return None


def assert_read_the_same(content: bytes) -> None:
    """Protobuf sees nothing in a model that was taken which should have been refused."""
    model = onnx.load_from_string(content)
    assert not model.functions
    assert not model.training_info
    assert not model.graph.sparse_initializer
    for node in model.graph.node:
        assert node.domain in ("", "ai.onnx", "ai.onnx.ml")
        assert all(attribute.type in (1, 2, 3, 6, 7, 8) for attribute in node.attribute), node
    for tensor in model.graph.initializer:
        assert tensor.data_location == TensorProto.DEFAULT
        assert not tensor.external_data


def mutate(chance: random.Random, model: bytes) -> bytes:
    """One to three changes: of bytes, of fields of the wire format, of what the messages mean."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        try:
            model = chance.choice((_change_bytes, _change_fields, _change_meaning))(chance, model)
        except (DecodeError, ValueError, TypeError, IndexError):  # it is no model any more
            model = _change_bytes(chance, model)
    return model


def _change_bytes(chance: random.Random, model: bytes) -> bytes:
    content = bytearray(model)
    place = chance.randrange(len(content) or 1)
    match chance.randrange(5):
        case 0:
            content[place : place + 1] = bytes([chance.randrange(256)])
        case 1:
            content[place : place + 1] = b""
        case 2:
            content[place:place] = bytes([chance.randrange(256)])
        case 3:
            del content[place:]
        case 4:
            end = place + chance.randrange(64)
            content[place:place] = content[place:end]
    return bytes(content)


def _varint(value: int, least_size: int = 1) -> bytes:
    out = bytearray()
    value &= 2**64 - 1
    while value >= 0x80 or len(out) + 1 < least_size:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _fields(message: bytes) -> list[tuple[int, int, bytes]]:
    """Number, wire type and content of each field; ValueError when it is no message."""
    position, fields = 0, []

    def varint() -> int:
        nonlocal position
        value = 0
        for shift in range(0, 70, 7):
            if position >= len(message):
                break
            byte = message[position]
            position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise ValueError("no varint")

    while position < len(message):
        tag = varint()
        number, wire_type = tag >> 3, tag & 7
        start = position
        if wire_type == 0:
            varint()
        elif wire_type == 2:
            size = varint()
            start = position
            position += size
        else:
            position += {1: 8, 5: 4}.get(wire_type, len(message))
        if number == 0 or position > len(message):
            raise ValueError("no message")
        fields.append((number, wire_type, message[start:position]))
    return fields


def _change_fields(chance: random.Random, message: bytes) -> bytes:
    """One field of this message, or of one inside it, becomes what no writer writes."""
    fields = _fields(message)
    if not fields:
        raise ValueError("nothing to change")
    index = chance.randrange(len(fields))
    number, wire_type, content = fields[index]
    if wire_type == 2 and chance.random() < 0.75:
        try:
            content = _change_fields(chance, content)
            fields[index] = (number, wire_type, content)
            return b"".join(_written(*field) for field in fields)
        except ValueError:
            pass
    written = [_written(*field) for field in fields]
    match chance.randrange(7):
        case 0:
            written[index] = _written(number, 0, _varint(chance.choice(INTERESTING)))
        case 1:
            written.insert(chance.randrange(len(written) + 1), written[index])
        case 2:
            del written[index]
        case 3:
            chance.shuffle(written)
        case 4:
            written[index] = _written(number, wire_type, content, tag_above=chance.choice((1 << 32, 1 << 35, 1 << 60)))
        case 5:
            written[index] = _written(number, wire_type, content, least_size=chance.randint(2, 10))
        case 6:
            written[index] = _written(chance.choice((number + 1, 99, 2**29 - 1)), chance.randrange(8), content)
    return b"".join(written)


def _written(number: int, wire_type: int, content: bytes, tag_above: int = 0, least_size: int = 1) -> bytes:
    size = _varint(len(content), least_size) if wire_type == 2 else b""
    return _varint(number << 3 | wire_type | tag_above, least_size) + size + content


def _change_meaning(chance: random.Random, content: bytes) -> bytes:
    """A message that any parser reads, of a graph that means something else."""
    model = onnx.load_from_string(content)
    graph = model.graph
    if not graph.node or not graph.initializer:
        raise ValueError("nothing to change")
    node, tensor = chance.choice(graph.node), chance.choice(graph.initializer)
    names = [name for one in graph.node for name in (*one.input, *one.output)] + [one.name for one in graph.initializer]
    change: Callable[[], object] = chance.choice(
        (
            lambda: setattr(node, "op_type", chance.choice(_OPERATORS)),
            lambda: setattr(node, "op_type", chance.choice(graph.node).op_type),
            lambda: setattr(node, "domain", chance.choice(("ai.onnx", "ai.onnx.ml", "com.microsoft", "x"))),
            lambda: _set_any(chance, node.input, chance.choice([*names, ""])),
            lambda: _set_any(chance, node.output, chance.choice(names)),
            lambda: node.input.append(chance.choice(names)),
            lambda: node.attribute.append(
                helper.make_attribute(chance.choice(("axis", "axes", "alpha", "transA", "to")), _value(chance))
            ),
            lambda: _change_attribute(chance, chance.choice(node.attribute)),
            lambda: graph.node.insert(chance.randrange(len(graph.node)), node),
            lambda: graph.node.remove(node),
            lambda: _change_tensor(chance, tensor),
            lambda: _set_any(chance, tensor.dims, chance.choice(INTERESTING)),
            lambda: _set_shape(chance, chance.choice([*graph.input, *graph.output, *graph.value_info])),
            lambda: setattr(model.opset_import[0], "version", chance.choice((*range(6, 27), *INTERESTING))),
            lambda: _set_any(chance, chance.choice(model.metadata_props), None),
            lambda: graph.initializer.append(tensor),
        )
    )
    change()
    return model.SerializeToString()


_OPERATORS = sorted({schema.name for schema in defs.get_all_schemas()})


def _value(chance: random.Random) -> float | int | list[int]:
    return chance.choice((0.5, float("nan"), chance.choice(INTERESTING[:8]), [0], [1, -1], [7, 7]))


def _change_attribute(chance: random.Random, attribute: onnx.AttributeProto) -> None:
    """Another number or text in its list."""
    _set_any(chance, attribute.ints, chance.choice(INTERESTING))
    _set_any(chance, attribute.floats, chance.choice((0.0, 1e38, float("inf"), float("nan"))))
    _set_any(chance, attribute.strings, chance.choice((b"LEAF", b"BRANCH_LEQ", b"BRANCH_EQ", b"")))


def _set_any(chance: random.Random, place: object, value: object) -> None:
    if isinstance(place, Message):  # an entry of the metadata
        place.value = chance.choice(("", "nan", "1e400", "-1", "[]", place.value * 2, "é" * 70000))  # type: ignore[attr-defined]
    elif place:
        place[chance.randrange(len(place))] = value  # type: ignore[index,arg-type]


def _set_shape(chance: random.Random, value: onnx.ValueInfoProto) -> None:
    dimensions = value.type.tensor_type.shape.dim
    if dimensions:
        chance.choice(dimensions).dim_value = chance.choice(INTERESTING)
    else:
        dimensions.add().dim_value = chance.choice(INTERESTING)


def _change_tensor(chance: random.Random, tensor: TensorProto) -> None:
    """Other numbers in it, or its shape turned round."""
    values = numpy_helper.to_array(tensor).copy()
    if chance.random() < 0.5:
        values = values.T if values.ndim > 1 else values.reshape(1, -1)
    else:
        values.flat[chance.randrange(values.size)] = chance.choice((0, -1, 1, 2**20, 2**31 - 1))
    tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))


if __name__ == "__main__":
    sys.exit(main())
