import numpy as np
import pytest

from weir.files.model import ModelFile
from weir.trainer.configuration.training import checked_configuration
from weir.trainer.offline.transitions import RecordedCall, names

FEATURES = [
    "receive_rate_bps",
    "queueing_delay_min_s",
    "queueing_delay_max_s",
    "loss_ratio",
    "packets_received",
    "delay_noise_s",  # of the path
    "last_estimate_bps",
    "base_round_trip_time_s",
]


@pytest.fixture
def configuration(values):
    """A small policy around the rule, with the features that the reward needs."""
    environment = values["environment"] | {
        "features": FEATURES,
        "history": 3,
        "interval_ms": 100,
        "action": {"kind": "around_rule", "min_bps": 30_000, "max_bps": 10_000_000},
        "privileged_critic": True,
    }
    return checked_configuration(values | {"environment": environment})


@pytest.fixture
def specification(configuration):
    return configuration.environment.specification()


@pytest.fixture
def model(specification):
    """The file of such a model, as far as a data set describes it."""
    return ModelFile(
        path="small.onnx", bytes=1, sha256="0" * 64, parameters=1, name="small", version="1", features=FEATURES,
        history=3, interval_ms=100, action_kind="rate_bps", min_bps=3e4, max_bps=1e7, golden_vectors=0, inputs={},
        outputs={}, provenance={},
    )  # fmt: skip


@pytest.fixture
def make_call():
    """A function that makes up a recorded call of some decisions."""

    def make(key="a", decisions=30, seed=1):
        generator = np.random.default_rng(seed)
        values = {
            "receive_rate_bps": generator.uniform(5e5, 2e6, decisions),
            "queueing_delay_min_s": generator.uniform(0.0, 0.05, decisions),
            "queueing_delay_max_s": generator.uniform(0.05, 0.2, decisions),
            "loss_ratio": generator.choice([0.0, 0.1], decisions),
            "packets_received": np.full(decisions, 20.0),
            "delay_noise_s": generator.uniform(0.0, 0.01, decisions),
            "last_estimate_bps": generator.uniform(5e5, 2e6, decisions),
            "base_round_trip_time_s": np.full(decisions, 0.1),
        }
        wanted = generator.uniform(5e5, 2e6, decisions)
        return RecordedCall(
            key=key,
            newest=np.column_stack([values[name] for name in names(FEATURES)]).astype(np.float32),
            objectives=np.tile([0.4, 0.5, 0.1], (decisions, 1)),
            actions=wanted * np.exp(0.1 * generator.standard_normal(decisions)),
            policy_actions=wanted,
            targets_bps=0.9 * wanted,
            decided=np.arange(decisions) > 1,
            resets=np.arange(decisions) == 0,
        )

    return make
