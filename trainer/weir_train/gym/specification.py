"""Specification of an environment: decision interval, features, action, and the draws of an episode."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import gymnasium
import numpy as np

from weir import DECISION_INTERVALS_MS, FEATURES, MAXIMUM_HISTORY
from weir_cli.errors import InputError
from weir_sim.executables import Stack
from weir_train.gym.rule import REQUIRED_FEATURES, rate_window, rule_rate
from weir_train.gym.step import PRIVILEGED_FIELDS, STEP_FIELDS, VIEWED_FIELDS

MAXIMUM_RANDOM_LOSS_WEIGHT = 0.6

PRIVILEGED_LIMIT = 1e11

DEFAULT_FEATURES: tuple[str, ...] = (
    "receive_rate_bps",
    "queueing_delay_mean_s",
    "queueing_delay_min_s",
    "delay_gradient",
    "loss_ratio",
    "packets_received",
    "last_estimate_bps",
)

# The side on which the agent decides: from the packets themselves, from feedback about them, or either, by episode.
Side = Literal["receiver", "sender", "both"]

# Additional keys of a request by stack: libwebrtc's encoder is fake, with VP8's frame sizes and no pictures.
KEYS_OF_STACK: dict[Stack, dict[str, Any]] = {"model": {}, "libwebrtc": {"call": {"encoder": "fake"}}}

# A path, `catalogue/NAME`, a result of `read_trace`, a mapping or a `Scenario`; see `EpisodeSource`.
ScenarioLike = str | os.PathLike[str] | Mapping[str, Any] | Any
ScenarioSource = ScenarioLike | Sequence[ScenarioLike] | Callable[[int], ScenarioLike]
ObjectiveSource = str | Sequence[float] | Callable[[np.random.Generator], Sequence[float]]


@dataclass(frozen=True)
class ActionSpecification:
    """Maps an action a in [-1, 1] to a target rate.

    `log_rate`: exponential interpolation between the bounds (ReCoCo). `relative`: MOCC Eq. 1 with `alpha`.
    `around_rule`: the rate of the ten-line rule times `span` to the power a; it needs the features of
    `weir_train.gym.rule.REQUIRED_FEATURES`.
    """

    kind: Literal["log_rate", "relative", "around_rule"] = "log_rate"
    min_bps: float = 30_000.0
    max_bps: float = 50_000_000.0
    alpha: float = 0.025
    span: float = 3.0

    def __post_init__(self) -> None:
        if self.kind not in ("log_rate", "relative", "around_rule"):
            raise InputError(f"action kind {self.kind!r}: one of log_rate, relative, around_rule")
        if not 0 < self.min_bps < self.max_bps:
            raise InputError(
                f"action bounds {self.min_bps:g} to {self.max_bps:g} bps: the first must be above 0, the second higher"
            )
        if not self.alpha > 0:
            raise InputError(f"action alpha {self.alpha:g}: must be above 0")
        if not self.span > 1:
            raise InputError(f"action span {self.span:g}: must be above 1")


@dataclass(frozen=True)
class EnvironmentSpecification:
    """The part of an environment that is the same in all its episodes.

    Args:
        interval_ms: decision interval.
        features: fields of the estimator's interval statistics.
        history: number of intervals that an observation spans.
        action: the mapping of actions to rates.
        guard: true to apply the estimator's guard to the agent's rates.
        privileged: append `weir_train.gym.step.PRIVILEGED_FIELDS` to the observation: the true state of the path, for
            a critic during training.
        side: at the sender the agent observes transport feedback, and its rate is in force at once; "both": in episodes
            with odd seeds at the sender, in the others at the receiver.
        stack: the implementation of sender and receiver.

    Raises:
        InputError: an unknown or missing feature, or a value out of range.
    """

    interval_ms: int = 200
    features: tuple[str, ...] = DEFAULT_FEATURES
    history: int = 5
    action: ActionSpecification = field(default_factory=ActionSpecification)
    guard: bool = False
    privileged: bool = False
    side: Side = "receiver"
    stack: Stack = "model"

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", tuple(self.features))
        _check_features(self.features)
        if self.side not in get_args(Side):
            raise InputError(f"side {self.side!r}: one of {', '.join(get_args(Side))}")
        if self.stack not in get_args(Stack):
            raise InputError(f"stack {self.stack!r}: one of {', '.join(get_args(Stack))}")
        shortest_ms, longest_ms = DECISION_INTERVALS_MS
        if not shortest_ms <= self.interval_ms <= longest_ms:
            raise InputError(f"interval_ms {self.interval_ms}: must be {shortest_ms} to {longest_ms:,}")
        if not 1 <= self.history <= MAXIMUM_HISTORY:
            raise InputError(f"history {self.history}: must be 1 to {MAXIMUM_HISTORY}")
        if self.action.kind == "around_rule":
            missing = [name for name in REQUIRED_FEATURES if name not in self.features]
            if missing:
                raise InputError(f"an action around the rule needs the features {', '.join(missing)}")

    @property
    def interval_features(self) -> tuple[str, ...]:
        """The features that an observation has for each interval of the history."""
        return tuple(name for name in self.features if not FEATURES[name].of_path)

    @property
    def path_features(self) -> tuple[str, ...]:
        """The features of the path, of which an observation has only the newest value, after the history."""
        return tuple(name for name in self.features if FEATURES[name].of_path)

    @property
    def columns(self) -> dict[str, slice]:
        """The columns of each feature in an observation."""
        step, of_history = len(self.interval_features), len(self.interval_features) * self.history
        found = {name: slice(index, of_history, step) for index, name in enumerate(self.interval_features)}
        return found | {name: slice(index, index + 1) for index, name in enumerate(self.path_features, of_history)}

    @property
    def observed(self) -> tuple[str, ...]:
        """The feature of each element of an observation, without the objective."""
        return self.interval_features * self.history + self.path_features

    @property
    def observation_size(self) -> int:
        """Length of an observation without the objective."""
        return len(self.interval_features) * self.history + len(self.path_features)

    @property
    def step_fields(self) -> tuple[str, ...]:
        """The columns of a step record."""
        return STEP_FIELDS + VIEWED_FIELDS if self.stack == "libwebrtc" else STEP_FIELDS

    @property
    def knows_rule(self) -> bool:
        """True when the features determine the rule's rate."""
        return set(REQUIRED_FEATURES) <= set(self.features)

    @property
    def rule_window(self) -> int:
        """See `rate_window`."""
        return rate_window(self.interval_ms, self.history)

    def rule_bps(self, xp: Any, observations: Any) -> Any:
        """Returns the rule's rate, (N,), for observations (N, at least observation_size) of `xp`, numpy or torch."""
        shape = -1, self.history, len(self.interval_features)
        records = observations[:, : shape[1] * shape[2]].reshape(shape)
        return rule_rate(xp, records, self.interval_features, self.rule_window)

    @property
    def width(self) -> int:
        """Length of a whole observation, with the objective and, if requested, the privileged fields."""
        return self.observation_size + 3 + (len(PRIVILEGED_FIELDS) if self.privileged else 0)

    def observation_limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns lower and upper bounds, float32 of shape (width,), of the history, newest first, the path's features,
        the objective, and the privileged fields, if any.
        """
        bounds = [FEATURES[name].observation_space for name in self.observed] + [(0.0, 1.0)] * 3
        low, high = np.array(bounds, dtype=np.float32).T.copy()
        if self.privileged:
            extra = np.full(len(PRIVILEGED_FIELDS), PRIVILEGED_LIMIT, dtype=np.float32)
            low, high = np.append(low, np.zeros_like(extra)), np.append(high, extra)
        return low, high

    def spaces(self) -> tuple[gymnasium.spaces.Box, gymnasium.spaces.Box]:
        """Returns the spaces of whole observations and of actions."""
        low, high = self.observation_limits()
        return gymnasium.spaces.Box(low, high, dtype=np.float32), gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def wire_actions(self, actions: np.ndarray, observations: np.ndarray) -> np.ndarray:
        """Converts actions in [-1, 1] after `observations` to those of the simulator's protocol: float32 of shape (N,).

        Args:
            actions: shape (N,) or (N, 1); clipped to [-1, 1].
            observations: float32 of shape (N, at least observation_size), to which the actions respond.
        """
        cut = np.asarray(actions, dtype=np.float32).reshape(-1).clip(-1.0, 1.0)
        if self.action.kind != "around_rule":
            return cut
        rates = self.rule_bps(np, observations) * np.float32(self.action.span) ** cut
        return np.asarray(rates.clip(self.action.min_bps, self.action.max_bps), dtype=np.float32)

    def actions_for(self, rates_bps: np.ndarray, observations: np.ndarray) -> np.ndarray:
        """Returns the actions around the rule, in [-1, 1], that result in rates: float32 of shape (N,).

        Args:
            rates_bps: shape (N,); NaN results in NaN.
            observations: as in `wire_actions`.
        """
        rule_bps = np.maximum(self.rule_bps(np, observations), 1.0)
        with np.errstate(divide="ignore"):
            exponents = np.log(np.asarray(rates_bps, dtype=np.float64) / rule_bps)
        return np.clip(exponents / np.log(self.action.span), -1.0, 1.0).astype(np.float32)

    def reset_request(self, scenario: Mapping[str, Any], seed: int, objective: Sequence[float]) -> dict[str, Any]:
        """Returns the JSON of a reset frame."""
        kind = "rate_bps" if self.action.kind == "around_rule" else self.action.kind
        side = ("receiver", "sender")[seed % 2] if self.side == "both" else self.side
        return {
            "scenario": scenario,
            "seed": seed,
            "interval_ms": self.interval_ms,
            "features": list(self.features),
            "history": self.history,
            "action": {
                "kind": kind,
                "min_bps": self.action.min_bps,
                "max_bps": self.action.max_bps,
                "alpha": self.action.alpha,
            },
            "objective": [float(weight) for weight in objective],
            "guard": self.guard,
            "side": side,
            **KEYS_OF_STACK[self.stack],
        }


def _check_features(names: Sequence[str]) -> None:
    """Raises InputError unless there is at least one name, and each is unique and in `weir.FEATURES`."""
    unknown = [name for name in names if name not in FEATURES]
    if unknown or not names or len(set(names)) != len(names):
        wrong = f"unknown: {', '.join(unknown)}" if unknown else "at least one, each once"
        raise InputError(f"features: {wrong}. Known are {', '.join(FEATURES)}")
