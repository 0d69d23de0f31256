"""Controllers are listed in their registry alone: every other list, table and color follows it (weir.registry)."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

from weir.registry import CONTROLLERS

ROOT = Path(__file__).parents[2]
REGISTRY = "estimator/src/registry.h"
# A comparison, a suite or a factory of one host names some of them; a copy of the registry names nearly all.
MOST_NAMES = len(CONTROLLERS) * 2 // 3
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
LITERAL = re.compile(r"""(["'`])([a-z-]+)\1|--c-([a-z-]+)""")


def controllers_in(path: Path) -> set[str]:
    """Names of controllers that are string literals, or color variables, of a source file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        literals = {node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)}
    else:
        literals = {plain or color for _, plain, color in LITERAL.findall(COMMENT.sub("", text))}
    return {name.removeprefix("--c-") for name in literals if isinstance(name, str)} & {*CONTROLLERS}


def test_no_file_but_the_registry_lists_the_controllers() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("no clone")
    paths = (path for path in listed.stdout.split("\0") if re.search(r"\.(py|js|css|html|cc|h|c)$", path))
    named = {path: controllers_in(ROOT / path) for path in paths if not re.match(r"tests/|plugins/.*/tests/", path)}
    assert named.pop(REGISTRY) == {*CONTROLLERS}
    lists = {path: sorted(names) for path, names in named.items() if len(names) > MOST_NAMES}
    assert not lists, f"read the names from the registry (weir.registry, registry.h): {lists}"
