"""One policy for all objectives (Figure 6), the number of landmarks (Figure 16), and the learner (Figure 19).

Every policy is measured on the test networks under the objectives of `testbed`; the reward of a scheme is the mean over
both. As in the paper "enhanced Aurora" has ten policies of one objective each, of which it takes the one whose
objective is nearest; Aurora alone has that of `throughput`, or of `latency`. The other rivals are those controllers of
libwebrtc and Weir that run in the simulator: the paper's (Orca, PCC Allegro, PCC Vivace, BBR, Copa, CUBIC, Vegas) are
not RTP senders, and are not measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from weir_papers.kept import kept
from weir_papers.mocc.dqn import act_with, train_dqn
from weir_papers.mocc.landmarks import LandmarkObjectives, LandmarkSchedule, Weights, landmarks, weights_of
from weir_papers.mocc.testbed import OBJECTIVES, Act, Testbed
from weir_sim.controllers import PRESETS
from weir_sim.versions import unavailable_controllers
from weir_train.configuration.training import TrainingConfiguration
from weir_train.gym.specification import ObjectiveSource
from weir_train.learning.algorithms import load_policy
from weir_train.learning.train import train
from weir_train.model.file import CHECKPOINT

# Steps of 1/4, 1/5, 1/6, 1/10 and 1/20, with 3, 6, 10 (the paper: 12), 36 and 171 landmarks.
DIVISIONS: Final = (4, 5, 6, 10, 20)
CHOSEN: Final = 10
AURORAS: Final[tuple[Weights, ...]] = tuple(weights_of(landmark) for landmark in landmarks(6))
CONTROLLERS: Final = ("gcc", "scream", "pcc", "nada", "rule")
Report = Callable[[str, int], None]


@dataclass(frozen=True)
class Trainer:
    """Trains policies in folders below `folder`, each from its checkpoint where it has one.

    Attributes:
        settings: of MOCC, with its networks.
        folder: of all of them.
        simulator: path of `weir-sim`.
        report: gets a policy's name and its steps.
    """

    settings: TrainingConfiguration
    folder: Path
    simulator: Path
    report: Report

    def landmarks(self, seed: int, steps: int, divisions: int = CHOSEN, excluded: tuple[Any, ...] = ()) -> Path:
        """A policy of all landmarks, in two phases (section 4.2); its folder."""
        schedule = self.schedule(steps, divisions, excluded)
        name = f"landmarks-{len(schedule.order)}-{seed}"
        return self._train(name, seed, steps, schedule, [LandmarkObjectives(schedule)])

    def schedule(self, steps: int, divisions: int = CHOSEN, excluded: tuple[Any, ...] = ()) -> LandmarkSchedule:
        """The landmarks of such a training, one for each update of PPO."""
        update = self.settings.environment.environments * self.settings.ppo.steps_per_update
        return LandmarkSchedule(steps, update, excluded, divisions)

    def single(self, seed: int, steps: int, objective: Weights) -> Path:
        """A policy of one objective."""
        name = "single-" + "-".join(f"{weight:.3g}" for weight in objective)
        return self._train(f"{name}-{seed}", seed, steps, objective, [])

    def _train(
        self, name: str, seed: int, steps: int, objective: ObjectiveSource, callbacks: list[BaseCallback]
    ) -> Path:
        folder = self.folder / name
        result = train(
            self.settings.model_copy(update={"name": name, "seed": seed, "steps": steps}),
            folder,
            resume=(folder / CHECKPOINT).is_file(),
            simulator=self.simulator,
            objective=objective,
            callbacks=callbacks,
            on_progress=lambda state: self.report(name, min(state.steps, steps)),
        )
        if result.interrupted:
            raise KeyboardInterrupt
        return folder


@dataclass(frozen=True)
class _Judge:
    """Rewards of policies on networks, each kept in a file, so that an interrupted command continues."""

    trainer: Trainer
    files: list[Path]
    name: str

    def rewards(self, policy: str, steps: int, act: Callable[[], Act]) -> np.ndarray:
        """Under `OBJECTIVES`, (objectives, networks), of the policy that `act` trains where there is no file."""

        def measure() -> dict[str, Any]:
            decide = act()
            testbed = Testbed(self.trainer.settings, self.files, self.trainer.simulator)
            try:
                return {"rewards": testbed.rewards(decide).tolist()}
            finally:
                testbed.close()

        options = {"steps": steps, "networks": [file.name for file in self.files]}
        path = self.trainer.folder / policy / f"{self.name}.json"
        return np.array(kept(path, options, measure)["rewards"])

    def of_landmarks(self, seed: int, steps: int, divisions: int = CHOSEN) -> np.ndarray:
        """Those of a policy of all landmarks."""
        name = f"landmarks-{len(landmarks(divisions))}-{seed}"
        return self.rewards(name, steps, lambda: _act(self.trainer.landmarks(seed, steps, divisions)))


def measure_objectives(
    trainer: Trainer, files: list[Path], familiar: list[Path], seed: int, landmark_steps: int, single_steps: int
) -> dict[str, Any]:
    """The figures of one seed: mean rewards by scheme (`schemes`), by number of landmarks (`landmarks`), of DQN (`dqn`,
    beside PPO's) and of nearly nothing sent (`nothing`), and `deciles` of the rewards by scheme, for the distribution;
    all on the networks `files`, and `familiar`, the rewards of the fewest landmarks and of MOCC's on networks of the
    training ranges.

    With 0 `single_steps` no scheme has policies of one objective.
    """
    judge, within = _Judge(trainer, files, "rewards"), _Judge(trainer, familiar, "rewards-familiar")
    by_count = {
        len(landmarks(divisions)): judge.of_landmarks(seed, landmark_steps, divisions) for divisions in DIVISIONS
    }
    mocc = by_count[len(landmarks(CHOSEN))]
    dqn = judge.rewards(f"dqn-{seed}", landmark_steps, lambda: _dqn(trainer, seed, landmark_steps))
    nothing = judge.rewards("nothing", 0, lambda: _send_nothing)
    testbed = Testbed(trainer.settings, files, trainer.simulator)
    try:
        schemes = {"mocc": mocc} | (_auroras(trainer, testbed, seed, single_steps) if single_steps else {})
        missing = unavailable_controllers(trainer.simulator)
        schemes |= testbed.rewards_of_controllers([name for name in CONTROLLERS if name not in missing])
    finally:
        testbed.close()
    return {
        "seed": seed,
        "schemes": {name: float(rewards.mean()) for name, rewards in schemes.items()},
        "deciles": {name: np.quantile(rewards, np.arange(11) / 10).tolist() for name, rewards in schemes.items()},
        "landmarks": {str(count): float(rewards.mean()) for count, rewards in by_count.items()},
        "dqn": float(dqn.mean()),
        "nothing": float(nothing.mean()),
        "familiar": {
            str(len(landmarks(divisions))): float(within.of_landmarks(seed, landmark_steps, divisions).mean())
            for divisions in (DIVISIONS[0], CHOSEN)
        },
    }


def _auroras(trainer: Trainer, testbed: Testbed, seed: int, steps: int) -> dict[str, np.ndarray]:
    def rewards(objective: Weights) -> np.ndarray:
        reached = testbed.measures(_act(trainer.single(seed, steps, objective)), objective)
        return np.array(OBJECTIVES) @ reached.T

    found = {objective: rewards(objective) for objective in AURORAS}
    distances = np.abs(np.array(OBJECTIVES)[:, None] - np.array(AURORAS)).sum(axis=2)
    enhanced = [found[AURORAS[index]][row] for row, index in enumerate(distances.argmin(axis=1))]
    return {"enhanced-aurora": np.stack(enhanced)} | {
        f"aurora-{name}": rewards(PRESETS[name]) for name in ("throughput", "latency")
    }


def _dqn(trainer: Trainer, seed: int, steps: int) -> Act:
    schedule = trainer.schedule(steps)
    settings = trainer.settings.model_copy(update={"seed": seed, "steps": steps})
    trainer.report("dqn", 0)
    model = train_dqn(settings, schedule, LandmarkObjectives(schedule), trainer.simulator)
    return lambda observations: act_with(model, observations)


def _send_nothing(observations: np.ndarray) -> np.ndarray:
    return np.full((len(observations), 1), -1.0, np.float32)


def policy_act(policy: Any) -> Act:
    """The decisions of a policy of stable-baselines3 without exploration."""

    def act(observations: np.ndarray) -> np.ndarray:
        actions, _ = policy.predict(observations, deterministic=True)
        return np.asarray(actions)

    return act


def _act(folder: Path) -> Act:
    return policy_act(load_policy(folder / CHECKPOINT))
