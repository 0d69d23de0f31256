"""`summary.json`: the results of a set of runs or calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pydantic import Field, JsonValue, ValidationError

from weir_cli.errors import InputError
from weir_cli.files.input import parse_json, read_text
from weir_eval.records.against import Against
from weir_eval.records.comparisons import CauseRow, FamilyRow, PairedRow, Spread
from weir_eval.records.objectives import ObjectivesSummary
from weir_eval.records.part import Objective, Part, read_document


class ModelAbout(Part):
    """Name and hash of a model's file."""

    name: str
    sha256: str


class ControllerAbout(Part):
    """The origin of a custom controller."""

    source: str
    sha256: str


class ScenarioAbout(Part):
    """The description of a scenario in a summary.

    Attributes:
        findings: faults and outages of its file, with their repairs.
        assumed: values that the file has not, with the default in place of each.
    """

    description: str = ""
    source: str = ""
    one_way_delay_ms: float | None = None
    findings: list[str] = []
    assumed: list[str] = []


class RunAbout(Part):
    """The runs and their command; every field may be absent in a summary of another version or command.

    Attributes:
        command: the command line.
        finished: the time at which it ended, for readers; empty until then.
        runs: number of complete runs, of those `planned`.
        reference: the controller that the judged ones are compared with first.
        failures: one text for each run that did not complete.
        near_copies: for scenarios of almost the same path as another one, the name of that, with which they count.
    """

    command: str = ""
    finished: str = ""
    wall_s: float | None = None
    runs: int = 0
    planned: int = 0
    objective: Objective | None = None
    reference: str = ""
    seeds: list[int] = []
    model: ModelAbout | None = None
    custom_controllers: dict[str, ControllerAbout] = {}
    versions: dict[str, str] = {}
    failures: list[str] = []
    scenarios: dict[str, ScenarioAbout] = {}
    near_copies: dict[str, str] = {}


class MeasureAbout(Part):
    """A measure for readers of a summary. `unit`: that of its values in the summary, which may differ from the page's:
    ratio, bit/s, ms, of 100; empty for counts and indices, and in summaries of earlier versions.
    """

    label: str
    unit: str = ""
    better: str
    meaning: str


class ExcludedCall(Part):
    """A call that is excluded from means, and why."""

    scenario: str
    controller: str
    seed: int
    why: list[str]


class Summary(Part):
    """`summary.json`: the results of a set of runs or calls. The stable interface of `weir replay` for scripts.

    Attributes:
        controllers: values by controller and measure, over the runs that define the measure for all controllers that
            have it, whose number may differ between measures; omits measures that no run of a controller defines.
        completed: number of complete runs by controller.
        scenarios: means over seeds by scenario, controller and measure.
        paired: each judged controller compared with all others (`measures/comparison.py`), the reference first.
        causes: causes of freezes and long queues.
        left_out: calls that are excluded from means.
        against: the comparison with another folder, of `weir report --against`.
    """

    schema_: Literal["weir.summary/1"] = Field(default="weir.summary/1", alias="schema")
    run: RunAbout
    metrics: dict[str, MeasureAbout]
    controllers: dict[str, dict[str, Spread]]
    scenarios: dict[str, dict[str, dict[str, float]]]
    paired: list[PairedRow]
    completed: dict[str, int] = {}
    objectives: ObjectivesSummary | None = None
    families: list[FamilyRow] = []
    causes: list[CauseRow] = []
    left_out: list[ExcludedCall] = []
    against: Against | None = None

    def to_json(self) -> dict[str, JsonValue]:
        """The document, without parts that were never set."""
        return {"schema": "weir.summary/1"} | self.model_dump(by_alias=True, exclude_unset=True)

    def text(self) -> str:
        """The text of the file."""
        return json.dumps(self.to_json(), indent=1, allow_nan=False)


def read_summary(path: Path) -> Summary:
    """Reads a summary. Raises InputError if the file cannot be read, or is not a summary of a replay or of calls."""
    return read_document(path, Summary, "summary.json of 'weir replay', which 'weir report' writes again")


def read_run(summary: Path) -> RunAbout:
    """`run` of an earlier summary; empty if there is no readable one."""
    try:
        return RunAbout.model_validate(parse_json(read_text(summary), str(summary))["run"])
    except (InputError, KeyError, TypeError, ValidationError):
        return RunAbout()
