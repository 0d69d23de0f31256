"""The components of Weir on a machine, for `weir doctor`.

Each distribution may register a function without arguments that yields its components, as an entry point of the group
`weir.components`.
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from weir_cli.errors import MissingComponent
from weir_cli.installation import TARGETS, how_to_get, installed_version, packages_of, source_tree

# "run": Weir does not work without it. "build": needed to build Weir. "train", "test", "calls": needed only for these.
Need = Literal["run", "build", "train", "test", "calls"]

# The need for the packages of each row of TARGETS.
_NEEDS: dict[str, Need] = {"weir-eval": "run", "weir-calls": "calls", "weir-train[learning]": "train"}
_TEST_PACKAGES = ("mypy", "pytest", "ruff")
_BUILD_PROGRAMS: tuple[tuple[str, str, str], ...] = (
    ("g++", "compiler", "apt-get install g++"),
    ("cmake", "CMake", "apt-get install cmake"),
    ("ninja", "Ninja", "apt-get install ninja-build"),
)


@dataclass(frozen=True)
class Component:
    """`found`: its version; None if it is missing, and then `remedy` has the cause or the command."""

    name: str
    need: Need
    found: str | None
    remedy: str = ""

    @property
    def required(self) -> bool:
        """True if Weir does not work without it."""
        return self.need == "run"


def components() -> Iterator[Component]:
    """The components that every distribution needs, and the packages of other projects."""
    installed = installed_version()
    found = installed and f"{installed}, {source_tree() or 'from a wheel'}"
    yield Component("weir (this)", "run", found, how_to_get("build"))
    yield _operating_system()
    yield Component("Python", "run", platform.python_version())
    needs: dict[str, Need] = {}
    for requirement, need in _NEEDS.items():
        needs |= {name: need for name in packages_of(requirement) if name not in needs}
    targets = {need: TARGETS[requirement] for requirement, need in _NEEDS.items()} | {"test": "build-test"}
    needs |= dict.fromkeys(_TEST_PACKAGES, "test")
    for name, need in needs.items():
        yield Component(f"Python package {name}", need, package_version(name), how_to_get(targets[need], name))
    for program, label, remedy in _BUILD_PROGRAMS:
        yield Component(label, "build", program_version(program), remedy)


def found_or_missing(name: str, need: Need, find: Callable[[], str]) -> Component:
    """The component that `find` describes; missing, with its message, where it raises MissingComponent."""
    try:
        return Component(name, need, find())
    except MissingComponent as error:
        return Component(name, need, None, str(error))


def found_program(name: str, need: Need, find: Callable[[], Path]) -> Component:
    """The program at the path that `find` returns, with its version; missing where `find` raises MissingComponent."""

    def version_and_path() -> str:
        path = str(find())
        return ", ".join(filter(None, (program_version(path), path)))

    return found_or_missing(name, need, version_and_path)


def package_version(name: str) -> str | None:
    """The version of an installed distribution; None if it is missing."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def program_version(program: str) -> str | None:
    """Returns the version that `program --version` prints; None without the program."""
    path = shutil.which(program)
    if path is None:
        return None
    try:
        output = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r"\d+(?:\.\d+)+", output)
    return found[0] if found else output.strip().splitlines()[0]


def debian_version(package: str) -> str | None:
    """The version of an installed Debian package; None if it is missing."""
    if not Path("/usr/bin/dpkg-query").exists():
        return None
    queried = subprocess.run(
        ["/usr/bin/dpkg-query", "-W", "-f=${Status}|${Version}", package],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    status, _, found = queried.stdout.partition("|")
    return found if status == "install ok installed" else None


def _operating_system() -> Component:
    try:
        release = platform.freedesktop_os_release()
        name = release["PRETTY_NAME"]
        if (release["ID"], release.get("VERSION_ID")) == ("debian", "13"):
            name += "; calls need Debian 12 or the image weir-call, see docker/README.md"
    except (OSError, KeyError):
        name = platform.platform()
    return Component("operating system", "run", name)
