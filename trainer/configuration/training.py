"""The training configuration: a TOML file, checked before anything runs."""

from __future__ import annotations

import math
import os
import tomllib
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveFloat, PositiveInt, ValidationError, model_validator

import weir
from weir.errors import InputError
from weir.files.input import read_text
from weir.trainer.configuration import Settings
from weir.trainer.configuration.algorithms import (
    Algorithm,
    ImitationSettings,
    ImpalaSettings,
    OffPolicySettings,
    PpoSettings,
    RecurrentPpoSettings,
    SacSettings,
    Td3Settings,
)
from weir.trainer.configuration.scenarios import ScenarioSettings
from weir.trainer.configuration.tuning import TuneSettings
from weir.trainer.gym.environment import make_specification
from weir.trainer.gym.episode import EpisodeSource
from weir.trainer.gym.rewards import resolve_reward
from weir.trainer.gym.specification import ActionSpecification, EnvironmentSpecification, Side


class ActionSettings(Settings):
    """See `ActionSpecification`."""

    kind: Literal["log_rate", "relative", "around_rule"] = "around_rule"
    min_bps: PositiveFloat = 30_000.0
    max_bps: PositiveFloat = 50_000_000.0
    alpha: PositiveFloat = 0.025
    span: float = Field(3.0, gt=1.0)

    def specification(self) -> ActionSpecification:
        """The same for an environment."""
        return ActionSpecification(**self.model_dump())


class EnvironmentSettings(Settings):
    """The environment: one simulator process each."""

    environments: int = Field(8, ge=1, le=4096)
    interval_ms: int = Field(100, ge=10, le=10_000)
    history: int = Field(8, ge=1, le=100)
    features: tuple[str, ...]
    reward: str = "challenge"
    objective: str | tuple[PositiveFloat, PositiveFloat, PositiveFloat] = "random"
    guard: bool = False
    side: Side = "receiver"
    decision_delay_ms: float | tuple[float, float] = 0.0
    privileged_critic: bool = False
    timeout_s: PositiveFloat = 30.0
    action: ActionSettings = ActionSettings()

    @model_validator(mode="after")
    def _known(self) -> EnvironmentSettings:
        resolve_reward(self.reward)
        self.specification()
        EpisodeSource({}, self.objective)
        return self

    def arguments(self) -> dict[str, Any]:
        """Arguments of `BottleneckEnv` and `BottleneckVectorEnv` besides scenario, objective and simulator."""
        return {
            "reward": self.reward,
            "interval_ms": self.interval_ms,
            "features": self.features,
            "history": self.history,
            "action": self.action.specification(),
            "guard": self.guard,
            "side": self.side,
            "decision_delay_ms": self.decision_delay_ms,
            "privileged": self.privileged_critic,
            "timeout_s": self.timeout_s,
        }

    def specification(self) -> EnvironmentSpecification:
        """The specification these settings make."""
        return make_specification(
            self.interval_ms,
            self.features,
            self.history,
            self.action.specification(),
            self.guard,
            privileged=self.privileged_critic,
            side=self.side,
            decision_delay_ms=self.decision_delay_ms,
        )


class PolicySettings(Settings):
    """The network."""

    hidden: tuple[Annotated[int, Field(ge=1, le=4096)], ...] = Field((64, 32), min_length=1, max_length=8)
    preference_size: int = Field(8, ge=1, le=1024)
    initial_log_standard_deviation: float = Field(-1.0, ge=-5.0, le=2.0)


class TrainingConfiguration(Settings):
    """A whole file."""

    name: str = Field("weir", pattern=r"^[A-Za-z0-9._-]+$")
    version: str = weir.__version__
    seed: int = Field(1, ge=0, lt=2**31)
    steps: PositiveInt = 1_000_000
    checkpoint_every_steps: PositiveInt = 100_000
    threads: int = Field(1, ge=1, le=1024)
    algorithm: Algorithm = "ppo"
    environment: EnvironmentSettings
    scenarios: ScenarioSettings = ScenarioSettings()
    policy: PolicySettings = PolicySettings()
    ppo: PpoSettings = PpoSettings()
    recurrent_ppo: RecurrentPpoSettings = RecurrentPpoSettings()
    td3: Td3Settings = Td3Settings()
    sac: SacSettings = SacSettings()
    impala: ImpalaSettings = ImpalaSettings()
    imitation: ImitationSettings = ImitationSettings()
    tune: TuneSettings | None = None

    @property
    def algorithm_settings(self) -> PpoSettings | ImpalaSettings | OffPolicySettings:
        """The table of the reinforcement learner in use."""
        tables: dict[str, PpoSettings | ImpalaSettings | OffPolicySettings] = {
            "ppo": self.ppo,
            "recurrent_ppo": self.recurrent_ppo,
            "impala": self.impala,
            "td3": self.td3,
            "sac": self.sac,
        }
        return tables[self.algorithm]

    @property
    def steps_per_update(self) -> int:
        """The environment steps between two updates, of all environments together."""
        if self.algorithm == "imitation":
            environments = self.environment.environments
            return -(-self.imitation.decisions_per_iteration // environments) * environments
        settings = self.algorithm_settings
        steps = settings.steps_per_fragment if isinstance(settings, ImpalaSettings) else settings.steps_per_update
        return steps * self.environment.environments

    @property
    def trained_steps(self) -> int:
        """The steps of a run: `steps`, rounded to whole updates; imitation rounds down."""
        updates = self.steps / self.steps_per_update
        whole = max(1, math.floor(updates)) if self.algorithm == "imitation" else math.ceil(updates)
        return whole * self.steps_per_update

    @property
    def saves_buffer(self) -> bool:
        """True when the checkpoints include a replay buffer."""
        return isinstance(self.algorithm_settings, OffPolicySettings) and self.algorithm_settings.save_buffer

    @model_validator(mode="after")
    def _tunable(self) -> TrainingConfiguration:
        if self.tune is not None:
            self.tune.check(TrainingConfiguration)
        return self

    @model_validator(mode="after")
    def _batches(self) -> TrainingConfiguration:
        if self.algorithm == "imitation":
            if self.environment.action.kind != "around_rule":
                raise ValueError('algorithm imitation: needs environment.action.kind "around_rule"')
            return self
        settings = self.algorithm_settings
        if isinstance(settings, OffPolicySettings):
            needed = max(settings.batch_size, self.environment.environments)
            if settings.buffer_size < needed:
                raise ValueError(
                    f"{self.algorithm}.buffer_size {settings.buffer_size} must hold a batch and a transition of every "
                    f"environment: at least {needed}"
                )
            return self
        if isinstance(settings, ImpalaSettings):
            return self
        samples = self.environment.environments * settings.steps_per_update
        if samples % settings.batch_size:
            raise ValueError(
                f"{self.algorithm}.batch_size {settings.batch_size} must divide environments * steps_per_update = "
                f"{samples}"
            )
        return self


def load_configuration(path: str | os.PathLike[str]) -> TrainingConfiguration:
    """Reads and checks a configuration file.

    Raises:
        InputError: it is missing, no TOML, or a value is wrong; the message names the file and every wrong key.
    """
    text = read_text(path)
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: is not TOML: {error}") from None
    # Python's errors for a number with thousands of digits, and for thousands of brackets.
    except (ValueError, RecursionError):
        raise InputError(f"{path}: is not TOML: a number is too long, or tables are nested too deeply") from None
    return checked_configuration(values, str(path))


def checked_configuration(values: dict[str, Any], source: str = "configuration") -> TrainingConfiguration:
    """A configuration from its values.

    Raises:
        InputError: a value is wrong; `source` and every wrong key are named.
    """
    try:
        return TrainingConfiguration.model_validate(values)
    except ValidationError as error:
        faults = []
        for fault in error.errors():
            key = ".".join(str(part) for part in fault["loc"]) or "file"
            text = "unknown key" if fault["type"] == "extra_forbidden" else fault["msg"].removeprefix("Value error, ")
            faults.append(f"{key}: {text}")
        raise InputError(f"{source}: {'; '.join(faults)}") from None
