"""SECURITY.md names a test for each promise, tests/README.md one for each fault: each of them is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = re.compile(r"^\| (?!promise|fault \||---)(.+) \| (`.+`) \|$", re.MULTILINE)
PROMISES = ROWS.findall((ROOT / "SECURITY.md").read_text().partition("## What is promised")[2])
FAULTS = ROWS.findall((ROOT / "tests" / "README.md").read_text().partition("## Faults")[2])
CPP = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("*_test.cc"))


def names(rows: list[tuple[str, str]]) -> list[str]:
    """Full names of tests: `.Name` belongs to the suite before it in its row."""
    found = set()
    for _, cell in rows:
        suite = ""
        for name in re.findall(r"`([^`]+)`", cell):
            whole = suite + name if name.startswith(".") else name
            suite = whole.partition(".")[0]
            found.add(whole)
    return sorted(found)


def test_there_are_promises_and_faults():
    assert len(PROMISES) > 20
    assert len(FAULTS) > 30


@pytest.mark.parametrize(
    ("name", "folder"),
    [(name, ROOT) for name in names(PROMISES)] + [(name, ROOT / "tests") for name in names(FAULTS)],
)
def test_each_test_of_a_promise_or_a_fault_is_there(name, folder):
    """A GoogleTest by suite and name, a pytest by file and function, or a program by its file."""
    if "::" in name:
        path, _, function = name.partition("::")
        assert re.search(rf"^(?:async )?def {function}\(", (folder / path).read_text(), re.MULTILINE)
    elif "/" in name:
        assert (folder / name).is_file()
    else:
        suite, _, test = name.partition(".")
        assert re.search(rf"\bTEST(?:_[FP])?\({suite}, {test}\)", CPP)


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_it_is_linked(document):
    assert "](SECURITY.md)" in (ROOT / document).read_text()
