import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from weir_cli.app import build_app
from weir_traces.schema.scenario import Scenario

FAKE_SIMULATOR = Path(__file__).parent / "fake_simulator.py"


@pytest.fixture
def fake_simulator():
    return FAKE_SIMULATOR


@pytest.fixture
def values(tmp_path, steady):
    """A small training configuration on one steady scenario."""
    path = tmp_path / "steady.json"
    Scenario.from_dict(steady(rate_bps=4_000_000, duration_s=4.0)).save(path)
    return {
        "name": "small",
        "seed": 3,
        "steps": 1024,
        "environment": {
            "environments": 2,
            "interval_ms": 200,
            "history": 2,
            "features": [
                "receive_rate_bps",
                "queueing_delay_mean_s",
                "queueing_delay_min_s",
                "packets_received",
                "last_estimate_bps",
            ],
            "objective": "throughput",
            "action": {"kind": "log_rate", "min_bps": 100_000, "max_bps": 10_000_000},
        },
        "scenarios": {"source": "files", "files": [str(path)]},
        "policy": {"hidden": [16, 8], "preference_size": 4},
        "ppo": {"steps_per_update": 128, "batch_size": 64},
    }


@pytest.fixture
def write_toml(tmp_path):
    """A function from values to a configuration file with them."""

    def lines(document, prefix=""):
        tables = {key: value for key, value in document.items() if isinstance(value, dict)}
        found = [f"{key} = {json.dumps(value)}" for key, value in document.items() if key not in tables]
        for key, table in tables.items():
            found += [f"[{prefix}{key}]", *lines(table, f"{prefix}{key}.")]
        return found

    def write(document):
        path = tmp_path / "small.toml"
        path.write_text("\n".join(lines(document)) + "\n")
        return path

    return write


@pytest.fixture
def weir(monkeypatch, fake_simulator):
    """A function that runs a command on the fake simulator: its result."""
    monkeypatch.setenv("WEIR_SIM", str(fake_simulator))
    app = build_app()

    def run(*words, catch=False):
        return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=catch)

    return run
