"""Imitation by dataset aggregation (Ross et al. 2011), as Muses trains its teacher (INFOCOM 2022, section II-C): the
student acts, a teacher labels each of its decisions, and the student learns from all labels so far.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import torch

from weir_eval.model_file import read_model
from weir_papers.imitation.configuration import ImitationConfiguration
from weir_papers.imitation.teachers import ORACLE, Teacher, make_teacher
from weir_train.gym.sb3 import BottleneckVecEnv
from weir_train.gym.specification import EnvironmentSpecification
from weir_train.learning.algorithms import LinearSchedule, make_environment
from weir_train.learning.checkpoint import policy_arrays, read_checkpoint, write_checkpoint
from weir_train.learning.learner import TrainingOutcome, TrainingProgress, TrainingRun
from weir_train.policies.recurrent import RecurrentPolicy

MOST_DECISIONS: Final = 600_000
EPISODES_PER_BATCH: Final = 32
STEPS_PER_WINDOW: Final = 100
BATCHES_PER_ITERATION: Final = 12
MOST_GRADIENT_NORM: Final = 1.0
LEARNING_RATE: Final = LinearSchedule(2e-3, 1e-4)

# Muses: learning ends when for 100 iterations the loss was within 5e-3 of the mean of the 10 before.
SETTLED_CHANGE: Final = 5e-3
SETTLED_BEFORE: Final = 10
SETTLED_ITERATIONS: Final = 100
_LOSSES: Final = "losses"


PACKAGES: Final = ("torch",)


def train(run: TrainingRun) -> TrainingOutcome:
    """Teaches a student until all steps are done or the loss has settled; writes the checkpoint after every iteration.

    A resumed student collects its data anew, in other scenarios. The mean reward is that of the last iteration.

    Raises:
        InputError: a teacher is unfit, or the checkpoint is.
        ComponentFailed: a simulator failed.
    """
    configuration, checkpoint = run.configuration, run.checkpoint
    decisions = configuration.imitation.decisions_per_iteration
    iterations = max(1, configuration.steps // decisions)
    teacher = make_teacher(configuration.imitation.teachers, student_specification(configuration))
    policy, steps, losses = make_policy(configuration), 0, list[float]()

    def save() -> None:
        write_checkpoint(checkpoint, "imitation", steps, policy_arrays(policy.state_dict()) | {_LOSSES: losses})

    if run.resume:
        found = read_checkpoint(checkpoint)
        found.load_into(policy)
        steps, losses = found.steps, np.ravel(found.arrays.get(_LOSSES, [])).tolist()
    else:
        save()
    seed, reward = configuration.seed + len(losses), float("nan")
    settings = configuration.environment.model_copy(update={"privileged_critic": False})
    configuration = configuration.model_copy(update={"environment": settings, "seed": seed})
    environment = make_environment(configuration, run.simulator)
    try:
        student = Student(policy, teacher, environment, seed)
        while len(losses) < iterations and not has_settled(losses):
            rewards = student.act(-(-decisions // environment.num_envs))
            losses.append(student.learn(LEARNING_RATE(1.0 - len(losses) / iterations)))
            steps, reward = steps + len(rewards) * environment.num_envs, float(np.mean(rewards))
            save()
            if run.on_progress is not None:
                run.on_progress(TrainingProgress(steps, reward, (np.nan, np.nan, np.nan)))
    except KeyboardInterrupt:
        return TrainingOutcome(steps, True, reward)
    finally:
        environment.close()
    return TrainingOutcome(steps, False, reward)


def make_policy(configuration: ImitationConfiguration) -> RecurrentPolicy:
    """An untrained student."""
    torch.manual_seed(configuration.seed)
    return RecurrentPolicy(
        student_specification(configuration),
        preference_size=configuration.policy.preference_size,
        hidden=configuration.imitation.hidden,
        layers=configuration.imitation.layers,
    )


def student_specification(configuration: ImitationConfiguration) -> EnvironmentSpecification:
    """The observations of the student: without the inputs of a critic, which it does not have."""
    settings = configuration.environment.model_copy(update={"privileged_critic": False})
    return settings.specification()


def origin(configuration: ImitationConfiguration) -> dict[str, Any]:
    """The teachers: "oracle", or the SHA-256 of a model file."""
    names = configuration.imitation.teachers
    return {"teachers": [name if name == ORACLE else read_model(name).sha256 for name in names]}


def description(configuration: ImitationConfiguration, done: str) -> dict[str, Any]:
    """See `Learner`."""
    return {
        "algorithm": f"imitation (dataset aggregation), {done} decisions",
        "network": configuration.imitation.model_dump(include={"hidden", "layers"})
        | {"preference": configuration.policy.preference_size},
    }


def has_settled(losses: Sequence[float]) -> bool:
    """True when the loss of each of the last iterations was near the mean of those before it."""
    if len(losses) < SETTLED_BEFORE + SETTLED_ITERATIONS:
        return False
    means = np.convolve(losses, np.full(SETTLED_BEFORE, 1.0 / SETTLED_BEFORE), mode="valid")[:-1]
    changes = np.abs(np.asarray(losses[SETTLED_BEFORE:]) - means)
    return bool((changes[-SETTLED_ITERATIONS:] < SETTLED_CHANGE).all())


class Student:
    """Acts, collects the teacher's labels, and learns from them."""

    def __init__(self, policy: RecurrentPolicy, teacher: Teacher, environment: BottleneckVecEnv, seed: int) -> None:
        self._policy = policy
        self._teacher = teacher
        self._environment = environment
        self._random = np.random.default_rng(seed)
        self._optimizer = torch.optim.Adam(policy.parameters())
        self._episodes = Episodes(environment.num_envs, MOST_DECISIONS)
        self._observations = environment.reset()
        # The path is known after the first interval.
        self._optimal_bps = np.full(environment.num_envs, np.nan)
        self._state = torch.zeros(environment.num_envs, policy.actor.state_size)

    def act(self, steps: int) -> list[float]:
        """Takes `steps` decisions in every environment, more until a first episode has ended; the mean rewards."""
        rewards: list[float] = []
        while len(rewards) < steps or not self._episodes.decisions:
            with torch.no_grad():
                inputs = self._policy.scaling(torch.from_numpy(self._observations))
                actions, self._state = self._policy(inputs[:, None], self._state)
            self._episodes.add(inputs.numpy(), self._teacher(self._observations, self._optimal_bps))
            observations, reward, done, _ = self._environment.step(actions[:, 0].numpy())
            self._observations = np.asarray(observations)
            rewards.append(float(reward.mean()))
            ended = np.flatnonzero(done)
            self._episodes.finish(ended)
            self._teacher.forget(ended)
            self._state[ended] = 0.0
            self._optimal_bps = np.where(done, np.nan, self._environment.latest["optimal_bps"])
        return rewards

    def learn(self, learning_rate: float) -> float:
        """`BATCHES_PER_ITERATION` batches of the aggregated data; the mean loss."""
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate
        losses = []
        for _ in range(BATCHES_PER_ITERATION):
            state = torch.zeros(EPISODES_PER_BATCH, self._policy.actor.state_size)
            for inputs, labels in self._episodes.windows(self._random, EPISODES_PER_BATCH, STEPS_PER_WINDOW):
                loss, state = self._policy.loss(inputs, state.detach(), labels)
                self._optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(self._policy.parameters(), MOST_GRADIENT_NORM)
                self._optimizer.step()
                losses.append(float(loss.detach()))
        return float(np.mean(losses))


class Episodes:
    """The aggregated data: inputs and labels of N environments, episode by episode; the oldest are dropped.

    Args:
        environments: N.
        most_decisions: kept in finished episodes.
    """

    def __init__(self, environments: int, most_decisions: int) -> None:
        self._most_decisions = most_decisions
        self._running: list[list[np.ndarray]] = [[] for _ in range(environments)]
        self._finished: deque[torch.Tensor] = deque()
        self.decisions = 0

    def add(self, inputs: np.ndarray, labels: np.ndarray) -> None:
        """One decision of every environment: scaled inputs (N, I), and the teacher's actions (N,)."""
        # Inputs are within +-3: half precision is finer than what is learned, and takes half of the memory.
        for rows, row in zip(self._running, np.column_stack([inputs, labels]).astype(np.float16), strict=True):
            rows.append(row)

    def finish(self, ended: np.ndarray) -> None:
        """The episodes of these environments are over."""
        for index in ended:
            rows, self._running[index] = self._running[index], []
            self._finished.append(torch.from_numpy(np.stack(rows)))
            self.decisions += len(rows)
        while self.decisions > self._most_decisions and len(self._finished) > 1:
            self.decisions -= len(self._finished.popleft())

    def windows(
        self, random: np.random.Generator, episodes: int, steps: int
    ) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Some finished episodes side by side from their beginnings, `steps` decisions at a time: inputs
        (`episodes`, `steps`, I) and labels (`episodes`, `steps`), float32, NaN beyond an episode's end.
        """
        chosen = [self._finished[index] for index in random.integers(len(self._finished), size=episodes)]
        padded = torch.nn.utils.rnn.pad_sequence(chosen, batch_first=True, padding_value=float("nan"))
        for first in range(0, padded.shape[1], steps):
            window = padded[:, first : first + steps].float()
            yield window[..., :-1].nan_to_num(0.0), window[..., -1]
