"""Records of results: what a command measured, small enough to stand in the repository and be cited by its documents.

A measurement is one JSON file of `docs/results/`. Each value has a key, such as `bundled/weir/challenge`.
`make results` writes them, `docs/cite.py` puts their values into the documents.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from weir.files.output import write_text
from weir.qoe_eval.records.part import read_document

SCHEMA: Literal["weir.measurement/1"] = "weir.measurement/1"
_DIGITS = 6

Number = Annotated[float, Field(allow_inf_nan=False)]
Subject = Literal["model", "earlier model", "simulator"]


class Value(NamedTuple):
    """A value and its interval: 95 % of a mean, or the smallest and largest repetition of a speed; None twice where
    there is none.
    """

    value: Number
    low: Number | None = None
    high: Number | None = None


class Origin(BaseModel):
    """Where a part of a record comes from: the command, the model behind it (empty: none), the commit and date of the
    measurement.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: str
    model_sha256: str
    commit: str
    date: str


class Measurement(BaseModel):
    """A record of results.

    Attributes:
        measured: where: in replays, on a machine (speed), in calls, by a training, or as a paper's experiment.
        about: the sets and seeds, for readers.
        command: that measures it again.
        model_sha256: of the model; empty where none is behind the values.
        subject: what the values are about: the shipped model; an earlier one, as documents then say; or how near
            simulators are to calls, under whichever model.
        simulator: the fingerprint (`weir.qoe_eval.fingerprint`) of the simulator behind replays.
        libwebrtc: the version of opponents.
        commit: of the code that measured, or from whose documents the values were taken over.
        taken_over: the document; empty for a record that its command wrote.
        origins: of parts that were measured apart, by the first word of their values' keys.
        published: what a paper gives for the value of a key.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_: Literal["weir.measurement/1"] = Field(default=SCHEMA, alias="schema")
    measured: Literal["replays", "speed", "calls", "training", "papers"]
    about: str
    command: str
    model_sha256: str = ""
    subject: Subject = "model"
    simulator: str = ""
    libwebrtc: str = ""
    date: str
    commit: str
    taken_over: str = ""
    origins: dict[str, Origin] = {}
    published: dict[str, Number] = {}
    values: dict[str, Value]


def write_measurement(path: Path, record: Measurement) -> None:
    """Writes a record, a value a line, rounded to six significant digits."""
    head = record.model_dump_json(by_alias=True, exclude={"values"}, exclude_defaults=True, indent=1)
    head = head.removesuffix("\n}").replace("{", f'{{\n "schema": "{SCHEMA}",', 1)
    lines = ",\n".join(
        f'  "{key}": [{", ".join(_text(number) for number in value if number is not None)}]'
        for key, value in record.values.items()
    )
    write_text(path, f'{head},\n "values": {{\n{lines}\n }}\n}}\n')


def read_measurement(path: Path) -> Measurement:
    """Raises:
    InputError: the file cannot be read, or is no record of results.
    """
    return read_document(path, Measurement, "record of a command, which writes it again")


def commit() -> str:
    """The commit of the source tree; empty outside one."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10.0, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def today() -> str:
    """The date, UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%d")


def stale(record: Measurement, model_sha256: str, fingerprints: Mapping[str, str]) -> str:
    """Why a record is no longer about the repository; empty: it is. Values that were taken over from a document have
    no fingerprint.
    """
    if record.subject == "model" and record.model_sha256 not in ("", model_sha256):
        return "was measured with another model"
    if record.simulator and fingerprints.get(record.libwebrtc) != record.simulator:
        return "was measured with a simulator that behaved otherwise"
    return ""


def _text(number: float) -> str:
    return f"{float(f'{number:.{_DIGITS}g}'):.10g}"
