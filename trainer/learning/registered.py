"""An algorithm that another distribution registers; see `TrainingConfiguration`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from weir.trainer.configuration.training import TrainingConfiguration
from weir.trainer.policies.recurrent import RecurrentPolicy


class Learner(Protocol):
    """The module of an algorithm. The checkpoint's `algorithm` is the configuration's."""

    PACKAGES: Sequence[str]
    """Those whose versions are recorded."""

    def make_policy(self, configuration: Any) -> RecurrentPolicy:
        """An untrained policy alone."""

    def train(
        self,
        configuration: Any,
        checkpoint: Path,
        *,
        resume: bool,
        simulator: str | os.PathLike[str] | None,
        on_progress: Callable[[Any], None] | None,
    ) -> tuple[int, bool, float]:
        """Trains and writes the checkpoint. Returns the environment steps, whether Ctrl-C interrupted it, and the mean
        reward of the last part. `on_progress` gets a `TrainingProgress`.
        """

    def origin(self, configuration: Any) -> dict[str, Any]:
        """Entries of the provenance that are recorded when a run begins."""

    def description(self, configuration: Any, done: str) -> dict[str, Any]:
        """The entries `algorithm` and `network` of the provenance, after so many steps in words."""


def learner_of(configuration: TrainingConfiguration) -> Learner | None:
    """The learner that a configuration names; None for one of Weir's own algorithms."""
    return cast(Learner, import_module(configuration.learner)) if configuration.learner else None
