"""Detects how Weir was installed, and so how to install missing components."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from weir_cli.errors import MissingComponent

DISTRIBUTION: Final = "weir-cli"
# Weir's distributions with packages that one target of the Makefile installs; the name of that target.
TARGETS: Final = {
    "weir-eval": "build",
    "weir-calls": "webrtc",
    "weir-train[learning]": "train",
    "weir-sim[distributed]": "distributed",
}
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?:\[(?P<extras>[^]]*)\])?[^;]*(?:;.*extra == ['\"](?P<of>[\w-]+)['\"])?")


def installed_version() -> str | None:
    """Returns the version of the command's distribution; None if it is not installed."""
    try:
        return distribution(DISTRIBUTION).version
    except PackageNotFoundError:
        return None


def source_tree() -> Path | None:
    """Returns the source folder of an editable installation, as made by `make`; None for a wheel."""
    try:
        origin = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return None
    if not origin.get("dir_info", {}).get("editable"):
        return None
    return Path(unquote(urlsplit(origin["url"]).path)).parent


def how_to_get(target: str, *packages: str) -> str:
    """Returns the command that installs missing packages.

    Args:
        target: the target of Weir's Makefile that installs them.
        packages: their names on the package index, for an environment with an installed wheel.
    """
    tree = source_tree()
    if tree is None and packages:
        return f"`pip install {' '.join(packages)}`"
    return f"`make {target}` in {tree or 'the source tree of Weir'}"


def packages_of(requirement: str) -> list[str]:
    """Returns the packages of other projects that a distribution of Weir needs, directly or through Weir's others.

    Args:
        requirement: its name, or the name with an extra, `NAME[EXTRA]`; names of packages are those on the index.
    """
    found: dict[str, None] = {}
    _collect(requirement, found, set())
    return list(found)


def _collect(requirement: str, found: dict[str, None], seen: set[str]) -> None:
    if requirement in seen:
        return
    seen.add(requirement)
    name, _, extra = requirement.rstrip("]").partition("[")
    try:
        requirements = distribution(name).requires or []
    except PackageNotFoundError:
        return
    for needed in map(_REQUIREMENT.match, requirements):
        if needed is None or needed["of"] not in (None, extra):
            continue
        if not needed["name"].startswith("weir-"):
            found[needed["name"]] = None
            continue
        for included in (needed["extras"] or "").split(","):
            _collect(f"{needed['name']}[{included.strip()}]" if included else needed["name"], found, seen)


def require(requirement: str) -> None:
    """Raises a MissingComponent that names the missing packages of a row of TARGETS."""
    missing = [name for name in packages_of(requirement) if not _is_installed(name)]
    if missing:
        raise _missing(requirement, missing)


def missing_module(module: str) -> MissingComponent:
    """Returns the error for a command that cannot import `module`, of another project or of Weir's distributions."""
    name = module.partition(".")[0].replace("_", "-")
    if name.startswith("weir-"):
        return missing_distribution("this needs", name)
    requirement = next((row for row in TARGETS if name in packages_of(row)), "weir-eval")
    others = (package for package in packages_of(requirement) if not _is_installed(package))
    return _missing(requirement, dict.fromkeys([name, *others]))


def missing_distribution(wanted: str, name: str) -> MissingComponent:
    """Returns the error for a part of Weir that is not installed. `wanted`: what needs it, with the verb."""
    # Without the name of a package for pip: on the index it may be somebody else's.
    return MissingComponent(f"{wanted} the package {name}: {how_to_get(TARGETS.get(name, 'build'))} installs it")


def _missing(requirement: str, packages: Iterable[str]) -> MissingComponent:
    return MissingComponent(
        f"this needs Python packages of {requirement} that are not installed, {', '.join(packages)}: "
        f"{how_to_get(TARGETS[requirement], *packages)} brings them"
    )


def _is_installed(package: str) -> bool:
    try:
        return bool(distribution(package))
    except PackageNotFoundError:
        return False
