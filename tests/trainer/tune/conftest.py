import pytest
from tiny_search import tiny_search

from weir_cli.errors import MissingComponent
from weir_sim.executables import find_simulator


@pytest.fixture
def configuration(tmp_path):
    """A small search on the real simulator."""
    pytest.importorskip("optuna", reason="needs weir-train[learning]")
    pytest.importorskip("stable_baselines3", reason="needs weir-train[learning]")
    try:
        find_simulator()
    except MissingComponent as error:
        pytest.skip(str(error))
    path = tmp_path / "tiny.toml"
    path.write_text(tiny_search())
    return path
