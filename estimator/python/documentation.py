"""Writes the docstrings of _core.pyi as C++ for documentation.cc.

documentation.py STUB OUTPUT
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path


def docstrings(body: list[ast.stmt], owner: str = "") -> Iterator[tuple[str, str]]:
    """Yields the names of classes, functions and properties, such as "Model.load", and their docstrings."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield owner + node.name, text
            if isinstance(node, ast.ClassDef):
                yield from docstrings(node.body, f"{node.name}.")


def main(stub: str, output: str) -> None:
    """Writes an entry {name, docstring} per line of an initializer list."""
    tree = ast.parse(Path(stub).read_text(encoding="utf-8"))
    entries = [f'{{"{name}", R"text({text})text"}},\n' for name, text in docstrings(tree.body)]
    Path(output).write_text("".join(entries), encoding="utf-8")


main(*sys.argv[1:])
