"""The TOML that a search writes is read as what it was."""

import tomllib

import pytest

from weir_train.tune.toml_text import to_toml


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"steps": 15_000_000, "rate": 1e-4, "small": 5e-324, "guard": True},
        {"hidden": [64, 32], "none": [], "files": ["a.json", 'ü \\ " \n\t\x00\x7f\U0001f600']},
        {"ppo": {"gamma": 0.95}, "environment": {"reward": "mocc", "action": {"kind": "log_rate"}}, "last": 1},
        {"a key": {"b.c": {'"': "text"}}},
        {"documents": [{"name": "x", "forward": {"capacity": [1.0, 2.0]}}, {}]},
    ],
)
def test_written_toml_is_read_back_unchanged(values):
    # A scalar after a table would belong to the table.
    assert tomllib.loads(to_toml(values)) == values


def test_empty_values_are_omitted():
    assert tomllib.loads(to_toml({"seed": None, "ppo": {"target_kl": None}})) == {"ppo": {}}
