"""Fixtures of Weir's own tests."""

import importlib.util
from pathlib import Path


def _conftest(folder):
    path = Path(__file__).parents[2] / "tests" / folder / "conftest.py"
    specification = importlib.util.spec_from_file_location(f"weir_{folder}_conftest", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


_all, _bench, _trainer = _conftest(""), _conftest("qoe_eval"), _conftest("trainer")
interruptible = _all.interruptible
fake_simulator, run_weir, make_record = _bench.fake_simulator, _bench.run_weir, _bench.make_record
fake_gym_simulator, real_simulator = _trainer.fake_simulator, _trainer.real_simulator
steady, values, write_toml = _trainer.steady, _trainer.values, _trainer.write_toml
