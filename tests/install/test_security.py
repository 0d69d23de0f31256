"""SECURITY.md names a test for each promise: each of them is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "SECURITY.md").read_text()
_, _, PROMISED = TEXT.partition("## What is promised")
PROMISES = re.findall(r"^\| (?!promise|---)(.+) \| (`.+`) \|$", PROMISED, re.MULTILINE)
CPP = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("*_test.cc"))


def test_there_are_promises():
    assert len(PROMISES) > 20


@pytest.mark.parametrize("name", sorted({name for _, names in PROMISES for name in re.findall(r"`([^`]+)`", names)}))
def test_each_named_test_is_there(name):
    if "::" in name:
        path, _, function = name.partition("::")
        assert re.search(rf"^(?:async )?def {function}\(", (ROOT / path).read_text(), re.MULTILINE)
    else:
        suite, _, test = name.partition(".")
        assert re.search(rf"\bTEST(?:_[FP])?\({suite}, {test}\)", CPP)


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_it_is_linked(document):
    assert "](SECURITY.md)" in (ROOT / document).read_text()
