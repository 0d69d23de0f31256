"""Bounded numbers and immutable parts, of which all records are made; reads documents made of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from weir_cli.errors import InputError
from weir_cli.files.input import parse_json, read_text

Number = Annotated[float, Field(ge=-1e18, le=1e18, strict=True, allow_inf_nan=False)]
"""Bounded so that sums and squares of measures remain finite."""
Count = Annotated[int, Field(ge=-(1 << 62), le=1 << 62, strict=True)]
Measures = Mapping[str, float | None]
"""Values by the name of the measure in `weir_eval.measures.table`; None if a measure is undefined."""
Objective = Annotated[tuple[Number, Number, Number], Field(strict=False)]
"""Weights of throughput, latency and loss."""
Interval = Annotated[tuple[float | None, float | None], Field(strict=False)]
"""Lower and upper end; both are None if there is no interval."""


class Part(BaseModel):
    """A part of a record. Immutable; keys of other versions are kept."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow", allow_inf_nan=False, populate_by_name=True)


PartType = TypeVar("PartType", bound=Part)
ModelType = TypeVar("ModelType", bound=BaseModel)


def read_document(path: Path, kind: type[ModelType], subject: str) -> ModelType:
    """Reads a JSON file as a model; `subject` names it in messages.

    Raises:
        InputError: the file cannot be read, or is invalid.
    """
    try:
        return kind.model_validate(parse_json(read_text(path), str(path)))
    except ValidationError as error:
        raise InputError(f"{path}: is not the {subject} ({first_fault(error)})") from None


def first_fault(error: ValidationError) -> str:
    """The location and text of the first fault, on one line."""
    fault = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, fault["loc"]))
    return f"{where}: {fault['msg']}" if where else str(fault["msg"])
