"""What a policy's features are like in training, and where a model carries it."""

import numpy as np
import onnx
import pytest

pytest.importorskip("torch", reason="needs the extra `train`")
pytest.importorskip("stable_baselines3", reason="needs the extra `train`")

import weir.trainer
from weir.trainer.configuration.training import checked_configuration
from weir.trainer.learning.evaluation import RuleItself
from weir.trainer.learning.training_ranges import ENVIRONMENTS, training_ranges
from weir.trainer.model.file import read_model

FEATURES = ["delay_noise_s", "receive_rate_bps", "queueing_delay_min_s", "packets_received", "last_estimate_bps"]


@pytest.fixture
def configuration():
    return checked_configuration({"environment": {"features": FEATURES, "history": 3}, "steps": 4000})


def test_ranges_are_percentiles_of_each_feature_in_their_order(configuration, real_simulator):
    ranges = training_ranges(RuleItself(), configuration, 200 * ENVIRONMENTS, real_simulator)
    assert ranges.shape == (len(FEATURES), 2)
    assert (ranges[:, 0] < ranges[:, 1]).all()
    by_name = dict(zip(FEATURES, ranges, strict=True))
    assert 0 <= by_name["delay_noise_s"][1] < 1
    assert 1e6 < by_name["receive_rate_bps"][1] < 1e8
    assert by_name["last_estimate_bps"][0] >= 30_000
    again = training_ranges(RuleItself(), configuration, 200 * ENVIRONMENTS, real_simulator)
    np.testing.assert_array_equal(ranges, again)


def test_the_shipped_model_has_them():
    described = read_model(weir.trainer.SHIPPED_MODEL)
    metadata = {entry.key: entry.value for entry in onnx.load(weir.trainer.SHIPPED_MODEL).metadata_props}
    bounds = [float(bound) for bound in metadata["weir.ranges"].split(",")]
    assert len(bounds) == 2 * len(described.features)
    ranges = dict(zip(described.features, zip(bounds[::2], bounds[1::2], strict=True), strict=True))
    # It was trained on paths of at most 20 Mbps.
    assert 1e7 < ranges["receive_rate_bps"][1] < 2.5e7
    assert all(low < high for low, high in ranges.values())
