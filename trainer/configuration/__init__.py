"""The configuration of a training: the tables of its file, and its scenarios."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Settings(BaseModel):
    """A table of the file: unknown keys are refused. The docstrings of its keys are in the tables of
    `trainer/README.md`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
