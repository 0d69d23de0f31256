"""Muses' teacher: two layers of 256, on networks of Table II."""

import pytest

pytest.importorskip("torch", reason="needs weir-train[learning]")
pytest.importorskip("stable_baselines3", reason="needs weir-train[learning]")

from weir_eval.model_file import read_model
from weir_papers.muses import teaching
from weir_train.configuration.training import load_configuration


def test_the_network_is_the_papers():
    settings = load_configuration(teaching.CONFIGURATION)
    assert (settings.imitation.hidden, settings.imitation.layers) == (256, 2)
    assert settings.imitation.teachers == ("oracle",)


def test_a_teacher_is_taught_once(tmp_path, monkeypatch, real_simulator):
    monkeypatch.setattr(teaching, "NETWORKS", 2)
    monkeypatch.setattr(teaching, "_DURATION_S", 3.0)
    settings = load_configuration(teaching.CONFIGURATION)
    small = {
        "environment": settings.environment.model_copy(update={"environments": 2}),
        "imitation": settings.imitation.model_copy(update={"hidden": 8, "decisions_per_iteration": 60}),
    }
    monkeypatch.setattr(teaching, "load_configuration", lambda path: settings.model_copy(update=small))
    done = []
    file = teaching.teach(60, 1, tmp_path, done.append)
    model = read_model(file)
    assert model.provenance["network"] == {"hidden": 8, "layers": 2, "preference": 8}
    assert "scenario files muses-train-" in model.provenance["data"]
    assert done == [60]
    before = file.read_bytes()
    assert teaching.teach(60, 1, tmp_path, done.append).read_bytes() == before
    assert done == [60]
