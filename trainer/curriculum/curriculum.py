"""Curricula over traces: ReCoCo's three orders (section VI-C), and one that needs no model per trace."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from weir.errors import InputError
from weir.trainer.configuration.curriculum import TraceValues
from weir.trainer.configuration.training import TrainingConfiguration
from weir.trainer.curriculum.baseline import run_baseline
from weir.trainer.gym.rewards import Reward, resolve_reward
from weir.trainer.gym.step import StepRecord

# From a scenario document to what is known of it.
TraceValuesSource = Callable[[Mapping[str, Any]], TraceValues]


class Curriculum(Protocol):
    """Decides how traces are drawn."""

    def probabilities(self, share: float) -> np.ndarray:
        """Of every trace, float64 of shape (traces,) and sum 1, when `share` (0 to 1) of all steps are done."""

    def finished(self, trace: int, mean_reward: float, objective: np.ndarray) -> None:
        """An episode ended.

        Args:
            trace: its index.
            mean_reward: a step, under the policy as it learns.
            objective: that was in force at its end, shape (3,).
        """


class RandomTraces:
    """Every trace as often as any other."""

    def __init__(self, count: int) -> None:
        self._probabilities = np.full(count, 1.0 / count)

    def probabilities(self, share: float) -> np.ndarray:
        """See `Curriculum`."""
        return self._probabilities

    def finished(self, trace: int, mean_reward: float, objective: np.ndarray) -> None:
        """See `Curriculum`; changes nothing."""


class OrderedTraces:
    """One trace after the other, each for the same share of the steps, none twice."""

    def __init__(self, order: Sequence[int]) -> None:
        self.order = list(order)

    def probabilities(self, share: float) -> np.ndarray:
        """See `Curriculum`."""
        count = len(self.order)
        stage = min(int(share * count + 1e-9), count - 1)
        return np.eye(count)[self.order[stage]]

    def finished(self, trace: int, mean_reward: float, objective: np.ndarray) -> None:
        """See `Curriculum`; changes nothing."""


class AdaptiveGap:
    """Draws traces in proportion to how far the policy, as it is now, stays behind the baseline there.

    The gap of a trace is the baseline's mean reward less the policy's, under the same objective, averaged over
    finished episodes with exponential forgetting; below 0 it counts as 0. A trace without an episode yet counts like
    the worst that is known. A floor is spread evenly, so that no trace is forgotten; without any gap all is.
    """

    def __init__(self, baselines: Sequence[StepRecord], reward: Reward, floor: float, smoothing: float) -> None:
        """
        Args:
            baselines: the baseline's run on every trace, each of shape (steps,).
            reward: that the policy is trained on.
            floor: share of the draws that is spread evenly.
            smoothing: weight of the newest episode.
        """
        self._baselines = list(baselines)
        self._reward = reward
        self._floor = floor
        self._smoothing = smoothing
        self.gaps = np.full(len(self._baselines), np.nan)

    def probabilities(self, share: float) -> np.ndarray:
        """See `Curriculum`."""
        count = len(self.gaps)
        known = np.isfinite(self.gaps)
        weights = np.where(known, np.maximum(self.gaps, 0.0), np.max(self.gaps[known], initial=0.0))
        total = weights.sum()
        even = np.full(count, 1.0 / count)
        return even if total <= 0 else self._floor * even + (1.0 - self._floor) * weights / total

    def finished(self, trace: int, mean_reward: float, objective: np.ndarray) -> None:
        """See `Curriculum`."""
        record = self._baselines[trace]
        objectives = np.broadcast_to(np.asarray(objective, dtype=np.float64), (*record.values.shape[:-1], 3))
        gap = float(np.mean(self._reward(record, objectives))) - mean_reward
        old = self.gaps[trace]
        self.gaps[trace] = old + self._smoothing * (gap - old) if np.isfinite(old) else gap


def make_curriculum(
    configuration: TrainingConfiguration,
    documents: Sequence[Mapping[str, Any]],
    source: TraceValuesSource | None = None,
    simulator: str | os.PathLike[str] | None = None,
) -> Curriculum | None:
    """The curriculum a configuration asks for; None where scenarios come from the random domain.

    For `adaptive_gap` the baseline is run once on every trace here.

    Args:
        configuration: what is trained.
        documents: the traces' scenarios.
        source: see `order_of_traces`.
        simulator: path of `weir-sim`; see `find_simulator`.

    Raises:
        InputError: see `order_of_traces` and `run_baseline`.
        SimulatorError: see `run_baseline`.
    """
    if not documents:
        return None
    if configuration.curriculum == "random":
        return RandomTraces(len(documents))
    if configuration.curriculum in ("reward", "gap"):
        return OrderedTraces(order_of_traces(configuration, documents, source))
    settings, environment = configuration.adaptive_gap, configuration.environment
    baselines = run_baseline(
        documents,
        settings.baseline,
        seed=configuration.seed,
        interval_ms=environment.interval_ms,
        timeout_s=settings.timeout_s,
        simulator=simulator,
    )
    return AdaptiveGap(baselines, resolve_reward(environment.reward), settings.floor, settings.smoothing)


def order_of_traces(
    configuration: TrainingConfiguration,
    documents: Sequence[Mapping[str, Any]],
    source: TraceValuesSource | None = None,
) -> list[int]:
    """Indices of the traces in the order of a `reward` or `gap` curriculum.

    `reward`: ascending by reward. `gap`: descending by score less baseline. Equal ones stay in the order given.

    Args:
        configuration: whose `curriculum` and `trace_values` count.
        documents: the traces' scenarios.
        source: asked instead of `trace_values`.

    Raises:
        InputError: a value is missing; the message names every trace that lacks one.
    """
    names = [str(document["name"]) for document in documents]
    unknown = sorted(set(configuration.trace_values) - set(names))
    if unknown:
        raise InputError(f"trace_values: no scenario is named {', '.join(unknown)}; there are {', '.join(names)}")
    nothing = TraceValues()
    values = [
        configuration.trace_values.get(name, nothing) if source is None else source(document)
        for name, document in zip(names, documents, strict=True)
    ]
    keys: list[float | None]
    if configuration.curriculum == "reward":
        needed, keys = "a reward", [value.reward for value in values]
    else:
        needed = "a score and a baseline"
        keys = [
            None if value.score is None or value.baseline is None else value.baseline - value.score for value in values
        ]
    missing = [name for name, key in zip(names, keys, strict=True) if key is None]
    if missing:
        raise InputError(
            f"curriculum {configuration.curriculum}: needs {needed} in trace_values for {', '.join(missing)}"
        )
    return sorted(range(len(names)), key=lambda index: keys[index] or 0.0)
