"""The README has every key of the tables of the papers' algorithms."""

from pathlib import Path

import pytest

from weir_papers.imitation.configuration import ImitationSettings
from weir_papers.mvfst.impala.configuration import ImpalaSettings
from weir_papers.off_policy.configuration import SacSettings, Td3Settings

TEXT = (Path(__file__).parents[1] / "README.md").read_text()


@pytest.mark.parametrize(
    ("head", "tables"),
    [
        ("[impala]", [ImpalaSettings]),
        ("[td3]` | `[sac]", [Td3Settings, SacSettings]),
        ("[imitation]", [ImitationSettings]),
    ],
)
def test_the_readme_has_every_key_with_its_meaning(head, tables):
    table = TEXT.split(f"| `{head}` | range | |\n")[1].split("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.split("\n")[1:]]
    found = {cells[0].strip("`"): cells[-1].strip() for cells in rows}
    assert found.keys() == {key for table in tables for key in table.model_fields}
    assert all(found.values())


def test_a_row_has_the_defaults_and_the_range():
    assert '| `noise` | `"gaussian"` |  | `"gaussian"`, `"ornstein_uhlenbeck"` | Drawn anew' in TEXT
