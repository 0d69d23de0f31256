"""Muses' environment (sections II-C and III): senders whose congestion window a policy changes.

| | paper | here |
|---|---|---|
| interval | 10 ms | 50 ms, in which transport feedback comes: a sender here decides when it does |
| state | the seven signals of Table I, from ACKs | the same from feedback; logarithms, scaled |
| smoothing | EWMA, its weight not said | of weight `EWMA_WEIGHT` |
| action | the window times one of `MULTIPLES` | the same |
| label | the action nearest to `ALPHA` bandwidth-delay products of the last round trip (Eq. 1, 2) | the same |

Senders here are paced, so that a window becomes a rate: window / (base round trip and queueing delay). The queueing
delay is that of the bottleneck at the moment, so that what is in flight follows the window as if ACKs clocked it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from gymnasium.vector import AutoresetMode

from weir_sim.controllers import PRESETS
from weir_train.gym.episode import Episode
from weir_train.gym.specification import ActionSpecification, EnvironmentSpecification
from weir_train.gym.step import STEP_FIELDS, StepRecord
from weir_train.gym.vector import BottleneckVectorEnv

INTERVAL_MS: Final = 50
MULTIPLES: Final = (1 / 2, 1 / 1.2, 1 / 1.05, 1.0, 1.05, 1.2, 2.0)
SIGNALS: Final = ("srtt", "queueing_ratio", "minimum_rtt", "send_rate", "delivery_rate", "loss", "window")
ALPHA: Final = 1.2
EWMA_WEIGHT: Final = 1 / 2
# In packets of PACKET_BITS.
START_WINDOW: Final = 10.0
SMALLEST_WINDOW: Final = 2.0
LARGEST_WINDOW: Final = 4_000.0
PACKET_BITS: Final = 8 * 1_200
MINIMUM_BPS: Final = 30_000.0
MAXIMUM_BPS: Final = 100_000_000.0
FEATURES: Final = ("receive_rate_bps", "queueing_delay_mean_s", "base_round_trip_time_s", "loss_ratio")
_SPECIFICATION: Final = EnvironmentSpecification(
    INTERVAL_MS, FEATURES, 1, ActionSpecification("log_rate", MINIMUM_BPS, MAXIMUM_BPS), side="sender"
)
_INTERVAL_S: Final = INTERVAL_MS / 1e3
_SMALLEST_RTT_S: Final = 1e-3
_LARGEST_INPUT: Final = 3.0
_TIMEOUT_S: Final = 120.0
# Where nothing arrives no feedback comes, so that an interval is longer.
_LONGEST: Final = 2.0

Levels = np.ndarray
"""Indices of MULTIPLES, integers."""


class Agent(Protocol):
    """Decides for N senders, interval by interval."""

    def begin(self) -> None:
        """All flows begin."""

    def __call__(self, states: np.ndarray, labels: Levels) -> Levels:
        """The actions (N,) after states, float32 (N, signals). `labels` (N,) are for the oracle."""


@dataclass(frozen=True)
class Flows:
    """The decisions of N senders: `states`, float32 (N, T, signals), `actions` and `labels`, int8 (N, T), and the
    `record` of the intervals after them, (N, T).
    """

    states: np.ndarray
    actions: Levels
    labels: Levels
    record: StepRecord

    @classmethod
    def joined(cls, parts: Sequence[Flows]) -> Flows:
        """All flows of all parts, each of as many intervals."""
        states, actions, labels = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("states", "actions", "labels")
        )
        return cls(states, actions, labels, StepRecord(np.concatenate([part.record.values for part in parts])))


def run_flows(
    agent: Agent,
    scenarios: Sequence[Mapping[str, Any]],
    decisions: int,
    *,
    seed: int,
    simulator: str | os.PathLike[str] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Flows:
    """Runs a flow on each scenario document, all at once, for so many decisions whatever the documents' durations.
    `on_progress` gets the number of decisions done by each.

    Raises:
        ComponentFailed: a simulator failed.
    """
    count, duration_s = len(scenarios), _LONGEST * (decisions + 2) * _INTERVAL_S
    return_s = np.array([scenario["reverse"]["one_way_delay_ms"] for scenario in scenarios]) / 1e3
    signals, paths = _Signals(2 * return_s), _Paths(return_s, decisions)
    states = np.empty((count, decisions, len(SIGNALS)), np.float32)
    actions, labels = np.empty((2, count, decisions), np.int8)
    records = np.empty((count, decisions, len(STEP_FIELDS)))
    windows, span = np.full(count, START_WINDOW), np.log(MAXIMUM_BPS / MINIMUM_BPS)
    vector = BottleneckVectorEnv(
        count, specification=_SPECIFICATION, simulator=simulator, timeout_s=_TIMEOUT_S,
        autoreset_mode=AutoresetMode.DISABLED,
    )  # fmt: skip
    agent.begin()
    with closing(vector):
        vector.start(
            [Episode({**scenario, "duration_s": duration_s}, seed, PRESETS["balanced"]) for scenario in scenarios]
        )
        for decision in range(decisions):
            states[:, decision] = signals.states(windows)
            labels[:, decision] = nearest_levels(paths.optimal_windows(), windows)
            actions[:, decision] = agent(states[:, decision], labels[:, decision])
            windows = np.clip(windows * np.take(MULTIPLES, actions[:, decision]), SMALLEST_WINDOW, LARGEST_WINDOW)
            rates_bps = np.clip(windows * PACKET_BITS / paths.round_trips_s(), MINIMUM_BPS, MAXIMUM_BPS)
            wanted = 2 * np.log(rates_bps / MINIMUM_BPS) / span - 1
            observations, *_, infos = vector.step(wanted.astype(np.float32))
            records[:, decision] = np.stack([infos[name] for name in STEP_FIELDS], axis=-1)
            record = StepRecord(records[:, decision])
            paths.add(record)
            signals.add(observations, record.send_rate_bps)
            if on_progress is not None:
                on_progress(decision + 1)
    return Flows(states, actions, labels, StepRecord(records))


def nearest_levels(optimal: np.ndarray, windows: np.ndarray) -> Levels:
    """The actions that lead nearest to the optimal windows (Eq. 2)."""
    return np.argmin(np.abs(np.multiply.outer(windows, np.array(MULTIPLES)) - optimal[:, None]), axis=1)


class Oracle:
    """Takes the optimal action."""

    def begin(self) -> None:
        """See `Agent`."""

    def __call__(self, states: np.ndarray, labels: Levels) -> Levels:
        """See `Agent`."""
        return labels


class _Paths:
    """The truth about N paths, over at most so many intervals. `return_s`: (N,), from the receiver to the sender."""

    def __init__(self, return_s: np.ndarray, intervals: int) -> None:
        self._return_s = return_s
        # Sums over the intervals so far.
        self._bits, self._time_s = np.zeros((2, intervals + 1, len(return_s)))
        self._done, self._base_s, self._queueing_s = 0, return_s, np.zeros(len(return_s))

    def add(self, record: StepRecord) -> None:
        """One interval, (N,)."""
        done, self._done = self._done, self._done + 1
        length_s = record.time_s - self._time_s[done] if done else np.full(len(self._return_s), _INTERVAL_S)
        self._time_s[self._done] = record.time_s
        self._bits[self._done] = self._bits[done] + record.capacity_bps * length_s
        if not done:
            self._time_s[0] = record.time_s - length_s
        self._base_s = record.base_one_way_delay_ms / 1e3
        self._queueing_s = np.maximum(record.queueing_delay_ms, 0.0) / 1e3

    def round_trips_s(self) -> np.ndarray:
        """The round trip of a packet that leaves now, (N,)."""
        return np.maximum(self._base_s + self._return_s + self._queueing_s, _SMALLEST_RTT_S)

    def optimal_windows(self) -> np.ndarray:
        """ALPHA times what the link carries in a round trip without queue, by the whole intervals of the last one,
        packets (N,). START_WINDOW at first.
        """
        if not self._done:
            return np.full(len(self._return_s), START_WINDOW)
        base_s = self._base_s + self._return_s
        time_s = self._time_s[: self._done + 1]
        # The latest interval that begins a round trip ago.
        first = np.maximum((time_s <= time_s[-1] - base_s + 1e-9).sum(axis=0) - 1, 0)
        columns = np.arange(len(first))
        bits, length_s = (sums[self._done] - sums[first, columns] for sums in (self._bits, self._time_s))
        return ALPHA * bits / length_s * base_s / PACKET_BITS


class _Signals:
    """Table I of N senders. `unknown_rtt_s`: (N,), the round trip before it is known."""

    def __init__(self, unknown_rtt_s: np.ndarray) -> None:
        self._rtt_s = self._minimum_s = np.maximum(unknown_rtt_s, _SMALLEST_RTT_S)
        self._ratio, self._sent_bps, self._delivered_bps, self._loss = np.zeros((4, len(unknown_rtt_s)))

    def add(self, observations: np.ndarray, sent_bps: np.ndarray) -> None:
        """Feedback, (N, at least features), and the rate of what was sent meanwhile, (N,)."""
        delivered_bps, queueing_s, base_s, loss = observations[:, : len(FEATURES)].T.astype(np.float64)
        self._minimum_s = np.where(base_s > 0, np.maximum(base_s, _SMALLEST_RTT_S), self._minimum_s)
        self._rtt_s = _smoothed(self._rtt_s, self._minimum_s + queueing_s)
        self._ratio = _smoothed(self._ratio, queueing_s / self._minimum_s)
        self._sent_bps = _smoothed(self._sent_bps, sent_bps)
        self._delivered_bps = _smoothed(self._delivered_bps, delivered_bps)
        self._loss = loss

    def states(self, windows: np.ndarray) -> np.ndarray:
        """float32 (N, signals)."""
        found = (
            _log(self._rtt_s, 0.1),
            np.log1p(self._ratio),
            _log(self._minimum_s, 0.1),
            _log(self._sent_bps, 3e6),
            _log(self._delivered_bps, 3e6),
            4 * self._loss,
            _log(windows, 50.0),
        )
        return np.clip(np.stack(found, axis=-1), -_LARGEST_INPUT, _LARGEST_INPUT).astype(np.float32)


def _smoothed(before: np.ndarray, latest: np.ndarray) -> np.ndarray:
    return before + EWMA_WEIGHT * (latest - before)


def _log(values: np.ndarray, unit: float) -> np.ndarray:
    """Half of the natural logarithm in units of `unit`; of values near 0 a finite one."""
    return np.log(np.maximum(values, 1e-3 * unit) / unit) / 2
