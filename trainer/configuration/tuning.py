"""The table `tune`: which settings of a configuration `weir tune` varies, and how it compares them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Field, JsonValue, TypeAdapter, ValidationError, model_validator

from weir.trainer.configuration import Settings

# The table itself, and the steps, of which each rung has a share.
_FIXED = ("tune", "steps", "stages")
# A share at which no number between two whole ones is whole.
_BETWEEN = 0.6180339

Bound = Annotated[int | float, Field(ge=-1e15, le=1e15)]


class ParameterRange(Settings):
    """The values of one setting: whole numbers from `low` to `high` if both are whole, else real ones, uniform or, with
    `log`, uniform in the logarithm; or one of `choices`.
    """

    low: Bound | None = None
    high: Bound | None = None
    log: bool = False
    choices: tuple[JsonValue, ...] | None = Field(None, min_length=2, max_length=100)

    @model_validator(mode="after")
    def _consistent(self) -> ParameterRange:
        if self.choices is not None:
            if self.low is not None or self.high is not None or self.log:
                raise ValueError("choices: omit low, high and log")
        elif self.low is None or self.high is None:
            raise ValueError("give low and high, or choices")
        elif self.low >= self.high:
            raise ValueError("low must be below high")
        elif self.log and self.low <= 0:
            raise ValueError("log: needs low above 0")
        return self

    @property
    def bounds(self) -> tuple[float, float]:
        """`low` and `high`, of a range without choices."""
        assert self.low is not None
        assert self.high is not None
        return self.low, self.high

    @property
    def is_whole(self) -> bool:
        """True for a range of whole numbers."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    def has(self, value: Any) -> bool:
        """True for a value that can be drawn."""
        if self.choices is not None:
            return json.dumps(value) in map(json.dumps, self.choices)
        low, high = self.bounds
        return isinstance(value, int if self.is_whole else int | float) and low <= value <= high

    def samples(self) -> list[Any]:
        """Values that show whether a setting takes the range: the choices, or its ends and one between them."""
        if self.choices is not None:
            return list(self.choices)
        low, high = self.bounds
        return [low, high] if self.is_whole else [low, low + _BETWEEN * (high - low), high]


class TuneSettings(Settings):
    """A search by asynchronous successive halving (Li et al. 2018): each trial is a training, judged at rungs. Of those
    that reach a rung, the best of every `reduction_factor` go on to the next, which has that many times its steps.

    Attributes:
        trials: configurations that are tried.
        rungs: how often a trial is judged; the last time after all `steps` of the configuration.
        reduction_factor: see above.
        scenarios: held-out random scenarios with video, which judge a trial.
        scenario_duration_s: of each.
        parameters: by the path of a setting, such as `ppo.learning_rate`.
    """

    trials: int = Field(30, ge=1, le=10_000)
    rungs: int = Field(3, ge=1, le=8)
    reduction_factor: int = Field(3, ge=2, le=10)
    scenarios: int = Field(100, ge=1, le=10_000)
    scenario_duration_s: float = Field(60.0, ge=1.0, le=3600.0)
    parameters: dict[str, ParameterRange] = Field(min_length=1, max_length=50)

    def rung_steps(self, steps: int) -> list[int]:
        """The steps of a trial at each rung, of `steps` in all."""
        return [max(1, steps // self.reduction_factor**left) for left in reversed(range(self.rungs))]

    def check(self, configuration: type[BaseModel]) -> None:
        """Raises a ValueError for a parameter that is no setting of the configuration, or takes a value that it cannot
        have. Settings that contradict each other are found when a trial begins.
        """
        for path, values in self.parameters.items():
            setting = _setting(configuration, path)
            for value in values.samples():
                try:
                    setting.validate_python(value)
                except ValidationError as error:
                    raise ValueError(f'tune.parameters."{path}", {value}: {error.errors()[0]["msg"]}') from None


def with_parameters(values: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a configuration with those of the parameters, given by their paths, in place."""
    changed = dict(values)
    for path, value in parameters.items():
        first, _, rest = path.partition(".")
        changed[first] = with_parameters(changed.get(first, {}), {rest: value}) if rest else value
    return changed


def setting_of(values: Mapping[str, Any], path: str) -> Any:
    """The value at a path of a whole configuration."""
    first, _, rest = path.partition(".")
    return setting_of(values[first], rest) if rest else values[first]


def _setting(configuration: type[BaseModel], path: str) -> TypeAdapter[Any]:
    """Checks values of the setting at a path."""
    kind: Any = configuration
    metadata: list[Any] = []
    for key in path.split("."):
        fields = kind.model_fields if _is_table(kind) else {}
        if key not in fields or path.partition(".")[0] in _FIXED:
            raise ValueError(f'tune.parameters."{path}": is no setting that can be varied')
        kind, metadata = fields[key].annotation, fields[key].metadata
    if _is_table(kind):
        raise ValueError(f'tune.parameters."{path}": is a table; name a setting in it, such as "{path}.KEY"')
    return TypeAdapter(Annotated[kind, *metadata] if metadata else kind)


def _is_table(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
