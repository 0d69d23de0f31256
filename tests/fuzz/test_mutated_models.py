"""A few of the damaged models that `make mutants` loads many of."""

import mutated_models
import pytest


def test_damaged_models_are_refused_or_bounded(tmp_path):
    told = mutated_models.load_mutants(mutated_models.sound_models(), 1000, 7, tmp_path)
    assert " loaded" in told
    assert " refused" in told


def test_what_the_loader_takes_and_protobuf_reads_otherwise_is_found():
    model = mutated_models.onnx.load_from_string(mutated_models.SHIPPED.read_bytes())
    model.graph.node[0].domain = "com.microsoft"
    with pytest.raises(AssertionError):
        mutated_models.assert_read_the_same(model.SerializeToString())
