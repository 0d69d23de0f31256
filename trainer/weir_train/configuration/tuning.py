"""The table `tune`: which settings of a configuration `weir tune` varies, and how it compares them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field, JsonValue, model_validator

from weir_cli.errors import InputError
from weir_train.configuration import Settings

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

# Cannot be varied: the table itself, and the steps, which the rungs share.
_FIXED = ("tune", "steps", "stages")


class ParameterRange(Settings):
    """The values of one setting: a range, or a choice of several."""

    low: int | float | None = None
    """The lowest value. If it and `high` are whole, only whole numbers are drawn."""
    high: int | float | None = None
    """The highest value, above `low`."""
    log: bool = False
    """`true` draws uniformly in the logarithm; `low` is then above 0."""
    choices: tuple[JsonValue, ...] | None = Field(None, min_length=2, max_length=100)
    """One of these instead of a range."""

    @model_validator(mode="after")
    def _consistent(self) -> ParameterRange:
        bounds = [bound for bound in (self.low, self.high) if bound is not None]
        if len(bounds) != (2 if self.choices is None else 0):
            raise ValueError("give low and high, or choices")
        if bounds and (bounds[0] >= bounds[1] or (self.log and bounds[0] <= 0)):
            raise ValueError("low must be below high, and with log above 0")
        return self

    def distribution(self) -> BaseDistribution:
        """Returns the range as an Optuna distribution."""
        from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

        if self.low is None or self.high is None:
            return CategoricalDistribution([self.as_drawn(choice) for choice in self.choices or ()])
        if isinstance(self.low, int) and isinstance(self.high, int):
            return IntDistribution(self.low, self.high, log=self.log)
        return FloatDistribution(self.low, self.high, log=self.log)

    def limits(self) -> list[JsonValue]:
        """Returns the values that show if a setting accepts the range: its ends, of a range with fractions one between
        them too, or all choices.
        """
        if self.low is None or self.high is None:
            return list(self.choices or ())
        if isinstance(self.low, int) and isinstance(self.high, int):
            return [self.low, self.high]
        return [self.low, self.high, self.low + (self.high - self.low) / math.pi]

    def as_drawn(self, value: Any) -> Any:
        """Converts a value to Optuna's form: choices must be scalars there, so they are JSON text."""
        return value if self.choices is None else json.dumps(value)

    def has(self, value: Any) -> bool:
        """True for a value that can be drawn."""
        if self.low is None or self.high is None:
            return self.as_drawn(value) in map(self.as_drawn, self.choices or ())
        return isinstance(value, int | float) and self.low <= value <= self.high


class TuneSettings(Settings):
    """A search by asynchronous successive halving (Li et al. 2018): each trial is a training, judged at rungs. The best
    of every `reduction_factor` trials at a rung advance to the next, which has that many times the steps.
    """

    trials: int = Field(30, ge=1, le=10_000)
    """Number of configurations to try."""
    rungs: int = Field(3, ge=1, le=8)
    """How often a trial is judged; the last time after all `steps` of the configuration."""
    reduction_factor: int = Field(3, ge=2, le=10)
    """The best of this many trials at a rung advances to the next, which has that many times the steps."""
    scenarios: int = Field(100, ge=1, le=10_000)
    """Number of held-out random scenarios with video that judge a trial."""
    scenario_duration_s: float = Field(60.0, ge=1.0, le=3600.0)
    """Duration of each scenario, in seconds."""
    parameters: dict[str, ParameterRange] = Field(min_length=1, max_length=50)
    """Ranges by the path of a setting, such as `ppo.learning_rate`."""

    def rung_steps(self, steps: int) -> list[int]:
        """Returns the steps of a trial at each rung, of `steps` in total."""
        return [max(1, steps // self.reduction_factor**left) for left in reversed(range(self.rungs))]


def with_parameters(values: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values of a configuration with the parameters, given by their paths, set."""
    changed = dict(values)
    for path, value in parameters.items():
        first, _, rest = path.partition(".")
        changed[first] = with_parameters(changed.get(first, {}), {rest: value}) if rest else value
    return changed


def setting_of(values: Mapping[str, Any], path: str) -> Any:
    """Returns the value at a path of a whole configuration.

    Raises:
        InputError: it has no such setting, or one that cannot be varied.
    """
    found: Any = values
    for key in path.split("."):
        if not isinstance(found, Mapping) or key not in found or path.partition(".")[0] in _FIXED:
            raise InputError(f'tune.parameters."{path}": is no setting that can be varied')
        found = found[key]
    return found
