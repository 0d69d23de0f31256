"""Fixtures of the bench's and the trainer's tests."""

import importlib.util
from pathlib import Path


def _conftest(folder):
    path = Path(__file__).parents[1] / folder / "conftest.py"
    specification = importlib.util.spec_from_file_location(f"{folder}_conftest", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


_bench, _trainer = _conftest("qoe_eval"), _conftest("trainer")
fake_simulator, run_weir, make_record = _bench.fake_simulator, _bench.run_weir, _bench.make_record
fake_gym_simulator, real_simulator = _trainer.fake_simulator, _trainer.real_simulator
steady, values, write_toml = _trainer.steady, _trainer.values, _trainer.write_toml
