"""Detects how Weir was installed, and so how to install missing components."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import weir._core
from weir.errors import MissingComponent

# Name of the Python distribution; on the package index `weir` is another project.
DISTRIBUTION: Final = "weir-bwe"
# The extras of pyproject.toml, each with the target of the Makefile that installs it.
EXTRAS: Final = {"bench": "build", "call": "webrtc", "train": "train", "distributed": "distributed"}
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?:\[(?P<extras>[^]]*)\])?.*extra == ['\"](?P<of>[\w-]+)['\"]")


def shipped_model() -> Path:
    """Returns the ONNX file of the shipped model.

    Raises:
        MissingComponent: this copy of Weir has none.
    """
    path = Path(weir._core.__file__).with_name("weir.onnx")
    if not path.is_file():
        raise MissingComponent(f"the shipped model, {path}, is missing: {how_to_get('build')} installs it")
    return path


def installed_version() -> str | None:
    """Returns the version of the distribution; None if Weir is not installed."""
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
    return Path(unquote(urlsplit(origin["url"]).path))


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


def packages_of(extra: str) -> list[str]:
    """Returns the packages of an extra, and of the extras that it includes, by their names on the package index."""
    try:
        requirements = distribution(DISTRIBUTION).requires or []
    except PackageNotFoundError:
        return []
    found: list[str] = []
    for one in map(_REQUIREMENT.match, requirements):
        if one is None or one["of"] != extra:
            continue
        if one["name"] == DISTRIBUTION:
            found += [name for included in one["extras"].split(",") for name in packages_of(included.strip())]
        else:
            found.append(one["name"])
    return list(dict.fromkeys(found))


def require(extra: str) -> None:
    """Raises a MissingComponent that names the missing packages of an extra."""
    missing = [name for name in packages_of(extra) if not _is_installed(name)]
    if missing:
        raise _missing(extra, missing)


def missing_module(module: str) -> MissingComponent:
    """Returns the error for a command that cannot import `module` of another project."""
    name = module.partition(".")[0].replace("_", "-")
    extra = next((extra for extra in EXTRAS if name in packages_of(extra)), "bench")
    return _missing(extra, dict.fromkeys([name, *(one for one in packages_of(extra) if not _is_installed(one))]))


def _missing(extra: str, packages: Iterable[str]) -> MissingComponent:
    return MissingComponent(
        f"this needs Python packages of the extra `{extra}` that are not installed, {', '.join(packages)}: "
        f"{how_to_get(EXTRAS[extra], *packages)} brings them"
    )


def _is_installed(package: str) -> bool:
    try:
        return bool(distribution(package))
    except PackageNotFoundError:
        return False
