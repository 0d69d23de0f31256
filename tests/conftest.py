import signal
import sys

import pytest
from hypothesis import settings


def pytest_configure():
    # A shell lets what it starts in the background ignore interrupts, and children inherit that; tests send them.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # A busy machine makes no test fail.
    settings.register_profile("untimed", deadline=None)
    settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    """The command `weir`, where a test runs it in this process, leaves Ctrl-C to the system, and becomes the user who
    called sudo.
    """
    monkeypatch.delenv("SUDO_UID", raising=False)
    yield
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def real_simulator():
    from weir_cli.errors import MissingComponent
    from weir_sim.executables import find_simulator

    try:
        return find_simulator()
    except MissingComponent as error:
        pytest.skip(str(error))


@pytest.fixture
def run_weir(tmp_path, monkeypatch, capfd):
    """Runs `weir ARGUMENTS` in the test's folder; returns status, standard output, standard error. Keywords are
    environment variables.
    """
    from weir_cli.main import main

    monkeypatch.chdir(tmp_path)

    def run(*arguments, **environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["weir", *map(str, arguments)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as caught:
            main()
        return caught.value.code, *capfd.readouterr()

    return run


@pytest.fixture
def steady():
    """A function from a name to a scenario with a steady capacity."""
    from weir_traces.schema.scenario import Scenario

    def make(name="steady", rate_bps=1_000_000, duration_s=10.0):
        capacity = {"times_s": [0.0], "rates_bps": [rate_bps]}
        flows = [{"kind": "rtp"}]
        scenario = Scenario.make(name=name, duration_s=duration_s, forward={"capacity": capacity}, flows=flows)
        return scenario.to_dict()

    return make
