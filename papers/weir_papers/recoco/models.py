"""ReCoCo's models (Markudova and Meo 2023, sections IV to VI) in Weir's simulator: which are trained, and how.

As in the paper: decisions every 200 ms; an action that is the rate itself, on a logarithmic scale from 10 kbps to
8 Mbps; receive rate, delay, loss ratio and last estimate of the latest interval and of the four before it (or of the
latest alone, "not delayed"); the reward of Eq. 2 to 6; for each trace the best of twelve configurations, for all traces
together TD3 "delayed, not tuned"; no guard. `DEPARTURES` lists the differences.

Sending next to nothing is safe here (a mean reward of 0.1 to 0.2 on every trace) and sending all the time a little more
than the path carries is the worst there is (-0.7), so that a critic first sends its actor to one end of the range,
mostly the lower. Two things bring it back (figures of one seed). An actor never goes where tanh has no slope
(`SaturationLimit`): on the trace of 300 kbps TD3 stayed at the lower end for all of 12,000 steps without it, with a
lower learning rate, a shorter horizon or more random steps too, and reached a mean reward of 0.83 with it. And the
noise wanders over the whole range, slowly enough for the queue to follow, where uniform random rates, 1.2 Mbps in the
mean, keep it full on most traces. A model of all traces in random order had a mean reward of 0.37 after 45,000 steps
with it and 0.22 with Gaussian noise of 0.1; with half as much of it, 0.24 after 60,000 (with a falling learning rate
and a gradient step for every eight steps).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from weir_papers.recoco.tables import ALGORITHMS, PAPER_TRACES, Algorithm, Order
from weir_train.configuration.training import TrainingConfiguration, checked_configuration

INTERVAL_MS: Final = 200
DEFAULT_STEPS: Final = 30_000
DEFAULT_STEPS_ALL: Final = 15_000
DEFAULT_SEARCH_STEPS: Final = 10_000
FEATURES: Final = ("receive_rate_bps", "queueing_delay_mean_s", "loss_ratio", "last_estimate_bps")
HISTORY: Final = 5
MINIMUM_BPS: Final = 10_000.0
MAXIMUM_BPS: Final = 8_000_000.0
ENVIRONMENTS: Final = 8
# Steps of each environment between updates, each update with a gradient step for every step of every environment.
STEPS_PER_UPDATE: Final = 4
HIDDEN: Final = (64, 64)
BATCH_SIZE: Final = 256
RANDOM_STEPS: Final = 1_000
PPO_STEPS_PER_UPDATE: Final = {False: 256, True: 32}
# Section V-D.
VALIDATION_STEPS: Final = 10_000

DEPARTURES: Final = (
    "The simulator is Weir's: 25 ms one way and a queue of 300 ms of the mean capacity instead of 100 ms one way.",
    "GCC is libwebrtc's own, instead of a Python port of parts of it that is called every 200 ms.",
    "A policy sees the delay above the smallest it has seen instead of the absolute one, which a receiver cannot know; "
    "the reward and the scores take the absolute one.",
    f"Batches of {BATCH_SIZE} (tuned SAC: 512); hidden layers of {HIDDEN[0]} and {HIDDEN[1]}; {ENVIRONMENTS} "
    "environments at once instead of one.",
    f"The first {RANDOM_STEPS:,} steps are random instead of 100 (tuned SAC: none).",
    "The gradient of an actor pulls back what goes into its tanh beyond 2.5 either way; without it a TD3 model may "
    "stay at one end of its range for good.",
    "TD3 explores with Ornstein-Uhlenbeck noise (sigma 0.5) in every configuration; stable-baselines3's default, which "
    "those that are not tuned have, is none.",
    "Delayed states have five intervals, the latest among them, as in the paper's repository; Eq. 1 with x = 5 has "
    "six.",
    f"Without --steps a model gets {DEFAULT_STEPS:,} steps on its trace instead of 100,000; without --steps-all one of "
    f"all traces {DEFAULT_STEPS_ALL:,} on each instead of 300,000; without --search-steps one of the search "
    f"{DEFAULT_SEARCH_STEPS:,} instead of 100,000.",
    "A model of one trace is that of its best validation; in the paper validations choose configurations. A model of "
    "all traces is that of its last step.",
    "The search over configurations has one seed, and judges a model by its best validation instead of the last few. "
    "Tuned SAC explores without state-dependent noise.",
    "The application's video never falls below 30 kbps, so that estimates between 10 and 30 kbps do the same.",
    "Scores are means over seeds; the paper's Table II has the run in the middle of three.",
)


@dataclass(frozen=True)
class TraceValues:
    """The mean `reward` and the `score` of a model trained on a trace alone, and the score of the `baseline` there."""

    reward: float
    score: float
    baseline: float


@dataclass(frozen=True)
class Configuration:
    """How a model learns (section V-C): its algorithm; `delayed`: it observes five intervals instead of the latest
    alone; `tuned`: RL Zoo's hyperparameters instead of stable-baselines3's defaults.
    """

    algorithm: Algorithm
    delayed: bool
    tuned: bool

    @property
    def words(self) -> str:
        """As Table I of the paper writes it."""
        return (
            f"{self.algorithm.upper()}, {'delayed' if self.delayed else 'not delayed'}, "
            f"{'tuned' if self.tuned else 'not tuned'}"
        )


def configurations() -> list[Configuration]:
    """All twelve."""
    return [
        Configuration(algorithm, delayed, tuned)
        for algorithm in ALGORITHMS
        for delayed in (False, True)
        for tuned in (False, True)
    ]


@dataclass(frozen=True)
class RecocoModel:
    """One model to train.

    Attributes:
        name: of its folder.
        order: of the traces, for a model of all traces; None for a model of one trace.
        traces: names of the traces that it is trained on; one after the other in the orders "reward" and "gap".
        configuration: how it learns.
        seed: of the training and of the runs that are scored.
        steps: environment steps in all.
    """

    name: str
    order: Order | None
    traces: tuple[str, ...]
    configuration: Configuration
    seed: int
    steps: int


OF_ALL_TRACES: Final = Configuration("td3", delayed=True, tuned=False)


def models_of_search(steps: int, traces: int) -> list[RecocoModel]:
    """A model for each configuration and each of the first traces."""
    return [
        RecocoModel(f"search-{trace.name}-{number}", None, (trace.name,), configuration, 1, steps)
        for trace in PAPER_TRACES[:traces]
        for number, configuration in enumerate(configurations())
    ]


def models_of_traces(
    steps: int, seeds: Sequence[int], chosen: Mapping[str, Configuration] | None = None
) -> list[RecocoModel]:
    """Table I: for each trace and seed a model that is trained on that trace alone, with the configuration in `chosen`,
    or the paper's.
    """
    papers = {trace.name: Configuration(trace.algorithm, trace.delayed, trace.tuned) for trace in PAPER_TRACES}
    found = papers | dict(chosen or {})
    return [
        RecocoModel(f"{trace.name}-{seed}", None, (trace.name,), found[trace.name], seed, steps)
        for seed in seeds
        for trace in PAPER_TRACES
    ]


def models_of_all_traces(
    order: Order, steps: int, seeds: Sequence[int], values: Mapping[str, TraceValues] | None = None
) -> list[RecocoModel]:
    """Table II: one model for all traces, with `steps` on each; `values` by trace, for an order other than "random"."""
    traces = tuple(trace.name for trace in PAPER_TRACES)
    if values is not None:
        traces = ordered(order, values)
    all_steps = steps * len(traces)
    return [RecocoModel(f"all-{order}-{seed}", order, traces, OF_ALL_TRACES, seed, all_steps) for seed in seeds]


def ordered(order: Order, values: Mapping[str, TraceValues]) -> tuple[str, ...]:
    """Traces in the order of section VI-C: "reward" by ascending reward, "gap" by descending score less baseline."""
    if order == "reward":
        return tuple(sorted(values, key=lambda name: values[name].reward))
    return tuple(sorted(values, key=lambda name: values[name].baseline - values[name].score))


def training_configuration(model: RecocoModel, files: Mapping[str, Path]) -> TrainingConfiguration:
    """How `model` learns; `files` are the scenario files by name of trace."""
    configuration = model.configuration
    return checked_configuration(
        {
            "name": model.name,
            "seed": model.seed,
            "steps": model.steps,
            "checkpoint_every_steps": max(10_000, model.steps // 10),
            "algorithm": configuration.algorithm,
            "environment": {
                "environments": ENVIRONMENTS,
                "interval_ms": INTERVAL_MS,
                "history": HISTORY if configuration.delayed else 1,
                "features": FEATURES,
                "reward": "recoco",
                "objective": "balanced",
                "action": {"kind": "log_rate", "min_bps": MINIMUM_BPS, "max_bps": MAXIMUM_BPS},
            },
            "scenarios": {"source": "files", "files": [files[name] for name in model.traces]},
            "policy": {"hidden": HIDDEN, "preference_size": 1},
            configuration.algorithm: _ppo(configuration) if configuration.algorithm == "ppo" else _off_policy(model),
        },
        f"model {model.name}",
    )


def _ppo(configuration: Configuration) -> dict[str, Any]:
    """The table `ppo`: stable-baselines3's defaults, or RL Zoo's for CartPole."""
    common = {
        "entropy_coefficient": 0.0,
        "target_kl": None,
        "steps_per_update": PPO_STEPS_PER_UPDATE[configuration.tuned],
    }
    if not configuration.tuned:
        rates = {"learning_rate": 3e-4, "learning_rate_end": 3e-4}
        return common | rates | {"batch_size": 64, "epochs": 10, "gamma": 0.99, "gae_lambda": 0.95}
    rates = {"learning_rate": 1e-3, "learning_rate_end": 1e-5}
    return common | rates | {"batch_size": 256, "epochs": 20, "gamma": 0.98, "gae_lambda": 0.8}


def _off_policy(model: RecocoModel) -> dict[str, Any]:
    """The tables `td3` and `sac`: stable-baselines3's defaults, or what the paper's repository has as tuned."""
    configuration = model.configuration
    common: dict[str, Any] = {
        "batch_size": BATCH_SIZE,
        "steps_per_update": STEPS_PER_UPDATE,
        "gradient_steps": ENVIRONMENTS * STEPS_PER_UPDATE,
        "gamma": 0.99,
        "learning_starts": RANDOM_STEPS,
        "buffer_size": 100_000 if model.order is None else 300_000,
    }
    if configuration.algorithm == "td3":
        common |= {"action_noise": 0.5, "noise": "ornstein_uhlenbeck"}
        return common | ({"gamma": 0.98} if configuration.tuned else {})
    tuned = {"gamma": 0.9999, "tau": 0.01, "batch_size": 512, "buffer_size": 50_000, "entropy_coefficient": 0.1}
    return common | (tuned if configuration.tuned else {})
