"""The training configuration: a TOML file, checked before anything runs."""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Iterable, Mapping
from importlib.metadata import entry_points
from typing import Annotated, Any, ClassVar, Final, Literal, get_args

from pydantic import Field, JsonValue, PositiveFloat, PositiveInt, ValidationError, model_validator

import weir
from weir import DECISION_INTERVALS_MS, MAXIMUM_HISTORY
from weir_cli.errors import InputError, MissingComponent, closest
from weir_cli.files.input import read_text
from weir_cli.installation import how_to_get
from weir_sim.executables import Stack
from weir_train.configuration import Settings
from weir_train.configuration.ppo import PpoSettings
from weir_train.configuration.scenarios import ScenarioSettings
from weir_train.configuration.tuning import TuneSettings
from weir_train.gym.episode import EpisodeSource
from weir_train.gym.rewards import resolve_reward
from weir_train.gym.specification import ActionSpecification, EnvironmentSpecification, Side

REGISTERED: Final = "weir.algorithms"
"""Group of entry points for the algorithms of other distributions."""
IN_PAPERS: Final = ("imitation", "impala", "sac", "td3")
"""Algorithms of the distribution `weir-papers`."""


class ActionSettings(Settings):
    """See `ActionSpecification`."""

    kind: Literal["log_rate", "relative", "around_rule"] = "around_rule"
    """Maps an action in [-1, 1] to a rate: between the bounds on a logarithmic scale; a relative change of the last
    rate (MOCC); or a multiple of the rate of the ten-line rule.
    """
    min_bps: PositiveFloat = 30_000.0
    """The lowest rate, in bit/s."""
    max_bps: PositiveFloat = 50_000_000.0
    """The highest rate, in bit/s; above `min_bps`."""
    alpha: PositiveFloat = 0.025
    """The largest relative change of a step of `"relative"`."""
    span: float = Field(3.0, gt=1.0)
    """The largest multiple of `"around_rule"`, and the inverse of the smallest."""

    def specification(self) -> ActionSpecification:
        """Returns the same settings for an environment."""
        return ActionSpecification(**self.model_dump())


class EnvironmentSettings(Settings):
    """The environments, with one simulator process each."""

    environments: int = Field(8, ge=1, le=4096)
    """Number of parallel environments; on a cluster, of each runner."""
    interval_ms: int = Field(100, ge=DECISION_INTERVALS_MS[0], le=DECISION_INTERVALS_MS[1])
    """Decision interval, in milliseconds."""
    history: int = Field(8, ge=1, le=MAXIMUM_HISTORY)
    """Number of intervals that an observation spans."""
    features: tuple[str, ...]
    """Fields of the estimator's interval statistics, as `weir model` lists them."""
    reward: str = "challenge"
    """A row of `REWARDS` in `gym/rewards.py`: `"mocc"`, `"recoco"`, `"challenge"`, or with `stack = "libwebrtc"`
    `"viewer"`, the quality of what a viewer sees, or `"call"`, the call quality, with delay.
    """
    objective: str | tuple[PositiveFloat, PositiveFloat, PositiveFloat] = "random"
    """Weights of throughput, latency and loss, or a preset such as `"balanced"`; `"random"` draws new ones for every
    episode.
    """
    guard: bool = False
    """`true` applies the estimator's guard to the agent's rates."""
    side: Side = "receiver"
    """Where the agent decides: from packets, or, like `weir-send`, from transport feedback; `"both"`: in half of the
    episodes each.
    """
    stack: Stack = "model"
    """The simulator's own sender and receiver, or those of libwebrtc in virtual calls."""
    privileged_critic: bool = False
    """`true` also shows the critic the true state of the path."""
    timeout_s: PositiveFloat = 30.0
    """Time limit for an answer of the simulator, in seconds."""
    action: ActionSettings = ActionSettings()

    @model_validator(mode="after")
    def _known(self) -> EnvironmentSettings:
        resolve_reward(self.reward, self.stack)
        self.specification()
        EpisodeSource({}, self.objective)
        return self

    def arguments(self) -> dict[str, Any]:
        """Returns arguments of `BottleneckEnv` and `BottleneckVectorEnv` except scenario, objective and simulator."""
        return {"specification": self.specification(), "reward": self.reward, "timeout_s": self.timeout_s}

    def specification(self) -> EnvironmentSpecification:
        """Returns the specification of these settings."""
        return EnvironmentSpecification(
            self.interval_ms,
            self.features,
            self.history,
            self.action.specification(),
            self.guard,
            privileged=self.privileged_critic,
            side=self.side,
            stack=self.stack,
        )


class PolicySettings(Settings):
    """The network."""

    hidden: tuple[Annotated[int, Field(ge=1, le=4096)], ...] = Field((64, 32), min_length=1, max_length=8)
    """Widths of the hidden layers."""
    preference_size: int = Field(8, ge=1, le=1024)
    """Width of the objective's own layer."""
    initial_log_standard_deviation: float = Field(-1.0, ge=-5.0, le=2.0)
    """Natural logarithm of the standard deviation of actions before training, for `ppo`."""


Curriculum = Literal["random", "reward", "gap", "adaptive_gap"]


class TrainingConfiguration(Settings):
    """A whole configuration file.

    An algorithm of another distribution registers a subclass with its table as an entry point of the group
    `weir.algorithms` under the algorithm's name.

    Attributes:
        learner: the module of the algorithm, a `Learner`.
        from_rewards: true if `reinforce` trains it, so that evaluations and curricula apply.
        on_cluster: true if it trains on a Ray cluster, with environments in other processes.
    """

    learner: ClassVar[str] = "weir_train.learning.ppo"
    from_rewards: ClassVar[bool] = True
    on_cluster: ClassVar[bool] = False

    name: str = Field("weir", pattern=r"^[A-Za-z0-9._-]+$")
    """Name of the model."""
    version: str = weir.__version__
    """Version of the model; by default that of the package."""
    seed: int = Field(1, ge=0, lt=2**31)
    """Seed of weights, scenarios and actions."""
    steps: PositiveInt = 1_000_000
    """Decisions of all environments together, rounded up to whole updates. With stages, those at the end of the last.
    """
    stages: tuple[dict[str, JsonValue], ...] = ()
    """Each has the settings in which it differs from the file, including `steps`: the number for the whole training
    when the stage ends. Schedules span that many steps, so every stage raises the learning rate again.
    """
    checkpoint_every_steps: PositiveInt = 100_000
    """Steps between two checkpoints; an interruption loses at most these."""
    threads: int = Field(1, ge=1, le=1024)
    """Threads of torch; another number rounds sums differently."""
    algorithm: str = "ppo"
    """`"ppo"`, or one that another distribution registers, as `weir-papers` does."""
    curriculum: Curriculum = "random"
    """How traces are drawn: uniformly; one after the other, each for the same share of the steps, by ascending mean
    reward of the oracle, or by descending gap between GCC's score and the oracle's; or in proportion to the policy's
    present gap to GCC.
    """
    environment: EnvironmentSettings
    scenarios: ScenarioSettings = ScenarioSettings()
    policy: PolicySettings = PolicySettings()
    ppo: PpoSettings = PpoSettings()
    tune: TuneSettings | None = None

    @property
    def steps_per_update(self) -> int:
        """Environment steps between two updates, of all environments together."""
        return self.ppo.steps_per_update * self.environment.environments

    @property
    def trained_steps(self) -> int:
        """The steps of a run: `steps`, rounded up to whole updates."""
        return math.ceil(self.steps / self.steps_per_update) * self.steps_per_update

    @property
    def first_step(self) -> int:
        """Steps done when the last stage so far begins; 0 without stages."""
        return int(str(self.stages[-2]["steps"])) if len(self.stages) > 1 else 0

    def in_stages(self) -> list[TrainingConfiguration]:
        """Returns the configuration of each stage, with the stages so far, or itself if it has none."""
        values = self.model_dump(mode="json", exclude_unset=True, exclude={"stages"})
        found = [type(self).model_validate(_merged(values, stage)) for stage in self.stages]
        return [
            configuration.model_copy(update={"stages": self.stages[: number + 1]})
            for number, configuration in enumerate(found)
        ] or [self]

    @model_validator(mode="before")
    @classmethod
    def _ends_with_the_last_stage(cls, values: Any) -> Any:
        stages = values.get("stages") if isinstance(values, dict) else None
        if stages and isinstance(stages[-1], dict) and "steps" in stages[-1]:
            return {"steps": stages[-1]["steps"]} | values
        return values

    @model_validator(mode="after")
    def _consistent_stages(self) -> TrainingConfiguration:
        ends = [stage.steps for stage in self.in_stages()] if self.stages else []
        if any("steps" not in stage or "stages" in stage for stage in self.stages) or ends != sorted(set(ends)):
            raise ValueError("stages: each needs steps, more than the one before it, and has no stages itself")
        if ends and ends[-1] != self.steps:
            raise ValueError(f"steps {self.steps}: the stages have theirs; change those of the last, {ends[-1]}")
        if self.stages and self.tune is not None:
            raise ValueError("tune: searches settings of a training without stages")
        return self

    @model_validator(mode="after")
    def _curriculum_of_traces(self) -> TrainingConfiguration:
        if self.curriculum == "random" or self.stages:
            return self
        if self.scenarios.source == "random_domain":
            raise ValueError(f'curriculum {self.curriculum}: needs scenarios with source "random_traces" or "files"')
        if self.on_cluster or not self.from_rewards:
            raise ValueError(f'curriculum {self.curriculum}: algorithm {self.algorithm} has only "random"')
        return self

    @model_validator(mode="after")
    def _batches(self) -> TrainingConfiguration:
        if type(self) is not TrainingConfiguration:
            return self
        if self.algorithm != "ppo":
            names = ", ".join(sorted({*IN_PAPERS, *entry_points(group=REGISTERED).names}))
            raise ValueError(f"algorithm {self.algorithm}: one of ppo, {names}")
        samples = self.environment.environments * self.ppo.steps_per_update
        if samples % self.ppo.batch_size:
            raise ValueError(
                f"ppo.batch_size {self.ppo.batch_size} must divide environments * steps_per_update = {samples}"
            )
        return self


def _class_of(algorithm: Any) -> type[TrainingConfiguration]:
    """Returns the configuration class of an algorithm, which another distribution may register.

    Raises:
        MissingComponent: it is in the distribution `weir-papers`, which is not installed.
    """
    if not isinstance(algorithm, str) or algorithm == "ppo":
        return TrainingConfiguration
    for registered in entry_points(group=REGISTERED, name=algorithm):
        found: type[TrainingConfiguration] = registered.load()
        return found
    if algorithm in IN_PAPERS:
        raise MissingComponent(
            f"algorithm {algorithm} is in the distribution weir-papers, which is not installed: {how_to_get('train')} "
            "brings it"
        )
    return TrainingConfiguration


def _keys_at(table: type[Settings], location: Iterable[int | str]) -> Iterable[str]:
    """Returns the keys of the table at a location in a file; none for a location without a table."""
    for part in location:
        field = table.model_fields.get(str(part))
        kinds = (field.annotation, *get_args(field.annotation)) if field else ()
        tables = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Settings)]
        if not tables:
            return ()
        table = tables[0]
    return table.model_fields


def _merged(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Merges the changes of a stage into the values of a configuration, table by table."""
    return {**values} | {
        key: _merged(values.get(key, {}), change) if isinstance(change, dict) else change
        for key, change in changes.items()
    }


def load_configuration(path: str | os.PathLike[str]) -> TrainingConfiguration:
    """Reads and checks a configuration file.

    Raises:
        InputError: it is missing, no TOML, or a value is wrong; the message names the file and every wrong key.
        MissingComponent: its algorithm is in a distribution that is not installed.
    """
    text = read_text(path)
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: is not TOML: {error}") from None
    # Python's errors for a number with thousands of digits and for thousands of brackets.
    except (ValueError, RecursionError):
        raise InputError(f"{path}: is not TOML: a number is too long, or tables are nested too deeply") from None
    return checked_configuration(values, str(path))


def checked_configuration(values: Any, source: str = "configuration") -> TrainingConfiguration:
    """Makes a configuration from its values.

    Raises:
        InputError: a value is wrong; `source` and every wrong key are named.
        MissingComponent: its algorithm is in a distribution that is not installed.
    """
    kind = _class_of(values.get("algorithm") if isinstance(values, dict) else None)
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        faults = "; ".join(f"{key}: {text}" for key, text in _faults(error, kind))
        raise InputError(f"{source}: {faults}") from None


def configuration_faults(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns the key and the fault of each wrong value of a configuration; the key is that of the table, or `file`, if
    several values do not fit together.
    """
    kind = _class_of(values.get("algorithm"))
    try:
        kind.model_validate(values)
    except ValidationError as error:
        return _faults(error, kind)
    return []


def _faults(error: ValidationError, kind: type[TrainingConfiguration]) -> list[tuple[str, str]]:
    faults = []
    for fault in error.errors():
        key = ".".join(str(part) for part in fault["loc"]) or "file"
        text = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            meant = closest(str(fault["loc"][-1]), _keys_at(kind, fault["loc"][:-1]))
            text = "unknown key" + (f"; did you mean {meant}?" if meant else "")
        faults.append((key, text))
    return faults
