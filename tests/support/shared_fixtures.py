"""Fixtures for several folders, whose conftest.py imports them by name."""

import json
import shutil
from pathlib import Path

import fake_weir_sim
import pytest

from weir_cli.errors import MissingComponent
from weir_sim.executables import find_virtual_call
from weir_traces.schema.scenario import Scenario

CHROMIUM = "/usr/bin/chromium"
FAKE = Path(fake_weir_sim.__file__)
REPLAY = ("replay", "trace.csv", "--controller", "rule", "--controller", "gcc", "--seeds", "1", "--objectives", "0")


@pytest.fixture(scope="module")
def chromium():
    """Debian's browser, to look at pages with; skips where it is not installed."""
    if not Path(CHROMIUM).exists():
        pytest.skip(f"{CHROMIUM} is not installed")
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def virtual_call_program():
    """weir-virtual-call; skips where it is not built."""
    try:
        return find_virtual_call()
    except MissingComponent as error:
        pytest.skip(str(error))


@pytest.fixture
def fake_simulator(monkeypatch):
    """The stand-in for weir-sim, named in WEIR_SIM as a user would."""
    monkeypatch.setenv("WEIR_SIM", str(FAKE))
    monkeypatch.delenv("FAKE_WEIR_SIM", raising=False)
    return FAKE


@pytest.fixture
def misbehave(monkeypatch):
    """misbehave({"gcc:1": "die"}): see fake_weir_sim.py."""
    return lambda behaviour: monkeypatch.setenv("FAKE_WEIR_SIM", json.dumps(behaviour))


@pytest.fixture
def scenarios():
    """Two short scenarios."""
    steady = {"times_s": [0.0], "rates_bps": [1e6]}
    step = {"times_s": [0.0, 5.0], "rates_bps": [2e6, 1e6]}
    return [
        Scenario.make(name=name, duration_s=10.0, forward={"capacity": capacity}, flows=[{"kind": "rtp"}])
        for name, capacity in (("steady", steady), ("step", step))
    ]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with what one replay reads and writes, once the first test has made it."""
    return tmp_path_factory.mktemp("made")


@pytest.fixture
def results(fake_simulator, run_weir, tmp_path, made):
    """The folder of a replay, `here`, in the folder of the test."""
    if not any(made.iterdir()):
        (tmp_path / "trace.csv").write_text("time_s,rate_bps\n0,1000000\n5,2000000\n10,1000000\n")
        assert run_weir(*REPLAY, "--out", "here")[0] == 0
        shutil.copytree(tmp_path, made, dirs_exist_ok=True)
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path / "here"
