"""MVFST-RL's environment: senders on emulators, discrete actions on the window that come late, and the log reward.

| | paper | here |
|---|---|---|
| state | 100 statistics of ACKs in 100 ms | Weir's statistics of the interval, scaled as for its own networks |
| history | h = 16 actions, one-hot, with the window of each | the same |
| action | on the window, in force after the lookup | the same, in force after `delay_ms`; the rate is window / RTT |
| reward | log(t) - 0.75 log(d), d the largest queueing delay | the same of the 95th percentile, at least 1 ms |

The time of an action is drawn for each. An emulator of the paper delivers packets in steps of 1 ms, so that no largest
delay of 100 ms is below. Without that bound an idle link would have the largest reward, since a queue is empty here at
times. The RTT of a rate is that of the interval before. The history has the actions that were chosen, also those that
are not yet in force.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from weir_train.gym.scaling import scaled_inputs, scaling_vectors
from weir_train.gym.specification import ActionSpecification, EnvironmentSpecification
from weir_train.gym.step import STEP_FIELDS, StepRecord
from weir_train.gym.vector import BottleneckVectorEnv

ACTIONS: Final = ("cwnd", "cwnd / 2", "cwnd - 10", "cwnd + 10", "cwnd * 2")
"""The paper's, on the congestion window in packets."""
TIMES: Final = np.array([1.0, 0.5, 1.0, 1.0, 2.0])
PLUS: Final = np.array([0.0, 0.0, -10.0, 10.0, 0.0])
"""The window after each action is the window TIMES its factor PLUS its packets."""
INTERVAL_MS: Final = 100
HISTORY: Final = 16
BETA: Final = 0.75
EPSILON: Final = 1e-5
# In packets of PACKET_BITS: mvfst's.
START_WINDOW: Final = 10.0
SMALLEST_WINDOW: Final = 2.0
LARGEST_WINDOW: Final = 2_000.0
PACKET_BITS: Final = 8 * 1_200
LEAST_DELAY_MS: Final = 1.0
MINIMUM_BPS: Final = 30_000.0
MAXIMUM_BPS: Final = 200_000_000.0
FEATURES: Final = (
    "receive_rate_bps",
    "queueing_delay_mean_s",
    "queueing_delay_min_s",
    "queueing_delay_max_s",
    "delay_gradient",
    "jitter_s",
    "loss_ratio",
    "packets_received",
    "sending_ratio",
    "time_since_last_packet_s",
    "last_estimate_bps",
    "base_round_trip_time_s",
)
SPECIFICATION: Final = EnvironmentSpecification(
    INTERVAL_MS, FEATURES, 1, ActionSpecification("log_rate", MINIMUM_BPS, MAXIMUM_BPS), side="sender"
)
STATE_WIDTH: Final = SPECIFICATION.observation_size + 1 + HISTORY * (len(ACTIONS) + 1)
"""Numbers in a state: inputs of Weir's own networks without the objective, and the history."""


@dataclass(frozen=True)
class DelayedSpecification(EnvironmentSpecification):
    """An environment whose decisions take between `delay_ms[0]` and `delay_ms[1]`, each a time of its own; the rate
    before stays in force meanwhile.
    """

    delay_ms: tuple[float, float] = (0.0, 0.0)

    def reset_request(self, scenario: Mapping[str, Any], seed: int, objective: Sequence[float]) -> dict[str, Any]:
        """See `EnvironmentSpecification`."""
        return super().reset_request(scenario, seed, objective) | {"decision_delay_ms": list(self.delay_ms)}


def queueing_delay_ms(record: StepRecord) -> np.ndarray:
    """The 95th percentile of the queueing delay in each interval; held where nothing arrived."""
    largest = np.maximum(record.one_way_delay_p95_ms, record.one_way_delay_mean_ms)
    return np.maximum(largest - record.base_one_way_delay_ms, 0.0)


def next_windows(windows: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """Windows in packets after actions, indices of ACTIONS; both of shape (N,)."""
    return np.clip(windows * TIMES[actions] + PLUS[actions], SMALLEST_WINDOW, LARGEST_WINDOW)


def log_reward(record: StepRecord, objective: np.ndarray | None = None) -> np.ndarray:
    """log(t + eps) - beta log(d + eps): t in MB/s, d in ms. The objective is not used."""
    throughput = record.receive_rate_bps / 8e6
    delay_ms = np.maximum(queueing_delay_ms(record), LEAST_DELAY_MS)
    return np.log(throughput + EPSILON) - BETA * np.log(delay_ms + EPSILON)


class RewardScale:
    """Normalizes rewards by the mean and deviation so far, for each emulator of its own."""

    def __init__(self) -> None:
        self._moments: dict[str, tuple[int, float, float]] = {}

    def __call__(self, names: Sequence[str], rewards: np.ndarray) -> np.ndarray:
        """Rewards (N,) on the emulators of these names, (N,)."""
        found = np.empty(len(rewards), dtype=np.float32)
        for index, (name, reward) in enumerate(zip(names, rewards.tolist(), strict=True)):
            count, mean, squares = self._moments.get(name, (0, 0.0, 0.0))
            count, difference = count + 1, reward - mean
            mean += difference / count
            squares += difference * (reward - mean)
            self._moments[name] = count, mean, squares
            deviation = (squares / count) ** 0.5
            found[index] = (reward - mean) / deviation if deviation > 0 else 0.0
        return found


@dataclass(frozen=True)
class Step:
    """The result of a step, by sender: the next `states` (N, D) and `rewards` (N,); `ended` (N,) of bool, with `finals`
    (N, D) the states at the ends, zero elsewhere; `record` of shape (N,), and the `names` of the emulators.
    """

    states: np.ndarray
    rewards: np.ndarray
    ended: np.ndarray
    finals: np.ndarray
    record: StepRecord
    names: list[str]


class Senders:
    """N senders, each on an emulator that is drawn for every episode.

    Args:
        count: N.
        documents: the emulators.
        delay_ms: see `DelayedSpecification`.
        timeout_s: time limit of an answer of the simulator.
        simulator: path of `weir-sim`; see `find_simulator`.
    """

    def __init__(
        self,
        count: int,
        documents: Sequence[Mapping[str, Any]],
        *,
        delay_ms: tuple[float, float] = (0.0, 0.0),
        timeout_s: float = 60.0,
        simulator: str | os.PathLike[str] | None = None,
    ) -> None:
        self.specification = DelayedSpecification(**vars(SPECIFICATION), delay_ms=delay_ms)
        self._vectors = scaling_vectors(self.specification)
        self._environment = BottleneckVectorEnv(
            count, list(documents), self.specification, reward=log_reward, simulator=simulator, timeout_s=timeout_s
        )
        self.count = count
        self._windows = np.full(count, START_WINDOW)
        self._queueing_s = np.zeros(count)
        self._chosen = np.zeros((count, HISTORY, len(ACTIONS) + 1), dtype=np.float32)

    def reset(self, seed: int) -> np.ndarray:
        """Starts an episode everywhere; the states, float32 (N, STATE_WIDTH)."""
        observations, _ = self._environment.reset(seed=seed)
        self._forget(np.ones(self.count, dtype=bool))
        return self._states(observations)

    def step(self, actions: np.ndarray) -> Step:
        """One interval: `actions` (N,) are indices of `ACTIONS`."""
        self._windows = next_windows(self._windows, actions)
        self._chosen = np.roll(self._chosen, 1, axis=1)
        self._chosen[:, 0, :-1] = np.eye(len(ACTIONS))[actions]
        self._chosen[:, 0, -1] = 0.3 * np.log(self._windows / START_WINDOW)
        scenarios = [episode.scenario for episode in self._environment.episodes if episode is not None]
        names = [str(scenario["name"]) for scenario in scenarios]
        base_s = np.array([_base_round_trip_s(scenario) for scenario in scenarios])
        rates = np.clip(self._windows * PACKET_BITS / (base_s + self._queueing_s), MINIMUM_BPS, MAXIMUM_BPS)
        span = np.log(MAXIMUM_BPS / MINIMUM_BPS)
        wanted = (2.0 * np.log(rates / MINIMUM_BPS) / span - 1.0).astype(np.float32)
        observations, rewards, terminated, truncated, infos = self._environment.step(wanted[:, None])
        values = np.stack([infos[name] for name in STEP_FIELDS], axis=-1).copy()
        record = StepRecord(values)
        self._queueing_s = queueing_delay_ms(record) / 1e3
        ended = terminated | truncated
        finals = np.zeros((self.count, STATE_WIDTH), dtype=np.float32)
        if ended.any():
            last = observations.copy()
            for index in np.flatnonzero(ended):
                last[index] = infos["final_obs"][index]
            finals[ended] = self._states(last)[ended]
            self._forget(ended)
        return Step(self._states(observations), rewards, ended, finals, record, names)

    def close(self) -> None:
        """Ends the simulator processes."""
        self._environment.close()

    def _forget(self, senders: np.ndarray) -> None:
        self._windows[senders] = START_WINDOW
        self._queueing_s[senders] = 0.0
        self._chosen[senders] = 0.0

    def _states(self, observations: np.ndarray) -> np.ndarray:
        # All but the objective, of which there is one.
        inputs = scaled_inputs(np, self.specification, self._vectors, observations)[:, :-3]
        return np.concatenate([inputs, self._chosen.reshape(self.count, -1)], axis=1).astype(np.float32)


def _base_round_trip_s(scenario: Mapping[str, Any]) -> float:
    """At least the smallest time of a window, 1 ms."""
    both = scenario["forward"]["one_way_delay_ms"] + scenario["reverse"]["one_way_delay_ms"]
    return max(float(both), 1.0) / 1e3
