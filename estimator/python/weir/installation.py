"""How this copy of Weir came here, and so how to get what it lacks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

from weir.errors import MissingComponent

# Name of the Python distribution; on the package index `weir` is another project.
DISTRIBUTION = "weir-bwe"
# The extra `train` of pyproject.toml: needed to train and to export, never to run.
TRAINING_PACKAGES = ("torch", "stable-baselines3", "sb3-contrib", "tensorboard", "optuna")
# The extra `trees`, by their names as modules and on the package index.
TREE_PACKAGES = {"sklearn": "scikit-learn"}
# The same for the extra `call`: needed to score the speech of a call.
SPEECH_PACKAGES = {"visqol": "visqol-python", "ai_edge_litert": "ai-edge-litert"}


def installed_version() -> str | None:
    """The version of the distribution; nothing when Weir runs without having been installed."""
    try:
        return distribution(DISTRIBUTION).version
    except PackageNotFoundError:
        return None


def source_tree() -> Path | None:
    """The folder that this Weir runs from, when it was installed as `make` does; nothing for a wheel."""
    try:
        origin = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return None
    if not origin.get("dir_info", {}).get("editable"):
        return None
    return Path(unquote(urlsplit(origin["url"]).path))


def how_to_get(target: str, *packages: str) -> str:
    """The command that installs missing packages.

    Args:
        target: the target of Weir's Makefile that brings it.
        packages: what brings it into an environment that a wheel was installed into, where there are such packages:
            names on the package index.
    """
    tree = source_tree()
    if tree is None and packages:
        return f"`pip install {' '.join(packages)}`"
    return f"`make {target}` in {tree or 'the source tree of Weir'}"


def require_training() -> None:
    """Raises a MissingComponent that names the missing packages of the extra `train`."""
    _require({name.replace("-", "_"): name for name in TRAINING_PACKAGES})


def require_trees() -> None:
    """The same for the extras `train` and `trees`."""
    require_training()
    _require(TREE_PACKAGES)


def require_distributed() -> None:
    """Raises a MissingComponent when this environment has no Ray."""
    if find_spec("ray") is None:
        raise MissingComponent(
            f"Ray is not installed here: {how_to_get('distributed', 'ray[rllib]')} brings it; then use the `weir` of "
            "that environment"
        )


def _require(packages: Mapping[str, str]) -> None:
    missing = [name for module, name in packages.items() if find_spec(module) is None]
    if missing:
        raise MissingComponent(
            f"training needs Python packages that are not installed, {', '.join(missing)}: "
            f"{how_to_get('train', *missing)} brings them"
        )
