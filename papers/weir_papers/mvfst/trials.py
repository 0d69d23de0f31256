"""Trains MVFST-RL's agent in the ways that Figure 3 compares, and runs it on Pantheon's emulators."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from weir_cli.errors import InputError
from weir_papers.common import Case
from weir_papers.kept import kept
from weir_papers.mvfst.agent import Agent
from weir_papers.mvfst.export import export
from weir_papers.mvfst.learner import Size, Variant, learn
from weir_papers.mvfst.mvfst_runs import CURVE_PARTS, LSTM, POLICER, RANDOM, TRAINED_ON
from weir_papers.mvfst.senders import ACTIONS, SPECIFICATION, Senders, queueing_delay_ms
from weir_traces.generate.pantheon import pantheon_scenarios
from weir_train.gym.step import StepRecord
from weir_train.learning.checkpoint import policy_arrays, write_checkpoint

LOW_ENTROPY, ENTROPY, HIGH_ENTROPY = 0.001, 0.01, 0.1
VARIANTS: Final[Mapping[str, Variant]] = {
    LSTM: Variant(),
    "lstm, low entropy": Variant(entropy=LOW_ENTROPY),
    "lstm, high entropy": Variant(entropy=HIGH_ENTROPY),
    "no lstm": Variant(recurrent=False),
    "no lstm, low entropy": Variant(recurrent=False, entropy=LOW_ENTROPY),
    "no lstm, high entropy": Variant(recurrent=False, entropy=HIGH_ENTROPY),
    "uncorrected": Variant(corrected=False),
}
# A decision of the tests, as in the paper's Figure 2.
TESTED_DELAY_MS: Final = (30.0, 30.0)
RUNS: Final = 5
# Episodes at the end of a training that are its reward.
_LAST_SHARE: Final = 0.2
_STEPS: Final = 300


def trial(
    name: str,
    seed: int,
    size: Size,
    folder: Path,
    *,
    simulator: str | os.PathLike[str] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """The result of a variant and seed: its `reward`, the mean over emulators of the mean log reward at the end of
    training; `curve`, that of each tenth of it; and for the first variant `cases` by emulator. It is kept in the
    folder, with the agent, also as a model file.

    Raises:
        InputError: the folder has a result of another size.
        ComponentFailed: a simulator failed.
    """
    base = folder / f"{name.replace(', ', '-').replace(' ', '-')}-{seed}"
    return kept(
        base.with_suffix(".json"),
        asdict(size) | asdict(VARIANTS[name]),
        lambda: _measured(name, seed, size, base.with_suffix(".zip"), simulator, on_progress),
    )


def _measured(
    name: str,
    seed: int,
    size: Size,
    agent_path: Path,
    simulator: str | os.PathLike[str] | None,
    on_progress: Callable[[int], None] | None,
) -> dict[str, Any]:
    emulators = {
        scenario.name: scenario.to_dict()
        for scenario in pantheon_scenarios()
        if scenario.name in (*TRAINED_ON, POLICER)
    }
    trained_on = [emulators[name] for name in TRAINED_ON]
    agent, rewards = learn(VARIANTS[name], size, trained_on, seed, simulator=simulator, on_progress=on_progress)
    result: dict[str, Any] = {"seed": seed, "variant": name}
    result |= {"reward": final_reward(rewards), "curve": curve(rewards)}
    if name == LSTM:
        write_checkpoint(agent_path, "mvfst", size.steps, policy_arrays(agent.state_dict()))
        origin = {"algorithm": f"IMPALA (MVFST-RL), {size.steps:,} steps, seed {seed}"}
        export(agent, SPECIFICATION, agent_path.with_suffix(".onnx"), name=agent_path.stem, provenance=origin)
        result["cases"] = {
            emulator: {
                LSTM: asdict(run(document, Greedy(agent), seed, simulator)),
                RANDOM: asdict(run(document, random_agent(seed), seed, simulator)),
            }
            for emulator, document in emulators.items()
        }
    return result


def final_reward(rewards: Mapping[str, list[float]]) -> float:
    """The mean over emulators of the mean reward of their last episodes.

    Raises:
        InputError: no episode has ended on any.
    """
    last = [episodes[-max(1, round(_LAST_SHARE * len(episodes))) :] for episodes in rewards.values() if episodes]
    if not last:
        raise InputError("--steps: too few: no episode of 30 s has ended")
    return float(np.mean([np.mean(episodes) for episodes in last]))


def curve(rewards: Mapping[str, list[float]]) -> list[float | None]:
    """The mean over emulators of the mean reward of each tenth of their episodes; None where none has one."""
    parts = zip(*(np.array_split(episodes, CURVE_PARTS) for episodes in rewards.values()), strict=True)
    means = [[float(part.mean()) for part in of_tenth if part.size] for of_tenth in parts]
    return [float(np.mean(found)) if found else None for found in means]


class Greedy:
    """An agent that takes the most likely action, and remembers its senders."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._memory = agent.no_memory(RUNS)

    def __call__(self, states: np.ndarray, rewards: np.ndarray) -> np.ndarray:
        """Actions (RUNS,) after states (RUNS, D) and the rewards before them."""
        with torch.no_grad():
            scores, _, self._memory = self._agent(
                torch.from_numpy(states), torch.from_numpy(rewards.astype(np.float32)), self._memory
            )
        return np.asarray(scores.argmax(dim=1).numpy())


def random_agent(seed: int) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Takes any action, each as likely."""
    generator = np.random.default_rng(seed)
    return lambda states, rewards: generator.integers(len(ACTIONS), size=len(states))


def run(
    document: Mapping[str, Any],
    act: Callable[[np.ndarray, np.ndarray], np.ndarray],
    seed: int,
    simulator: str | os.PathLike[str] | None = None,
) -> Case:
    """The mean of RUNS episodes on an emulator."""
    senders = Senders(RUNS, [document], delay_ms=TESTED_DELAY_MS, simulator=simulator)
    try:
        states, rewards, records = senders.reset(seed), np.zeros(RUNS), []
        # The last interval is excluded: it would start the next episode.
        for _ in range(_STEPS - 1):
            step = senders.step(act(states, rewards))
            states, rewards = step.states, step.rewards
            records.append(step.record.values)
    finally:
        senders.close()
    return case_of_steps(StepRecord(np.stack(records)))


def case_of_steps(record: StepRecord) -> Case:
    """Utilisation, queueing delay and loss of runs in the gym, shape (steps, runs). The percentile of delay is over
    intervals, each with its own 95th percentile, where a run of the simulator has one over packets; the mean is over
    packets.
    """
    capacity, packets = record.capacity_bps.sum(), record.packets_received
    arrived = packets > 0
    delays_ms = queueing_delay_ms(record)[arrived]
    means_ms = np.maximum(record.one_way_delay_mean_ms - record.base_one_way_delay_ms, 0.0)
    return Case(
        float(record.receive_rate_bps.sum() / max(capacity, 1.0)),
        float(np.percentile(delays_ms, 95)) if delays_ms.size else 0.0,
        float(np.average(record.loss_ratio, weights=np.maximum(packets, 1e-9))),
        float(np.average(means_ms, weights=packets)) if delays_ms.size else 0.0,
    )
