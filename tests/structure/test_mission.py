"""The promises of the project are kept: each by tests, and a command shows it."""

import ast
import re
from pathlib import Path

import pytest
import typer
from promises import PROMISES

from weir_cli.app import build_app

ROOT = Path(__file__).parents[2]
KEEPING = [(promise, name) for promise, (_, *names) in PROMISES.items() for name in names]
# Marks and calls that keep a Python test from failing wherever it runs.
SILENCED = {"pytest.mark.skip", "pytest.mark.xfail", "pytest.skip"}


def distribution(name):
    """The folder whose code a test is about."""
    first, second, *_ = Path(name).parts
    return second if first == "tests" else first


def silences(node):
    """True if a decorator, a value of `pytestmark` or a statement skips a test without a condition, or lets it fail."""
    if isinstance(node, ast.List | ast.Tuple):
        return any(map(silences, node.elts))
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0]) == "pytestmark" and silences(node.value)
    if isinstance(node, ast.Expr):
        return silences(node.value)
    return ast.unparse(node.func if isinstance(node, ast.Call) else node) in SILENCED


def fault_of_python_test(path, name):
    """The reason for which pytest does not run a function, or ""."""
    module = ast.parse(path.read_text()).body if path.is_file() and path.match("test_*.py") else []
    functions = [one for one in module if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name == name]
    if not functions or not name.startswith("test_"):
        return "is not there"
    skipped = any(map(silences, [*functions[-1].decorator_list, *functions[-1].body, *module]))
    return "is skipped everywhere, or may fail" if skipped else ""


def fault_of_cpp_test(path, name):
    """The reason for which ctest does not run a GoogleTest, or ""."""
    suite, _, test = name.partition(".")
    text = path.read_text() if path.is_file() else ""
    found = re.search(rf"^TEST(?:_[FP])?\({suite}, {test}\) {{\s*(\w*)", text, re.MULTILINE)
    if not found:
        return "is not there"
    if found[1] == "GTEST_SKIP":
        return "is skipped everywhere, or may fail"
    lists = [folder / "CMakeLists.txt" for folder in path.parents if (folder / "CMakeLists.txt").is_file()]
    built = re.findall(r"\S+_test\.cc", lists[0].read_text()) if lists else []
    return "" if path in [lists[0].parent / file for file in built] else "is not built"


def fault_of(root, name):
    """The reason for which a test, named as in `PROMISES`, is not run, or ""."""
    file, _, test = name.partition("::")
    path = root / file
    return (fault_of_cpp_test if path.suffix == ".cc" else fault_of_python_test)(path, test)


@pytest.mark.parametrize(("promise", "name"), KEEPING, ids=[name for _, name in KEEPING])
def test_the_tests_of_a_promise_are_run(promise, name):
    folders = [ROOT / distribution(name), ROOT / "tests" / distribution(name)]
    if not any(map(Path.is_dir, folders)):
        pytest.skip(f"this clone is without {distribution(name)}/")
    fault = fault_of(ROOT, name)
    assert not fault, f"{promise}: {name} {fault}; name the test that keeps the promise in promises.py"


def test_every_promise_has_a_test():
    assert [promise for promise, (_, *names) in PROMISES.items() if not names] == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("def test_it(): pass", ""),
        ("async def test_it(): pass", ""),
        ("@pytest.mark.skipif(not RAY, reason='needs Ray')\ndef test_it(): pass", ""),
        ("def test_it():\n    if not RAY:\n        pytest.skip('needs Ray')", ""),
        ("def test_another(): pass", "is not there"),
        ("def other():\n    def test_it(): pass", "is not there"),
        ("@pytest.mark.skip\ndef test_it(): pass", "is skipped everywhere, or may fail"),
        ("@pytest.mark.xfail(reason='later')\ndef test_it(): pass", "is skipped everywhere, or may fail"),
        ("def test_it():\n    pytest.skip('later')", "is skipped everywhere, or may fail"),
        ("pytestmark = [pytest.mark.skip]\ndef test_it(): pass", "is skipped everywhere, or may fail"),
        ("pytest.skip('later', allow_module_level=True)\ndef test_it(): pass", "is skipped everywhere, or may fail"),
    ],
)
def test_a_python_test_that_is_not_run_is_found(tmp_path, text, fault):
    (tmp_path / "test_a.py").write_text(text)
    assert fault_of(tmp_path, "test_a.py::test_it") == fault
    (tmp_path / "test_a.py").rename(tmp_path / "a.py")
    assert fault_of(tmp_path, "a.py::test_it") == "is not there"


@pytest.mark.parametrize(
    ("text", "sources", "fault"),
    [
        ("TEST(Suite, Name) {\n  EXPECT_TRUE(true);", "a/a_test.cc", ""),
        ("TEST_F(Suite, Name) { EXPECT_TRUE(true); }", "b_test.cc\n  a/a_test.cc)", ""),
        ("TEST(Suite, NameOfAnother) {", "a/a_test.cc", "is not there"),
        ("TEST(Suite, DISABLED_Name) {", "a/a_test.cc", "is not there"),
        ("// TEST(Suite, Name) {", "a/a_test.cc", "is not there"),
        ("TEST(Suite, Name) {\n  GTEST_SKIP();", "a/a_test.cc", "is skipped everywhere, or may fail"),
        ("TEST(Suite, Name) {", "b_test.cc", "is not built"),
    ],
)
def test_a_googletest_that_is_not_run_is_found(tmp_path, text, sources, fault):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/a_test.cc").write_text(text)
    (tmp_path / "CMakeLists.txt").write_text(f"add_executable(tests\n  {sources})")
    assert fault_of(tmp_path, "a/a_test.cc::Suite.Name") == fault


def commands():
    """`weir X` of every command, those of papers too, and `make X` of every target."""

    def words(command, name):
        if not hasattr(command, "list_commands"):
            return {name}
        below = {word: command.get_command(None, word) for word in command.list_commands(None)}
        return {found for word, one in below.items() for found in words(one, f"{name} {word}")}

    targets = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return words(typer.main.get_command(build_app()), "weir") | {f"make {target}" for target in targets}


def test_every_promise_has_a_command():
    pytest.importorskip("weir_papers")
    lacking = {command for command, *_ in PROMISES.values()} - commands()
    assert not lacking


def test_every_paper_is_repeated():
    papers = pytest.importorskip("weir_papers.repeat")
    names = {path.parent.name for path in (ROOT / "papers/weir_papers").glob("*/claims.py")}
    assert {one.name for one in papers.REPETITIONS} == names == {"mocc", "recoco", "muses", "mvfst", "polycc"}
    for one in papers.REPETITIONS:
        assert all(claim.key.startswith(f"{one.name}/") for claim in one.claims)
        assert len({claim.key for claim in one.claims}) == len(one.claims)
