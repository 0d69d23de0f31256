"""The fingerprint that binds the records of replays to the simulator."""

from pathlib import Path

import pytest

from weir_eval.fingerprint import fingerprint, read_fingerprints
from weir_sim.executables import find_simulator
from weir_sim.installed import shipped_model
from weir_sim.versions import simulator_versions

FINGERPRINTS = Path(__file__).parents[2] / "simulator/fingerprints.json"


def test_the_simulator_matches_its_fingerprint():
    simulator = find_simulator()
    version = simulator_versions(simulator)["libwebrtc"]
    known = read_fingerprints(FINGERPRINTS)
    if version not in known:
        pytest.skip(f"no fingerprint of libwebrtc {version}: `make results` writes it")
    assert fingerprint(simulator, shipped_model()) == known[version], (
        "replays have changed; if that is meant, run `python -m weir_eval.fingerprint` and `make results`"
    )
