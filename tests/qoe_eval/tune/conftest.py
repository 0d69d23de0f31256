import pytest

from weir.errors import MissingComponent
from weir.executables import find_simulator

CONFIGURATION = """
name = "tiny"
steps = 768
checkpoint_every_steps = 128
[environment]
environments = 2
interval_ms = 200
history = 2
features = ["receive_rate_bps", "queueing_delay_min_s", "packets_received", "last_estimate_bps"]
[policy]
hidden = [8]
[ppo]
steps_per_update = 32
batch_size = 64
[tune]
trials = 2
rungs = 2
scenarios = 3
scenario_duration_s = 5.0
[tune.parameters]
"ppo.learning_rate" = { low = 1e-4, high = 1e-2, log = true }
"policy.hidden" = { choices = [[8], [16, 8]] }
"""


@pytest.fixture
def configuration(tmp_path):
    """A small search on the real simulator."""
    pytest.importorskip("optuna", reason="needs the extra `train`")
    pytest.importorskip("stable_baselines3", reason="needs the extra `train`")
    try:
        find_simulator()
    except MissingComponent as error:
        pytest.skip(str(error))
    path = tmp_path / "tiny.toml"
    path.write_text(CONFIGURATION)
    return path
