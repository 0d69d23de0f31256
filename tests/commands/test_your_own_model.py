"""docs/your_own_model.md: its program writes a model that Weir takes, and its tables have every key."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

import weir

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/your_own_model.md").read_text()
PROGRAM, WITHOUT_CONSTANT_NODES = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    subprocess.run([sys.executable, "-c", PROGRAM], cwd=folder, check=True, timeout=60)
    return folder / "mine.onnx"


def test_the_program_writes_a_model_that_decides(model):
    policy = weir.Policy(model.read_bytes())
    assert policy.description["features"] == ["receive_rate_bps", "queueing_delay_min_s"]
    observation = np.array([1e6, 0.05], dtype=np.float32)
    assert policy.run(observation, "balanced") == pytest.approx([0.9e6])


def test_the_command_shows_it(model, run_weir):
    status, out, _ = run_weir("model", str(model))
    assert status == 0
    assert "receive_rate_bps" in out


def test_constant_nodes_are_refused_until_they_are_initializers(model, run_weir, tmp_path):
    exported = onnx.load(model)
    weights = exported.graph.initializer.pop()
    exported.graph.node.insert(0, onnx.helper.make_node("Constant", [], [weights.name], value=weights))
    onnx.save(exported, tmp_path / "exported.onnx")
    status, _, error = run_weir("model", "exported.onnx")
    assert status == 2
    assert "an attribute holds a tensor, as in PyTorch's Constant nodes" in error
    exec(WITHOUT_CONSTANT_NODES, {"model": exported})
    onnx.save(exported, tmp_path / "exported.onnx")
    assert run_weir("model", "exported.onnx")[0] == 0


def test_every_key_is_documented():
    reader = (ROOT / "estimator/src/policy/model_reader.cc").read_text()
    read = set(re.findall(r"reader\.(?:\w*Text|Number|Integer|TextList|NumberList)\(\"(\w+)\"", reader)) | {"schema"}
    assert len(read) > 10
    assert read <= set(re.findall(r"`weir\.(\w+)`", PAGE))


def test_a_model_with_other_golden_vectors_is_refused(model):
    altered = model.read_bytes().replace(b'"action": [1100000.0]', b'"action": [1200000.0]')
    with pytest.raises(ValueError, match="golden vector 0"):
        weir.Policy(altered)
