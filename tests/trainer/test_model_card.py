import hashlib

import onnx
import pytest
from onnx import TensorProto, helper

from weir.errors import InputError
from weir.files.model import read_model
from weir.trainer.model.card import model_card

METADATA = {
    "weir.schema": "1",
    "weir.name": "toy",
    "weir.version": "2",
    "weir.features": "receive_rate_bps,loss_ratio",
    "weir.history": "3",
    "weir.interval_ms": "100",
    "weir.action_kind": "rate_bps",
    "weir.min_bps": "30000",
    "weir.max_bps": "50000000",
    "weir.provenance": '{"data": "a path", "steps": 5}',
}


def write(path, metadata):
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["observation", "head.weight"], ["action"])],
        "toy",
        [helper.make_tensor_value_info("observation", TensorProto.FLOAT, [1, 6])],
        [helper.make_tensor_value_info("action", TensorProto.FLOAT, [1, 1])],
        [helper.make_tensor("head.weight", TensorProto.FLOAT, [6, 1], [0.5] * 6)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, metadata)
    onnx.save(model, path)
    return path


def test_the_card_shows_the_file_and_its_notes(tmp_path):
    model = read_model(write(tmp_path / "toy.onnx", METADATA))
    assert model.sha256 == hashlib.sha256((tmp_path / "toy.onnx").read_bytes()).hexdigest()
    assert (model.parameters, model.history, model.inputs) == (6, 3, {"observation": [1, 6]})
    assert "None are given" in model_card(model)
    (tmp_path / "toy.notes.md").write_text("## Known failures\n\n- Mondays.\n")
    card = model_card(model, "91.25")
    for text in ("toy 2", "## Intended use", "`loss_ratio`", "data: a path", "## Known failures", "Mondays", "91.25"):
        assert text in card


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weir.schema": "9"}, "weir.schema '9'"),
        ({"weir.schema": None}, "no weir.schema"),
        ({"weir.history": None}, "lack weir.history"),
        ({"note": "," * (1 << 20)}, "more than 1 MiB of metadata"),
        ({"weir.history": "three"}, "broken"),
        ({"weir.golden": "[1,"}, "broken"),
        ({"weir.golden": "5"}, "broken"),
        ({"weir.golden": "[" * 100_000}, "broken"),
    ],
)
def test_faulty_metadata(tmp_path, change, message):
    metadata = {key: value for key, value in (METADATA | change).items() if value is not None}
    path = write(tmp_path / "toy.onnx", metadata)
    with pytest.raises(InputError, match=message) as raised:
        read_model(path)
    assert str(path) in str(raised.value)


def test_what_is_nested_too_deep_is_shown_as_text(tmp_path):
    text = "[" * 500 + "]" * 500
    model = read_model(write(tmp_path / "toy.onnx", METADATA | {"weir.provenance": text}))
    assert model.to_dict()["provenance"] == text


def test_faulty_files(tmp_path):
    whole = write(tmp_path / "toy.onnx", METADATA).read_bytes()
    for name, data in (("cut.onnx", whole[: len(whole) // 2]), ("text.onnx", b"not a model"), ("empty.onnx", b"")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(InputError, match=name):
            read_model(tmp_path / name)
    with pytest.raises(InputError, match="no such file"):
        read_model(tmp_path / "missing.onnx")
