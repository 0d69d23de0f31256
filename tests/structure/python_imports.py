"""Which module of Weir imports which, read from the source; and the rules that these imports keep."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path


@dataclass(frozen=True)
class Import:
    """`importer` imports `imported`, both modules by their whole names."""

    importer: str
    imported: str
    file: str
    line: int
    # False inside a function, and where it is for type checkers alone.
    at_module_level: bool = True

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.importer} imports {self.imported}"


def find_modules(root: Path, packages: Mapping[str, str]) -> dict[str, Path]:
    """Every module below the folders `packages`, by its name; a package is the module of its `__init__.py`."""
    modules = {}
    for folder, package in packages.items():
        for path in sorted((root / folder).rglob("*.py")):
            parts = path.relative_to(root / folder).with_suffix("").parts
            modules[".".join([package, *(part for part in parts if part != "__init__")])] = path
    return modules


def read_imports(modules: Mapping[str, Path], root: Path) -> list[Import]:
    """The imports between `modules`, wherever in a file they stand: in a function, or for type checkers, too."""
    found = []
    for importer, path in modules.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            for imported in _imported(node):
                # `from weir.a import b`: b is a module of the package a, or a name in the module a.
                target = imported if imported in modules else imported.rpartition(".")[0]
                if target in modules and target != importer:
                    place = str(path.relative_to(root)), node.lineno, node in tree.body
                    found.append(Import(importer, target, *place))
    return found


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_in(module: str, package: str) -> bool:
    """Returns True for the package itself, and for a module in it."""
    return module == package or module.startswith(package + ".")


def upward_imports(imports: Iterable[Import], layers: Sequence[Sequence[str]]) -> list[Import]:
    """The imports of a layer from one above it or beside it. `layers`: the highest first, each of packages that do not
    know one another.
    """
    rank = {package: number for number, layer in enumerate(layers) for package in layer}

    def layer_of(module: str) -> str:
        return max((package for package in rank if is_in(module, package)), key=len, default="")

    return [
        one
        for one in imports
        if (above := layer_of(one.importer))
        and (below := layer_of(one.imported))
        and above != below
        and rank[above] >= rank[below]
    ]


def sibling_cycles(imports: Iterable[Import], packages: Iterable[str]) -> list[list[Import]]:
    """For each package one circle, if there is any, that leads through the modules and packages directly in it; one
    import for each step. An import from the package itself, out of something in it, is a circle too.
    """
    imports = list(imports)
    cycles = []
    for package in sorted(packages):
        steps: dict[str, dict[str, Import]] = {}
        for one in imports:
            if is_in(one.importer, package) and is_in(one.imported, package):
                importer, imported = _child(one.importer, package), _child(one.imported, package)
                if importer != imported:
                    steps.setdefault(importer, {}).setdefault(imported, one)
        try:
            TopologicalSorter(steps).prepare()
        except CycleError as error:
            cycles.append([steps[importer][imported] for imported, importer in pairwise(error.args[1])])
    return cycles


def _child(module: str, package: str) -> str:
    return module if module == package else package + "." + module[len(package) + 1 :].partition(".")[0]


@dataclass(frozen=True)
class Distribution:
    """The package of a folder with a `pyproject.toml`, Weir's distributions that it needs, and those of its extras."""

    folder: Path
    package: str
    needs: frozenset[str]
    optional: frozenset[str]


def read_distributions(root: Path) -> dict[str, Distribution]:
    """The distributions of a workspace by name."""
    found = {}
    for path in sorted(root.glob("*/pyproject.toml")):
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        project, tool = document["project"], document["tool"]
        wheel = tool["hatch"]["build"]["targets"]["wheel"] if "hatch" in tool else tool["scikit-build"]["wheel"]
        (package,) = wheel["packages"]
        extras = [needed for extra in project.get("optional-dependencies", {}).values() for needed in extra]
        found[project["name"]] = Distribution(
            path.parent / package, Path(package).name, _own(project["dependencies"]), _own(extras)
        )
    return found


def _own(requirements: Iterable[str]) -> frozenset[str]:
    names = (re.match(r"[\w-]+", needed)[0] for needed in requirements)
    return frozenset(name for name in names if name.startswith("weir-"))


def closure(distributions: Mapping[str, Distribution], name: str) -> set[str]:
    """The distributions that `name` needs, directly or through others."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for needed in distributions[waiting.pop()].needs - found:
            found.add(needed)
            waiting.append(needed)
    return found
