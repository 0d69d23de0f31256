"""The tables `ppo`, `td3` and `sac`, with names and meanings of stable-baselines3 unless noted, and `impala`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from weir.trainer.configuration import Settings

ALGORITHMS = ("ppo", "impala", "td3", "sac")


class PpoSettings(Settings):
    """Proximal policy optimization.

    `*_end`: the value at the last step, reached linearly. `weight_average_decay`: decay per update of the moving
    average of the weights, which is then the policy of the run (`weir.trainer.learning.callbacks`); 0: off.
    """

    learning_rate: PositiveFloat = 3e-4
    learning_rate_end: PositiveFloat = 3e-5
    steps_per_update: PositiveInt = 512
    batch_size: int = Field(512, ge=2)
    epochs: int = Field(6, ge=1, le=1000)
    gamma: float = Field(0.95, ge=0.0, lt=1.0)
    gae_lambda: float = Field(0.9, ge=0.0, le=1.0)
    clip_range: float = Field(0.2, gt=0.0, lt=1.0)
    entropy_coefficient: float = Field(0.003, ge=0.0)
    entropy_coefficient_end: float = Field(0.0, ge=0.0)
    value_coefficient: float = Field(0.5, ge=0.0)
    maximum_gradient_norm: PositiveFloat = 0.5
    target_kl: PositiveFloat | None = 0.03
    weight_average_decay: float = Field(0.0, ge=0.0, lt=1.0)


class ImpalaSettings(Settings):
    """IMPALA (Espeholt et al. 2018) on Ray: every runner drives `environments` environments. Names that `ppo` has, too,
    mean the same.

    Attributes:
        runners: how many; None: one for each core of the machine or the cluster.
        steps_per_fragment: intervals of each environment that a runner sends at once; V-trace sums over them.
        epochs: passes over a fragment, each with V-trace anew.
        trace_decay: lambda of V-trace.
        ratio_limit: rho of V-trace.
        standstill_s: a training that has sampled or learned nothing for so long ends with an error.
    """

    runners: int | None = Field(None, ge=1, le=4096)
    learning_rate: PositiveFloat = 1e-3
    learning_rate_end: PositiveFloat = 1e-4
    steps_per_fragment: int = Field(48, ge=2, le=10_000)
    batch_size: int = Field(2048, ge=2)
    epochs: int = Field(5, ge=1, le=100)
    gamma: float = Field(0.95, ge=0.0, lt=1.0)
    trace_decay: float = Field(0.9, ge=0.0, le=1.0)
    ratio_limit: PositiveFloat = 1.0
    clip_range: float = Field(0.2, gt=0.0, lt=1.0)
    entropy_coefficient: float = Field(0.003, ge=0.0)
    entropy_coefficient_end: float = Field(0.0, ge=0.0)
    value_coefficient: float = Field(0.5, ge=0.0)
    maximum_gradient_norm: PositiveFloat = 0.5
    weight_average_decay: float = Field(0.0, ge=0.0, lt=1.0)
    standstill_s: PositiveFloat = 180.0


class OffPolicySettings(Settings):
    """Settings that TD3 and SAC share.

    After every `steps_per_update` intervals (in each environment) follow `gradient_steps` gradient steps. The buffer
    holds `buffer_size` transitions, of all environments together.
    """

    learning_rate: PositiveFloat = 1e-3
    learning_rate_end: PositiveFloat = 1e-3
    buffer_size: PositiveInt = 300_000
    learning_starts: NonNegativeInt = 1_000
    batch_size: PositiveInt = 256
    tau: float = Field(0.005, gt=0.0, le=1.0)
    gamma: float = Field(0.95, ge=0.0, lt=1.0)
    steps_per_update: PositiveInt = 1
    gradient_steps: PositiveInt = 1


class Td3Settings(OffPolicySettings):
    """Twin-delayed DDPG, exploring with noise on actions in [-1, 1].

    `action_noise` is the standard deviation of `gaussian` noise, drawn anew at every step, or the sigma of
    `ornstein_uhlenbeck` noise, which begins at 0 with every episode and wanders by `action_noise` / 10 a step, towards
    a standard deviation of 1.8 `action_noise` after several hundred steps (stable-baselines3's theta and dt).
    """

    action_noise: NonNegativeFloat = 0.1
    noise: Literal["gaussian", "ornstein_uhlenbeck"] = "gaussian"
    policy_delay: PositiveInt = 2
    target_policy_noise: NonNegativeFloat = 0.2
    target_noise_clip: NonNegativeFloat = 0.5


class SacSettings(OffPolicySettings):
    """Soft actor-critic. The coefficient of entropy is learned where it is "auto"."""

    learning_rate: PositiveFloat = 3e-4
    learning_rate_end: PositiveFloat = 3e-4
    entropy_coefficient: Literal["auto"] | NonNegativeFloat = "auto"
