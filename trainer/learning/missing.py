"""Optional dependencies: torch and stable-baselines3 are needed to train and to export, never to run."""

from __future__ import annotations

from importlib.util import find_spec

from weir.errors import MissingComponent
from weir.installation import how_to_get

# The extra `train` of pyproject.toml.
TRAINING_PACKAGES = ("torch", "stable-baselines3", "sb3-contrib", "tensorboard")


def require_training() -> None:
    """Raises a MissingComponent that says what to install when something of the extra `train` is not there."""
    missing = [name for name in TRAINING_PACKAGES if find_spec(name.replace("-", "_")) is None]
    if missing:
        raise MissingComponent(
            f"training needs Python packages that are not installed, {', '.join(missing)}: "
            f"{how_to_get('train', *missing)} brings them"
        )
