from pathlib import Path

import pytest

from weir.traces.errors import MissingComponent
from weir.trainer.gym.process import find_simulator

FAKE_SIMULATOR = Path(__file__).parent / "fake_simulator.py"


@pytest.fixture
def fake_simulator():
    return FAKE_SIMULATOR


@pytest.fixture(scope="session")
def real_simulator():
    try:
        return find_simulator()
    except MissingComponent as error:
        pytest.skip(str(error))


@pytest.fixture
def steady():
    """A function from a name to a scenario with a steady capacity."""

    def make(name="steady", rate_bps=1_000_000, duration_s=10.0):
        return {
            "schema": "weir.scenario/1",
            "name": name,
            "duration_s": duration_s,
            "forward": {"capacity": {"times_s": [0.0], "rates_bps": [rate_bps]}},
            "flows": [{"kind": "rtp", "id": "media"}],
        }

    return make
