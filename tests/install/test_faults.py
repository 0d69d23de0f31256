"""tests/README.md names a test for each fault that a receiver survives: each of them is there."""

import re
from pathlib import Path

import pytest
from edges import is_in_absent_edge

TESTS = Path(__file__).parents[1]
ROWS = re.compile(r"^\| .+ \| `(.+)` \|$", re.MULTILINE)
FAULTS = ROWS.findall((TESTS / "README.md").read_text().partition("## Faults")[2])
CPP = "\n".join(path.read_text() for path in TESTS.rglob("*_test.cc"))


def test_there_are_faults():
    assert len(FAULTS) > 30


@pytest.mark.parametrize("name", sorted(set(FAULTS)))
def test_each_test_of_a_fault_is_there(name):
    """A GoogleTest by suite and name, or a pytest by file and function."""
    if "::" in name:
        path, _, function = name.partition("::")
        if is_in_absent_edge(TESTS / path):
            pytest.skip("its folder is not here")
        assert re.search(rf"^(?:async )?def {function}\(", (TESTS / path).read_text(), re.MULTILINE)
    else:
        suite, _, test = name.partition(".")
        assert re.search(rf"\bTEST(?:_[FP])?\({suite}, {test}\)", CPP)
