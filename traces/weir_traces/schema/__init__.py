"""The scenario format `weir.scenario/1` and its variation by a seed; defines the base class and types of its parts."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from weir_traces.schema.capacity import MAX_RATE_BPS, MAX_TIME_S

Rate = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=MAX_RATE_BPS)]
# Times in s and delays in ms.
NotNegative = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=MAX_TIME_S)]
PositiveTime = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0, le=MAX_TIME_S)]
Positive = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0)]
Ratio = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1)]
# Integers that a double holds exactly.
PositiveInt = Annotated[int, Field(strict=True, gt=0, le=2**53)]
# Control characters are refused because terminals interpret them.
Name = Annotated[str, Field(min_length=1, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]
Flag = Annotated[bool, Field(strict=True)]
T = TypeVar("T")
# Validation stops at the first fault of a list: all faults of a hostile file would take gigabytes.
Values = Annotated[list[T], Field(fail_fast=True)]
MAX_KEYS = 100


def few_keys(data: Any) -> Any:
    """Returns JSON data unchanged. Raises ValueError for an object with more than MAX_KEYS keys, instead of one fault
    per key.
    """
    if isinstance(data, dict) and len(data) > MAX_KEYS:
        raise ValueError(f"has {len(data)} keys; use at most {MAX_KEYS}")
    return data


class Part(BaseModel):
    """Base of all parts of a scenario: immutable, refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _few_keys(cls, data: Any) -> Any:
        return few_keys(data)
