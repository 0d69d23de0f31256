"""The README has every key of every table of a training's configuration."""

from pathlib import Path
from typing import get_args, get_origin

import pytest

from weir_train.configuration import Settings, ppo, scenarios, training, tuning

README = Path(__file__).parents[2] / "trainer/README.md"


def tables():
    """The classes of this package; another distribution documents its own."""
    members = [vars(module).values() for module in (ppo, scenarios, training, tuning)]
    classes = {
        member for values in members for member in values if isinstance(member, type) and issubclass(member, Settings)
    }
    return sorted(classes - {Settings}, key=lambda table: table.__name__)


def rows():
    """The rows of the README's tables of keys: key, the defaults, range, meaning."""
    found = [line.strip("| ").split(" | ") for line in README.read_text().splitlines() if line.startswith("| `")]
    return {cells[0].strip("`"): cells[1:] for cells in found}


@pytest.mark.parametrize("table", tables())
def test_the_readme_has_every_key(table):
    keys = [key for key, field in table.model_fields.items() if not is_table(field.annotation)]
    assert [key for key in keys if len(rows().get(key, [])) < 3] == []


def is_table(annotation):
    """Not a dictionary of tables, which is a key: `parameters` of `tune`."""
    kinds = [annotation] if get_origin(annotation) is dict else get_args(annotation) or [annotation]
    return any(isinstance(kind, type) and issubclass(kind, Settings) for kind in kinds)


@pytest.mark.parametrize(
    ("key", "cells"),
    [
        ("gae_lambda", ["`0.9`", "≥ 0, ≤ 1"]),
        ("hidden", ["`[64, 32]`", "1 to 8 values, each ≥ 1, ≤ 4_096"]),
        ("max_bps", ["`50_000_000`", "> 0"]),
        ("features", ["required", ""]),
    ],
)
def test_a_row_has_the_defaults_and_the_range(key, cells):
    assert [cell.strip() for cell in rows()[key][:-1]] == cells
    assert rows()[key][-1]
