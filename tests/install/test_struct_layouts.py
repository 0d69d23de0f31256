"""The structs of weir.h stand again in JavaScript and Go, which cannot include it; fields, order and types are equal.

`plugins/rust` compares its own by a compiler.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
if not (ROOT / "plugins").is_dir():
    pytest.skip("plugins/ is not here", allow_module_level=True)
HEADER = (ROOT / "estimator/c/weir.h").read_text()
JAVASCRIPT = (ROOT / "estimator/packages/node/index.js").read_text()
GO = (ROOT / "plugins/pion/internal/native/types.go").read_text()

# Bytes, which are also the alignment, in WebAssembly, whose pointers have 32 bits.
BYTES = {"int64_t": 8, "uint64_t": 8, "int32_t": 4, "uint32_t": 4, "uint16_t": 2, "uint8_t": 1, "float": 4, "double": 8}
POINTER = 4
IN_JAVASCRIPT = {
    "PACKET": "weir_packet",
    "CONSTRAINTS": "weir_target_rate_constraints",
    "ESTIMATE": "weir_estimate",
    "SENT_PACKET": "weir_sent_packet",
    "FEEDBACK": "weir_packet_feedback",
    "RATES": "weir_send_side_rates",
    "CLUSTER": "weir_probe_cluster",
}
IN_GO = {"Rates": "weir_send_side_rates", "Constraints": "weir_target_rate_constraints"}


def fields_of(struct):
    """The fields of a struct of the header: name and type, in order."""
    body = re.search(rf"typedef struct {struct} {{(.*?)}} {struct};", HEADER, re.DOTALL)
    assert body, struct
    code = re.sub(r"/\*.*?\*/", "", body[1], flags=re.DOTALL)
    found = re.findall(r"^\s*([\w ]+?[ *]+)(\w+)(\[\w+\])?;", code, re.MULTILINE)
    return [(name, kind.strip() + array) for kind, name, array in found]


def size_of(kind):
    """Bytes and alignment of a type in WebAssembly."""
    if kind in BYTES:
        return BYTES[kind], BYTES[kind]
    if kind == "size_t" or kind.endswith(("*", "callback")):
        return POINTER, POINTER
    at, alignment = 0, 1
    for _, inner in fields_of(kind):
        size, aligned = size_of(inner)
        at, alignment = -(-at // aligned) * aligned + size, max(alignment, aligned)
    return -(-at // alignment) * alignment, alignment


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


@pytest.mark.parametrize("layout", IN_JAVASCRIPT)
def test_javascript_has_the_fields_of_the_header(layout):
    text = re.search(rf"const {layout} = {{(.*?)}};", JAVASCRIPT, re.DOTALL)
    assert text
    kinds = {"i64": "int64_t", "u32": "uint32_t", "i32": "int32_t", "u16": "uint16_t", "u8": "uint8_t"}
    found = [(name, kinds.get(kind, "const char*")) for name, kind in re.findall(r"(\w+): '(\w+)'", text[1])]
    wanted = [(camel(name), kind) for name, kind in fields_of(IN_JAVASCRIPT[layout]) if name != "reserved"]
    assert found == wanted


def test_sizes_in_javascript_and_go_are_those_of_webassembly():
    found = {name: int(size) for name, size in re.findall(r"const (\w+_BYTES) = (\d+)", JAVASCRIPT)}
    assert found == {
        "CONFIG_BYTES": size_of("weir_estimator_config")[0],
        "FEEDBACK_BYTES": size_of("weir_packet_feedback")[0],
    }
    in_go = (ROOT / "plugins/pion/internal/native/webassembly.go").read_text()
    assert re.findall(r"const configBytes = (\d+)", in_go) == [str(found["CONFIG_BYTES"])]


def plain(name):
    """A field's name without what Go writes otherwise."""
    return name.strip().lower().replace("_", "").replace("rate", "")


def test_go_has_the_fields_of_the_header():
    structs = re.findall(r"// (\w+) is (weir_\w+)\.\n\t\w+ struct ?{(.*?)\n?\t?}", GO, re.DOTALL)
    assert len(structs) > 10
    kinds = {"text": "const char*", "float64": "double", "int64": "int64_t", "uint64": "uint64_t", "int32": "int32_t"}
    kinds |= {"uint32": "uint32_t", "uint16": "uint16_t", "uint8": "uint8_t"}
    kinds |= {name: struct for name, struct, _ in structs}
    for _, struct, body in structs:
        lines = re.findall(r"([\w, ]+?) +(\[\w+\])?(\w+)\s*(?:\n|$)", body)
        found = [(plain(name), kinds[kind] + array[:1]) for names, array, kind in lines for name in names.split(",")]
        # The size that a program gives is not in Go; a size is of 64 bits there, and padding has no name.
        wanted = [
            (plain(name), re.sub(r"\[.*", "[", kind).replace("size_t", "uint64_t"))
            for name, kind in fields_of(struct)
            if (name, kind) != ("size_bytes", "size_t")
        ]
        assert [one for one in found if one[0]] == wanted, struct
