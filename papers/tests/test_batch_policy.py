"""A model file decides for a batch as the library does for one observation."""

import json

import numpy as np
import onnx
import pytest

pytest.importorskip("torch", reason="needs weir-train[learning]")

from weir import Policy
from weir_cli.errors import InputError
from weir_papers.imitation.batch_policy import BatchPolicy
from weir_sim.installed import shipped_model
from weir_train.gym import ActionSpecification, EnvironmentSpecification
from weir_train.model.export import export
from weir_train.policies.recurrent import RecurrentPolicy


def test_a_model_file_decides_for_many_as_the_library_does_for_one():
    policy = BatchPolicy(shipped_model())
    library = Policy(shipped_model().read_bytes())
    metadata = {entry.key: entry.value for entry in onnx.load(shipped_model()).metadata_props}
    golden = json.loads(metadata["weir.golden"])
    rows = np.array([vector["observation"] for vector in golden], dtype=np.float32)
    objectives = np.array([vector["objective"] for vector in golden], dtype=np.float32)
    assert policy.state_size == 0
    actions, _ = policy.decide(rows, objectives, np.zeros((len(rows), 0), dtype=np.float32))
    for row, objective, action in zip(rows, objectives, actions, strict=True):
        assert library.run(row, objective=objective.tolist()) == pytest.approx(action, rel=1e-4)


def test_a_recurrent_model_has_a_state_for_each_row(tmp_path):
    features = ("receive_rate_bps", "queueing_delay_min_s", "packets_received", "last_estimate_bps")
    specification = EnvironmentSpecification(
        interval_ms=100, features=features, history=2, action=ActionSpecification("around_rule")
    )
    export(RecurrentPolicy(specification, hidden=4), specification, tmp_path / "lstm.onnx")
    policy = BatchPolicy(tmp_path / "lstm.onnx")
    assert policy.state_size == 8
    rows = np.random.default_rng(1).uniform(1, 1e6, (3, specification.observation_size)).astype(np.float32)
    objectives = np.full((3, 3), 1 / 3, dtype=np.float32)
    states = np.random.default_rng(2).uniform(-1, 1, (3, 8)).astype(np.float32)
    together = policy.decide(rows, objectives, states)
    for i in range(3):
        alone = policy.decide(rows[i : i + 1], objectives[i : i + 1], states[i : i + 1])
        for single_row, all_rows in zip(alone, together, strict=True):
            assert single_row[0] == pytest.approx(all_rows[i], rel=1e-5, abs=1e-6)


def test_a_file_that_is_no_model_is_named(tmp_path):
    path = tmp_path / "changed.onnx"
    path.write_bytes(b"none")
    with pytest.raises(InputError, match=r"changed\.onnx"):
        BatchPolicy(path)
