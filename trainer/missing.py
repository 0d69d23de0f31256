"""Optional dependencies: torch and stable-baselines3 are needed to train and to export, never to run."""

from __future__ import annotations

from importlib.util import find_spec

from weir.traces.errors import MissingComponent

TRAINING_MODULES = ("torch", "stable_baselines3")


def require_training() -> None:
    """Raises a MissingComponent that says what to install when the `train` extra is not."""
    missing = [name for name in TRAINING_MODULES if find_spec(name) is None]
    if missing:
        raise MissingComponent(
            f"{' and '.join(missing)} not installed: training needs the extra `train` (pip install 'weir[train]')"
        )
