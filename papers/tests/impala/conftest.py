import pytest


@pytest.fixture
def impala_values(values):
    """A small configuration of MVFST-RL's agent on one steady scenario of four seconds."""
    return {
        "name": "small",
        "algorithm": "impala",
        "seed": 3,
        "steps": 960,
        "environment": {"environments": 3},
        "scenarios": values["scenarios"],
        "impala": {"hidden": 8, "delay_ms": [10.0, 80.0], "steps_per_fragment": 40},
    }
