"""Curricula over the traces of a training: ReCoCo's orders (section VI-C), and one that adapts to the policy during
training.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from weir_cli.errors import InputError
from weir_cli.files.output import write_text
from weir_eval.measures.families import GCC, ORACLE
from weir_train.configuration.scenarios import ScenarioSampler
from weir_train.configuration.training import TrainingConfiguration
from weir_train.gym.rewards import OF_RENDERED_FRAMES, Reward, challenge, resolve_reward
from weir_train.gym.sb3 import BottleneckVecEnv
from weir_train.gym.step import StepRecord
from weir_train.learning.evaluation import evaluation_objective
from weir_train.learning.reference_runs import reference_runs

# Adaptive gap: share of uniform draws, and weight of the newest episode.
FLOOR: Final = 0.3
SMOOTHING: Final = 0.3
CURRICULUM: Final = "curriculum.json"


class Curriculum(Protocol):
    """Decides how traces are drawn."""

    def probabilities(self, share: float) -> np.ndarray:
        """Returns those of the traces, float64 of shape (traces,), sum 1, after the share `share` (0 to 1) of steps."""

    def finished(self, trace: int, mean_reward: float, objective: np.ndarray) -> None:
        """Reports the end of an episode: the index of its trace, its mean reward per step, and the objective in force,
        shape (3,).
        """

    def state(self) -> dict[str, np.ndarray]:
        """Returns the state that episodes have changed, as finite arrays."""

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Sets the state.

        Raises:
            ValueError, KeyError: it is of another curriculum.
        """


class OrderedTraces:
    """Draws one trace after the other, each for the same share of the steps.

    Args:
        order: the index of each trace once.
    """

    def __init__(self, order: Sequence[int]) -> None:
        self.order = list(order)

    def probabilities(self, share: float) -> np.ndarray:
        """See `Curriculum`."""
        count = len(self.order)
        # The small addition makes the first step of a share belong to it despite rounding.
        stage = min(int(share * count + 1e-9), count - 1)
        return np.asarray(np.eye(count)[self.order[stage]])

    def finished(self, trace: int, mean_reward: float, objective: np.ndarray) -> None:
        """See `Curriculum`; changes nothing."""

    def state(self) -> dict[str, np.ndarray]:
        """See `Curriculum`; there is none."""
        return {}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """See `Curriculum`; there is none."""


class AdaptiveGap:
    """Draws traces in proportion to the present gap between the policy and the baseline (Xia et al., "Genet", SIGCOMM
    2022).

    The gap of a trace is the baseline's mean reward minus the policy's under the same objective, a moving average over
    episodes; below 0 it counts as 0. A trace without an episode counts like the one with the largest gap. `FLOOR` of
    the draws are uniform, so that no trace is forgotten; without any gap all are.

    Args:
        baselines: the baseline's run on every trace, each of shape (steps,).
        reward: of the training.
    """

    def __init__(self, baselines: Sequence[StepRecord], reward: Reward) -> None:
        self._baselines = list(baselines)
        self._reward = reward
        self.gaps = np.full(len(self._baselines), np.nan)

    def probabilities(self, share: float) -> np.ndarray:
        """See `Curriculum`."""
        even = np.full(len(self.gaps), 1.0 / len(self.gaps))
        known = np.isfinite(self.gaps)
        weights = np.where(known, np.maximum(self.gaps, 0.0), np.max(self.gaps[known], initial=0.0))
        total = weights.sum()
        return even if total <= 0 else FLOOR * even + (1.0 - FLOOR) * weights / total

    def finished(self, trace: int, mean_reward: float, objective: np.ndarray) -> None:
        """See `Curriculum`."""
        gap = mean_of(self._reward, self._baselines[trace], objective) - mean_reward
        old = self.gaps[trace]
        self.gaps[trace] = old + SMOOTHING * (gap - old) if np.isfinite(old) else gap

    def state(self) -> dict[str, np.ndarray]:
        """See `Curriculum`."""
        known = np.isfinite(self.gaps)
        return {"known": known, "gaps": np.where(known, self.gaps, 0.0)}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """See `Curriculum`."""
        known, gaps = state["known"].astype(bool), state["gaps"]
        if not known.shape == gaps.shape == self.gaps.shape:
            raise ValueError(f"gaps of {gaps.shape} traces, not {self.gaps.shape}")
        self.gaps = np.where(known, gaps, np.nan)


@dataclass(frozen=True)
class TraceValues:
    """References of a trace: the oracle's mean training reward per step, and the scores of GCC and the oracle: their
    means of the reward `challenge`, of which the oracle's is about the maximum.
    """

    name: str
    reward: float
    gcc: float
    oracle: float

    @property
    def gap(self) -> float:
        """Gap between GCC and the oracle."""
        return self.oracle - self.gcc


def mean_of(reward: Reward, record: StepRecord, objective: Sequence[float] | np.ndarray) -> float:
    """Returns the mean reward of a run under an objective."""
    objectives = np.broadcast_to(np.asarray(objective, dtype=np.float64), (*record.values.shape[:-1], 3))
    return float(np.mean(reward(record, objectives)))


def order_of(curriculum: str, values: Sequence[TraceValues]) -> list[int]:
    """Returns the indices of the traces in the order "reward", by ascending reward of the oracle, or "gap", by
    descending gap: first the traces with the most to gain. Equal ones keep their order.

    ReCoCo uses the reward and the score of a model that was trained only on the trace; here the oracle replaces it.
    """
    keys = [trace.reward if curriculum == "reward" else -trace.gap for trace in values]
    return sorted(range(len(keys)), key=keys.__getitem__)


def make_curriculum(
    configuration: TrainingConfiguration,
    documents: Sequence[Mapping[str, Any]],
    folder: Path,
    simulator: str | os.PathLike[str] | None = None,
) -> Curriculum | None:
    """Makes the curriculum of a configuration; None for "random", which draws scenarios uniformly. Runs the references,
    and writes them to `curriculum.json` in the folder, in the order of training if there is one.

    Raises:
        InputError, ComponentFailed: as `reference_runs`, or the reward needs rendered frames, which these runs lack.
    """
    name = configuration.curriculum
    if name == "random":
        return None
    environment = configuration.environment
    if environment.reward in OF_RENDERED_FRAMES:
        raise InputError(
            f"curriculum {name!r}: its reference runs have no rendered frames for the reward "
            f"{environment.reward!r}: use the curriculum 'random'"
        )
    reward = resolve_reward(environment.reward, environment.stack)
    runs = reference_runs(
        documents,
        (GCC, ORACLE),
        seed=configuration.seed,
        interval_ms=environment.interval_ms,
        simulator=simulator,
    )
    objective = evaluation_objective(configuration)
    values = [
        TraceValues(
            str(document["name"]),
            mean_of(reward, oracle, objective),
            mean_of(challenge, gcc, objective),
            mean_of(challenge, oracle, objective),
        )
        for document, gcc, oracle in zip(documents, runs[GCC], runs[ORACLE], strict=True)
    ]
    order = range(len(values)) if name == "adaptive_gap" else order_of(name, values)
    traces = [asdict(values[index]) | {"gap": values[index].gap} for index in order]
    write_text(folder / CURRICULUM, json.dumps({"curriculum": name, "traces": traces}, indent=1) + "\n")
    return AdaptiveGap(runs[GCC], reward) if name == "adaptive_gap" else OrderedTraces(order)


class TraceCurriculum(BaseCallback):
    """Sets the sampler's probabilities before the steps of every update, and reports finished episodes.

    When the probability of a trace in use becomes 0, all environments start new episodes; the learner keeps its state
    and replay buffer. The probabilities are logged as `curriculum/NAME`.

    Args:
        sampler: of the environments.
        curriculum: of the sampler's traces.
        first_step: steps done when this curriculum starts.
        last_step: steps done at its end.
    """

    def __init__(self, sampler: ScenarioSampler, curriculum: Curriculum, first_step: int, last_step: int) -> None:
        super().__init__()
        self._sampler = sampler
        self._curriculum = curriculum
        self._first_step, self._steps = first_step, max(1, last_step - first_step)
        self._current: list[int] = []

    def prepare(self, step: int) -> None:
        """Sets the probabilities after `step` steps, before episodes are drawn."""
        share = min(1.0, max(0.0, (step - self._first_step) / self._steps))
        self._sampler.probabilities = self._curriculum.probabilities(share)

    def _on_training_start(self) -> None:
        self._current = self._traces()

    def _on_rollout_start(self) -> None:
        self.prepare(self.num_timesteps)
        probabilities = self._sampler.probabilities
        assert probabilities is not None
        for document, probability in zip(self._sampler.documents, probabilities, strict=True):
            self.logger.record(f"curriculum/{document['name']}", float(probability))
        if np.all(probabilities[self._current] > 0):
            return
        # stable-baselines3 does the same at the start, with fresh environments.
        self.model._last_obs = np.asarray(self._environment.reset())
        self.model._last_episode_starts = np.ones(self._environment.num_envs, dtype=bool)
        self._current = self._traces()

    def _on_step(self) -> bool:
        size = self._environment.environment.specification.observation_size
        infos = self.locals["infos"]
        ended = [index for index, info in enumerate(infos) if "episode" in info]
        for index in ended:
            objective = infos[index]["terminal_observation"][size : size + 3]
            self._curriculum.finished(self._current[index], infos[index]["episode"]["r"], objective)
        if ended:
            self._current = self._traces()
        return True

    @property
    def _environment(self) -> BottleneckVecEnv:
        assert isinstance(self.training_env, BottleneckVecEnv)
        return self.training_env

    def _traces(self) -> list[int]:
        episodes = self._environment.environment.episodes
        return [self._sampler.index_of(episode.scenario) for episode in episodes if episode is not None]
