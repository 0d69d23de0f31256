"""The configuration of a training: the tables of its file, and its scenarios."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Settings(BaseModel):
    """A table of the file, which refuses unknown keys. `trainer/README.md` has the docstrings of its keys in tables."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
