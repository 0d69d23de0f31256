"""Fixtures of Weir's own tests."""

import importlib.util
from pathlib import Path

from shared_fixtures import fake_simulator

__all__ = ["fake_simulator"]


def _conftest(folder):
    path = Path(__file__).parents[2] / "tests" / folder / "conftest.py"
    specification = importlib.util.spec_from_file_location(f"weir_{folder}_conftest", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


_all, _trainer = _conftest(""), _conftest("trainer")
run_weir, real_simulator, steady = _all.run_weir, _all.real_simulator, _all.steady
fake_gym_simulator = _trainer.fake_simulator
values, write_toml = _trainer.values, _trainer.write_toml
