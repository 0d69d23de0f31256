"""Facts of the features in `weir.FEATURES`, and what the trainer needs of each."""

from types import SimpleNamespace

import numpy as np
import pytest

from weir import FEATURES
from weir_cli.errors import InputError
from weir_train.gym import specification
from weir_train.gym.scaling import SCALINGS
from weir_train.gym.specification import EnvironmentSpecification
from weir_train.model.golden_inputs import golden_inputs


def test_the_trainer_needs_its_golden_value_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    dummy = SimpleNamespace(observation_space=(-1.0, 5.0), scale="delay", of_path=False)
    monkeypatch.setattr(specification, "FEATURES", {**FEATURES, "dummy_s": dummy})
    spec = EnvironmentSpecification(features=("loss_ratio", "dummy_s"), history=1)
    low, high = spec.observation_limits()
    assert (low[:2].tolist(), high[:2].tolist()) == ([0.0, -1.0], [1.0, 5.0])
    with pytest.raises(InputError, match=r"no value for dummy_s\. Known are interval_s, "):
        golden_inputs(spec)


def test_every_feature_has_a_golden_value_and_a_known_scale() -> None:
    observations, _ = golden_inputs(EnvironmentSpecification(features=tuple(FEATURES), history=1))
    assert np.isfinite(observations).all()
    assert {feature.scale for feature in FEATURES.values()} == set(SCALINGS)


def test_facts_of_features_agree_with_their_names() -> None:
    units = {"_s": "s", "_bps": "bit/s", "_share": "", "_ratio": ""}
    for name, feature in FEATURES.items():
        ends = [unit for end, unit in units.items() if name.endswith(end)]
        assert not ends or feature.unit == ends[0], name
        assert (feature.scale == "rate_over_rule") == (feature.unit == "bit/s"), name
        assert feature.load_check[0] < feature.load_check[1], name
        assert feature.observation_space[0] <= feature.load_check[0], name
        assert feature.observation_space[1] >= feature.load_check[1], name
