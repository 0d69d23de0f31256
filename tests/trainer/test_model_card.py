import onnx
import pytest

from weir_cli.errors import InputError
from weir_eval.model_file import read_model
from weir_sim.installed import shipped_model
from weir_train.model.card import model_card


@pytest.fixture
def write(tmp_path):
    """Writes the shipped model with other metadata; returns the file."""

    def written(**changes):
        model = onnx.load(shipped_model())
        metadata = {entry.key: entry.value for entry in model.metadata_props}
        del model.metadata_props[:]
        onnx.helper.set_model_props(model, metadata | {f"weir.{key}": value for key, value in changes.items()})
        onnx.save(model, tmp_path / "toy.onnx")
        return tmp_path / "toy.onnx"

    return written


def test_the_card_shows_the_file_and_its_notes(write):
    file = write(name="toy", version="2", provenance='{"data": "a path", "steps": 5}')
    model = read_model(file)
    assert "None are given" in model_card(model)
    file.with_suffix(".notes.md").write_text("## Known failures\n\n- Mondays.\n")
    card = model_card(model, "91.25")
    for text in ("toy 2", "## Intended use", "`loss_ratio`", "data: a path", "## Known failures", "Mondays", "91.25"):
        assert text in card


def test_what_is_nested_too_deep_is_shown_as_text(write):
    text = "[" * 500 + "]" * 500
    assert read_model(write(provenance=text)).provenance == text


def test_what_the_library_refuses_is_named(write, tmp_path):
    with pytest.raises(InputError, match=r"toy\.onnx: .*'weir\.schema' is '9'.*give a file written by `weir export`"):
        read_model(write(schema="9"))
    (tmp_path / "text.onnx").write_bytes(b"not a model")
    with pytest.raises(InputError, match=r"text\.onnx: .*is not an ONNX model"):
        read_model(tmp_path / "text.onnx")
    with pytest.raises(InputError, match="no such file"):
        read_model(tmp_path / "missing.onnx")
