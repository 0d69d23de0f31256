"""Records of results: measurements of a command, small enough to be kept in the repository and cited by its documents.

A measurement is one JSON file in `docs/results/`. Each value has a key, such as `bundled/weir/challenge`.
`make results` writes the files, `docs/cite.py` inserts their values in the documents.
"""

from __future__ import annotations

import functools
import hashlib
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from weir_cli.files.output import write_text
from weir_eval.records.part import read_document

SCHEMA: Literal["weir.measurement/1"] = "weir.measurement/1"
_DIGITS = 6

Number = Annotated[float, Field(allow_inf_nan=False)]
Subject = Literal["model", "earlier model", "earlier code", "simulator"]


class Value(NamedTuple):
    """A value and its interval: the 95 % interval of a mean, or the smallest and largest repetition of a speed; both
    are None if there is none.
    """

    value: Number
    low: Number | None = None
    high: Number | None = None


class Origin(BaseModel):
    """The origin of a part of a record: the command, the model used (empty: none), the commit and the date of the
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
        measured: the kind: in replays, on a machine (speed), in calls, by a training, or as a paper's experiment.
        about: the sets and seeds, for readers.
        command: the command that repeats the measurement.
        model_sha256: digest of the model; empty if the values do not depend on one.
        subject: the subject of the values: the shipped model; an earlier one, or the shipped one
            in earlier code, which documents then state; or the accuracy of simulators relative to calls, under any
            model.
        simulator: the fingerprint (`weir_eval.fingerprint`) of the simulator that made replays.
        libwebrtc: the version of the opponents.
        commit: commit of the code that measured, or of the document from which the values were copied.
        taken_over: the document; empty for a record written by its command.
        origins: origins of parts that were measured separately, by the first word of their values' keys, or by a whole
            key; see `origin_of`.
        published: the published values of a paper, by key.
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


def origin_of(record: Measurement, key: str) -> Origin:
    """The origin of a value: its own, or that of its part.

    Raises:
        KeyError: the record has neither.
    """
    return record.origins.get(key) or record.origins[key.partition("/")[0]]


def write_measurement(path: Path, record: Measurement) -> None:
    """Writes a record, one value per line, rounded to six significant digits."""
    head = record.model_dump_json(by_alias=True, exclude={"values"}, exclude_defaults=True, indent=1)
    head = head.removesuffix("\n}").replace("{", f'{{\n "schema": "{SCHEMA}",', 1)
    lines = ",\n".join(
        f'  "{key}": [{", ".join(_text(number) for number in value if number is not None)}]'
        for key, value in record.values.items()
    )
    write_text(path, f'{head},\n "values": {{\n{lines}\n }}\n}}\n')


def read_measurement(path: Path) -> Measurement:
    """Reads a record. Raises InputError if the file cannot be read, or is not a record of results."""
    return read_document(path, Measurement, "record of a command, which writes it again")


def commit() -> str:
    """The commit of the source tree; empty outside one."""
    return _git("rev-parse", "--short", "HEAD").decode().strip()


@functools.cache
def commit_with_changes() -> str:
    """The commit, followed by `+` and a hash of the changes to files of the source tree that are not committed, if
    there are any, both at the first call in a process. Documents do not count.
    """
    changes = _git("diff", "--binary", "HEAD", "--", ":(top)", ":(top,exclude)*.md")
    return commit() + (f"+{hashlib.sha256(changes).hexdigest()[:8]}" if changes else "")


def _git(*words: str) -> bytes:
    """The output of a command of git in the source tree; empty if it fails."""
    command = ["git", "-C", str(Path(__file__).parent), *words]
    try:
        return subprocess.run(command, capture_output=True, timeout=10.0, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return b""


def today() -> str:
    """The date, UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%d")


def stale(record: Measurement, model_sha256: str, fingerprints: Mapping[str, str]) -> str:
    """Why a record does not apply to this state of the repository; empty if it does. Values copied from a document have
    no fingerprint.
    """
    if record.subject == "model" and record.model_sha256 not in ("", model_sha256):
        return "was measured with another model"
    if record.subject != "earlier code" and record.simulator and fingerprints.get(record.libwebrtc) != record.simulator:
        return "was measured with a simulator that behaved otherwise"
    return ""


def _text(number: float) -> str:
    return f"{float(f'{number:.{_DIGITS}g}'):.10g}"
