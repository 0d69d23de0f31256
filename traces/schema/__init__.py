"""The scenario format `weir.scenario/1` and its variation by a seed; here the base class and numbers of its parts."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from weir.traces.schema.capacity import MAX_RATE_BPS

Rate = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=MAX_RATE_BPS)]
# Times in s and delays in ms; the bound keeps them, in ns, inside the simulator's 64 bits.
NotNegative = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1e9)]
PositiveTime = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0, le=1e9)]
Positive = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0)]
Ratio = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1)]
# Integers that a double holds exactly.
PositiveInt = Annotated[int, Field(strict=True, gt=0, le=2**53)]
# Terminals obey control characters.
Name = Annotated[str, Field(min_length=1, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]
Flag = Annotated[bool, Field(strict=True)]


class Part(BaseModel):
    """Base of everything in a scenario: immutable, unknown keys refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)
