import hashlib
import json

import onnx
import pytest
from onnx import TensorProto, helper

from weir.errors import InputError
from weir.trainer.model.card import model_card, read_summary
from weir.trainer.model.file import read_model

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


def test_card_shows_file_and_figures(tmp_path):
    model = read_model(write(tmp_path / "toy.onnx", METADATA))
    assert model.sha256 == hashlib.sha256((tmp_path / "toy.onnx").read_bytes()).hexdigest()
    assert (model.parameters, model.history, model.inputs) == (6, 3, {"observation": [1, 6]})
    assert "None were given" in model_card(model)
    summary = {
        "controllers": {"weir": {"challenge": {"mean": 91.25}}, "gcc": {"challenge": {"mean": 80.5}}},
        "scenarios": {"a": {}, "b": {}},
        "paired": [
            {
                "a": "weir",
                "b": "gcc",
                "metric": "challenge",
                "mean": 10.75,
                "ci95": [9.0, 12.0],
                "wins": 6,
                "independent": 7,
                "n": 14,
            },
            {
                "a": "weir",
                "b": "rule",
                "metric": "challenge",
                "mean": 1.5,
                "ci95": [None, None],
                "wins": 2,
                "independent": 3,
                "n": 6,
            },
        ],
    }
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    card = model_card(model, read_summary(tmp_path / "summary.json"))
    for text in ("toy 2", "`loss_ratio`", "data: a path", "| weir | 91.25 |", "2 scenarios"):
        assert text in card
    # The words of the terminal and of the page.
    assert (
        "- weir - gcc: challenge +10.8 [+9.0, +12.0]; more challenge in 6 of 7 independent scenarios, 2 seeds each"
        in card
    )
    assert (
        "- weir - rule: challenge +1.5 (too few scenarios for an interval (3)); more challenge in 2 of 3 independent "
        "scenarios, 2 seeds each" in card
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weir.schema": "9"}, "weir.schema '9'"),
        ({"weir.schema": None}, "no weir.schema"),
        ({"weir.history": None}, "lack weir.history"),
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
    for text in ("{", "[]", "{}"):
        (tmp_path / "summary.json").write_text(text)
        with pytest.raises(InputError, match=r"summary\.json"):
            read_summary(tmp_path / "summary.json")
