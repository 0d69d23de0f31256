"""Values of a link that change during a run: its delay, its loss ratio (format ``weir.scenario/1``)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Discriminator, Field, Tag, model_validator

from weir_traces.schema import NotNegative, Part, PositiveTime, Ratio, Values
from weir_traces.schema.capacity import rotated

CONSTANT, CHANGING = "<number>", "<changing>"
"""Names of the two forms of such a value in pydantic's locations; not keys in a file."""


class _ValuesOverTime(Part):
    """Piecewise constant values: each holds from its time on (s, the first 0).

    ``period_s`` null: the last value holds forever; else the values repeat with that period, in seconds.
    """

    values_name: ClassVar[str]
    times_s: Values[NotNegative] = Field(min_length=1)
    period_s: PositiveTime | None = None

    @model_validator(mode="after")
    def _consistent(self) -> _ValuesOverTime:
        values = getattr(self, self.values_name)
        if len(values) != len(self.times_s):
            raise ValueError(f"{len(self.times_s)} times_s and {len(values)} {self.values_name}; give as many of each")
        if self.times_s[0] != 0:
            raise ValueError(f"times_s[0]: must be 0, not {self.times_s[0]:g}")
        # Compare in whole ns, the simulator's unit.
        later = np.diff(np.rint(np.array([*self.times_s, *self._period()]) * 1e9)) > 0
        if not np.all(later):
            index = int(np.argmin(later)) + 1
            where = f"times_s[{index}]" if index < len(self.times_s) else "period_s"
            raise ValueError(f"{where}: must be later than the time before it")
        return self

    def at(self, time_s: ArrayLike) -> NDArray[np.float64]:
        """The value at each time (s, >= 0)."""
        time = np.asarray(time_s, dtype=np.float64)
        if self.period_s is not None:
            time = np.mod(time, self.period_s)
        values = np.array(getattr(self, self.values_name), dtype=np.float64)
        return values[np.searchsorted(self.times_s, time, side="right") - 1]

    def mean(self, duration_s: float) -> float:
        """The mean over the time from 0 to ``duration_s`` (> 0)."""
        values = np.array(getattr(self, self.values_name), dtype=np.float64)
        if self.period_s is None:
            return float(_integral(self.times_s, values, duration_s) / duration_s)
        periods, rest = divmod(duration_s, self.period_s)
        whole = _integral(self.times_s, values, self.period_s)
        return float((periods * whole + _integral(self.times_s, values, rest)) / duration_s)

    def starting_at(self, start_s: float) -> Self:
        """Shifts periodic values so that ``start_s`` (s, >= 0) becomes 0; without a period, returns them unchanged."""
        if self.period_s is None:
            return self
        times_s, held = rotated(self.times_s, self.period_s, start_s)
        values = getattr(self, self.values_name)
        return self.model_copy(
            update={"times_s": times_s.tolist(), self.values_name: [values[index] for index in held]}
        )

    def _period(self) -> list[float]:
        return [] if self.period_s is None else [self.period_s]


class DelayOverTime(_ValuesOverTime):
    """``values_ms``: one-way delays in ms. A packet gets the delay of the time at which it leaves the bottleneck."""

    values_name: ClassVar[str] = "values_ms"
    values_ms: Values[NotNegative] = Field(min_length=1)

    def longer_by(self, difference_ms: float) -> DelayOverTime:
        """Adds ``difference_ms`` to every delay; the result is never below 0."""
        return self.model_copy(
            update={"values_ms": [max(0.0, round(delay_ms + difference_ms, 3)) for delay_ms in self.values_ms]}
        )


class RatioOverTime(_ValuesOverTime):
    """``ratios``: probabilities, each 0..1. A packet gets the ratio of the time at which it is sent."""

    values_name: ClassVar[str] = "ratios"
    ratios: Values[Ratio] = Field(min_length=1)


def _form(value: Any) -> str:
    return CHANGING if isinstance(value, dict | _ValuesOverTime) else CONSTANT


OneWayDelay = Annotated[
    Annotated[NotNegative, Tag(CONSTANT)] | Annotated[DelayOverTime, Tag(CHANGING)], Discriminator(_form)
]
"""Milliseconds, constant or over time."""

LossRatio = Annotated[Annotated[Ratio, Tag(CONSTANT)] | Annotated[RatioOverTime, Tag(CHANGING)], Discriminator(_form)]
"""0..1, constant or over time."""


def _integral(times_s: list[float], values: NDArray[np.float64], end_s: float) -> float:
    edges = np.minimum(np.append(times_s, np.inf), end_s)
    return float(np.sum(values * np.diff(edges)))
