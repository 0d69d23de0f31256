"""Evaluation of policies on fixed scenarios, also during training."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.policies import BasePolicy

from weir_cli.files.output import replacing
from weir_sim.controllers import PRESETS
from weir_sim.objectives import checked_objective
from weir_train.configuration.scenarios import ScenarioSampler
from weir_train.configuration.training import TrainingConfiguration
from weir_train.gym.vector import BottleneckVectorEnv
from weir_train.learning.checkpoint import policy_arrays, write_checkpoint
from weir_train.learning.run_record import EVALUATIONS, read_evaluations
from weir_train.model.file import BEST_MODEL

SCENARIOS = 16
DURATION_S = 30.0
SEED = 1_000_003


class Evaluation:
    """Computes the mean reward per step of a policy without noise, over the same scenarios at every call.

    Args:
        configuration: of the environment and the scenarios; scenarios of files are drawn from them.
        scenarios: number of scenarios, with one simulator process each.
        duration_s: of each; a shorter scenario of a file is followed by another.
        documents: instead of scenarios that are drawn, these, each for its whole duration.
        simulator: path of `weir-sim`; see `find_simulator`.

    Attributes:
        steps: of each scenario, int64 of shape (scenarios,).
    """

    def __init__(
        self,
        configuration: TrainingConfiguration,
        scenarios: int = SCENARIOS,
        duration_s: float = DURATION_S,
        *,
        documents: Sequence[Mapping[str, Any]] = (),
        simulator: str | os.PathLike[str] | None = None,
    ) -> None:
        settings = configuration.environment
        domain = configuration.scenarios.model_copy(
            update={"minimum_duration_s": duration_s, "maximum_duration_s": duration_s}
        )
        # Excludes the last interval of an episode, which would start the next one. At the sender, where the length of
        # steps varies, an episode with fewer steps is completed by a few of the next.
        durations_s = [document["duration_s"] for document in documents] or [duration_s] * scenarios
        self.steps = np.maximum(1, (np.array(durations_s) * 1000 / settings.interval_ms).astype(np.int64) - 1)
        self._in_order = _InOrder(documents) if documents else None
        self._environment = BottleneckVectorEnv(
            len(durations_s),
            self._in_order or ScenarioSampler(domain, "held_out"),
            simulator=simulator,
            **settings.arguments(),
        )

    def rewards(self, policy: BasePolicy | None, objective: tuple[float, float, float]) -> np.ndarray:
        """Returns the policy's reward per step under an objective by scenario: float64 of shape (scenarios,). None: the
        action 0, which around the rule is the rule itself.
        """
        if self._in_order is not None:
            self._in_order.restart()
        observations, _ = self._environment.reset(seed=SEED, options={"objective": objective})
        actions = np.zeros((self._environment.num_envs, 1), dtype=np.float32)
        total = np.zeros(self._environment.num_envs)
        for step in range(int(self.steps.max())):
            if policy is not None:
                actions, _ = policy.predict(observations, deterministic=True)
            observations, rewards, *_ = self._environment.step(actions)
            total += np.where(step < self.steps, rewards, 0.0)
        return total / self.steps

    def __call__(self, policy: BasePolicy | None, objective: tuple[float, float, float]) -> float:
        """Returns the mean of `rewards`."""
        return float(np.mean(self.rewards(policy, objective)))

    def close(self) -> None:
        """Ends the simulator processes."""
        self._environment.close()

    def __enter__(self) -> Evaluation:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _InOrder:
    """Returns documents in turn, whatever the seed: the environments start with one each."""

    def __init__(self, documents: Sequence[Mapping[str, Any]]) -> None:
        self._documents = list(documents)
        self._next = 0

    def restart(self) -> None:
        """Continues with the first document."""
        self._next = 0

    def __call__(self, seed: int) -> Mapping[str, Any]:
        self._next += 1
        return self._documents[(self._next - 1) % len(self._documents)]


class EvaluationCallback(BaseCallback):
    """Evaluates before the first update, after every multiple of `every_steps` steps and at the end, and keeps the best
    trained policy.

    It does not affect learning: the evaluation has its own simulators and random numbers. Writes to `folder`, with the
    names of stable-baselines3's EvalCallback, `best_model.zip`, and `evaluations.npz` with `timesteps` (E), `results`
    (E, scenarios; rewards per step) and `ep_lengths` (E, scenarios); an existing file of as many scenarios is
    continued. Logs `eval/mean_reward`.

    Attributes:
        rule_mean_reward: the rule's mean reward on the same scenarios if actions are around it; else None.
    """

    def __init__(self, evaluation: Evaluation, configuration: TrainingConfiguration, folder: Path, every_steps: int):
        super().__init__()
        self._evaluation = evaluation
        self._folder = folder
        self._every_steps = every_steps
        self.objective = evaluation_objective(configuration)
        self._algorithm = configuration.algorithm
        self.rule_mean_reward: float | None = None
        self._around_rule = configuration.environment.action.kind == "around_rule"
        self._timesteps: list[int] = []
        self._results: list[np.ndarray] = []
        earlier = folder / EVALUATIONS
        if earlier.is_file():
            steps, results = read_evaluations(earlier)
            # A stage with other scenarios begins anew: rewards on different scenarios do not compare.
            if results.shape[1] == len(evaluation.steps):
                self._timesteps, self._results = [int(count) for count in steps], list(results)

    def _on_training_start(self) -> None:
        if self._around_rule:
            self.rule_mean_reward = self._evaluation(None, self.objective)

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        every = self._every_steps
        if not self._timesteps or self.num_timesteps // every > self._timesteps[-1] // every:
            self._evaluate()

    def _on_training_end(self) -> None:
        if self.num_timesteps > self._timesteps[-1]:
            self._evaluate()

    def _evaluate(self) -> None:
        rewards = self._evaluation.rewards(self.model.policy, self.objective)
        mean = float(np.mean(rewards))
        self.logger.record("eval/mean_reward", mean)
        best = max(
            (
                np.mean(rewards_before)
                for steps, rewards_before in zip(self._timesteps, self._results, strict=True)
                if steps
            ),
            default=-np.inf,
        )
        if self.num_timesteps and mean > best:
            parameters = policy_arrays(self.model.policy.state_dict())
            write_checkpoint(self._folder / BEST_MODEL, self._algorithm, self.num_timesteps, parameters)
        self._timesteps.append(self.num_timesteps)
        self._results.append(rewards)
        results = np.array(self._results)
        lengths = np.broadcast_to(self._evaluation.steps, results.shape)
        with replacing(self._folder / EVALUATIONS) as file:
            np.savez(file, timesteps=np.array(self._timesteps), results=results, ep_lengths=lengths)


def evaluation_objective(configuration: TrainingConfiguration) -> tuple[float, float, float]:
    """Returns the configuration's objective, or `balanced` if it trains on random ones."""
    objective = configuration.environment.objective
    return PRESETS["balanced"] if objective == "random" else checked_objective(objective)
