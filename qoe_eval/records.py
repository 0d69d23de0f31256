"""The records of runs and calls, and the summary of many of them: typed, written and read here alone.

`results.jsonl` has one `weir.result/1` record a line: a `RunRecord` of a replay, or a `CallRecord` of a real call
(with a part `call`). Time series are not part of a line; `weir.qoe_eval.runs.store` keeps them in files of their own.
Keys that this version does not know are kept, so that newer records survive a rewrite.
"""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, NotRequired, TypeVar, cast

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, JsonValue, SkipValidation, TypeAdapter, ValidationError
from typing_extensions import TypedDict  # pydantic does not take that of typing before Python 3.12

from weir.errors import InputError
from weir.files.input import parse_json, printable, read_bytes, read_text
from weir.simulator.executables import Stack
from weir.traces.schema import Values

SCHEMA: Literal["weir.result/1"] = "weir.result/1"
LARGEST_RESULTS_BYTES = 1 << 30
"""The size of about a hundred thousand records."""
LARGEST_RECORD_BYTES = 16 << 20

Number = Annotated[float, Field(ge=-1e18, le=1e18, strict=True, allow_inf_nan=False)]
"""Beyond these bounds sums and squares of measures are no longer finite."""
Count = Annotated[int, Field(ge=-(1 << 62), le=1 << 62, strict=True)]
FrameNumber = Annotated[int, Field(ge=0, le=1 << 50, strict=True)]
Measures = Mapping[str, float | None]
"""Values by the name of their measure in `weir.qoe_eval.measures.table`; None where a measure is undefined."""
Objective = Annotated[tuple[Number, Number, Number], Field(strict=False)]
"""Weights of throughput, latency and loss."""
Interval = Annotated[tuple[float | None, float | None], Field(strict=False)]
"""Both ends, or None twice where there is none."""
Samples = Values[Number | None]
EpisodeKind = Literal["freeze", "queue"]


class FrameColumns(TypedDict):
    """Every frame of a flow. `complete_time_us` is None for a frame that never arrived whole; `sent_time_us` is of its
    last packet. Older records lack these two. Virtual calls have the rest: `rendered_time_us` of libwebrtc's receiver,
    the frame's `height`, and the encoder's quantizer `qp`, -1 where it is unknown.
    """

    capture_time_us: Values[FrameNumber]
    complete_time_us: Values[FrameNumber | None]
    bytes: Values[FrameNumber]
    sent_time_us: NotRequired[Values[FrameNumber]]
    key_frame: NotRequired[Values[FrameNumber]]
    rendered_time_us: NotRequired[Values[FrameNumber | None]]
    height: NotRequired[Values[FrameNumber]]
    qp: NotRequired[Samples]


class PathColumns(TypedDict, total=False):
    """Time series of the forward link, one sample per `interval_s`."""

    interval_s: Annotated[float, Field(ge=1e-3, le=1e4)]
    capacity_bps: Samples | None
    queueing_delay_ms: Samples


class FlowColumns(TypedDict, total=False):
    """Time series of one flow, one sample per interval of the path's."""

    target_bps: Samples | None
    send_rate_bps: Samples
    receive_rate_bps: Samples
    goodput_bps: Samples
    one_way_delay_mean_ms: Samples
    one_way_delay_p95_ms: Samples
    packets_lost: Samples
    rate_feedback_sent: Samples
    feedback_delay_ms: Samples
    remb_bps: Samples
    retransmission_rate_bps: Samples
    probe_rate_bps: Samples
    packets_lost_at_queue: Samples
    most_bytes_in_flight: Samples
    frames: FrameColumns


class Series(TypedDict):
    """All time series of a run: those of the path, and those of its flows by their ids."""

    path: PathColumns | None
    flows: dict[str, FlowColumns | None]


_SERIES = TypeAdapter(Series)
_NEEDED = ("receive_rate_bps", "one_way_delay_mean_ms", "packets_lost")


def parse_series(content: bytes) -> Series:
    """Raises:
    ValueError: it is no JSON of series, in one line; or those of a flow have different lengths.
    """
    try:
        series = _SERIES.validate_json(content)
    except ValidationError as error:
        raise ValueError(first_fault(error)) from None
    path, columns = series["path"], list[object]()
    if path is not None:
        if "interval_s" not in path:
            raise ValueError("a path without interval_s")
        columns += [path.get("capacity_bps"), path.get("queueing_delay_ms")]
    for flow in (flow for flow in series["flows"].values() if flow is not None):
        if missing := [name for name in _NEEDED if name not in flow]:
            raise ValueError(f"a flow without {missing[0]}")
        columns += [column for name, column in flow.items() if name != "frames"]
        frames = flow.get("frames")
        if frames and len({len(column) for column in frames.values() if isinstance(column, list)}) > 1:
            raise ValueError("frames: columns of different lengths")
    if len({len(column) for column in columns if isinstance(column, list) and column}) > 1:
        raise ValueError("columns of different lengths")
    return series


class Part(BaseModel):
    """A part of a record. Immutable; keys of other versions are kept."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow", allow_inf_nan=False, populate_by_name=True)


class PathRecord(Part):
    """The forward path of a run. `mean_capacity_bps` and `queue_bytes` are None where they are unlimited."""

    one_way_delay_ms: Number
    mean_capacity_bps: Number | None = None
    queue_bytes: Number | None = None


class EstimatorRecord(Part):
    """Decisions of a flow's estimator."""

    decisions: Count = 0
    fallback_decisions: Count = 0
    faults: Count = 0


class PoolMemberRecord(Part):
    """One controller of a pool. `pilot_share` is its share of the pool's decisions as the active controller, 0 to 1."""

    name: str
    pilot_share: Number = 0.0
    decisions: Count = 0
    faults: Count = 0


class PoolRecord(Part):
    """The pool of a flow."""

    members: list[PoolMemberRecord]
    pilot_changes: Count = 0
    first_pilot_held_s: Number | None = None


class FlowRecord(Part):
    """One flow of a run.

    Attributes:
        stop_s: None: it lasts until the end of the run.
        achievable_bytes: bytes that the path could have delivered of media that waits for 100 ms at most.
        one_way_delay_ms: mean, p5, p50, p95, p99 and max; None when nothing arrived.
        queueing_delay_ms: the same of the queueing delay, for a path whose own delay changes.
        guard: interventions by the name of their rule.
        rendered: measures of what its receiver rendered and played, where a virtual call has them.
        series: only in a record that carries its series.
    """

    id: str
    kind: str
    controller: str | None = None
    direction: str = "forward"
    start_s: Number = 0.0
    stop_s: Number | None = None
    pauses_s: list[list[Number]] = []
    video_pauses_s: list[list[Number]] = []
    base_one_way_delay_ms: Number = 0.0
    packets_sent: Count = 0
    bytes_sent: Count = 0
    packets_received: Count = 0
    bytes_received: Count = 0
    packets_lost: Count = 0
    achievable_bytes: Number | None = Field(
        default=None, validation_alias=AliasChoices("achievable_bytes", "carriable_bytes")
    )
    one_way_delay_ms: dict[str, Number] | None = None
    queueing_delay_ms: dict[str, Number] | None = None
    seconds_above_400_ms: Number | None = None
    estimator: EstimatorRecord | None = None
    guard: dict[str, Count] | None = None
    pool: PoolRecord | None = None
    rendered: dict[str, Number] | None = None
    series: SkipValidation[FlowColumns | None] = None

    @property
    def delay_ms(self) -> Mapping[str, float]:
        """Statistics of the one-way delay; empty when nothing arrived."""
        return self.one_way_delay_ms or {}


class Episode(Part):
    """A freeze, or a queue above 100 ms, of a flow ("" in a call).

    Attributes:
        cause: the one with the largest share.
        shares: by cause (`weir.qoe_eval.measures.causes`), of the duration; they sum to 1.
    """

    kind: EpisodeKind
    flow: str = ""
    start_s: Number
    duration_s: Number
    cause: str
    shares: dict[str, Number]


class Metrics(Part):
    """The measures of a run, and of each of its flows under test by its id."""

    run: dict[str, Number | None]
    flows: dict[str, dict[str, Number | None]] = {}


class Record(Part):
    """Fields of a run and of a call.

    Attributes:
        key: stands for everything that determines the run; empty for a run that is not part of a plan.
        objective: None where it means nothing.
        variation: the values that the seed has drawn.
        versions: of programs and libraries, by name.
        episodes: freezes and long queues with their causes; empty without series or logs.
    """

    schema_: Literal["weir.result/1"] = Field(default=SCHEMA, alias="schema")
    scenario: str
    controller: str
    objective: Objective | None = None
    seed: Count
    versions: dict[str, str] = {}
    duration_s: Number
    path: PathRecord
    flows: Values[FlowRecord]
    key: str = ""
    variation: dict[str, JsonValue] = {}
    metrics: Metrics
    episodes: Values[Episode] = []

    @property
    def measures(self) -> Measures:
        """The measures of the run or call as a whole."""
        return self.metrics.run

    def to_json(self) -> dict[str, JsonValue]:
        """The record as in a file; fields that were never set are absent."""
        return {"schema": SCHEMA} | self.model_dump(by_alias=True, exclude_unset=True)


class MediaRecord(Part):
    """The media of a flow as the scenario has them: video or filler, and all else about them."""

    kind: str
    max_rate_bps: Number


class RunRecord(Record):
    """One run of a replay.

    Attributes:
        media: by their ids, of the flows that the measures of the run are of; empty: those of the run's controller.
        decision_delay_ms: how long each decision of the model took.
        stack: what carried the RTP flows: the simulator's own endpoints, or libwebrtc's.
        virtual_call: the media of a virtual call.
        series: only in a record that carries its series.
    """

    media: dict[str, MediaRecord] = {}
    model_sha256: str | None = None
    decision_delay_ms: Number = 0.0
    stack: Stack = "model"
    virtual_call: dict[str, JsonValue] | None = None
    metrics: Metrics = Metrics(run={})
    series: SkipValidation[PathColumns | None] = None

    def without_series(self) -> tuple[RunRecord, Series]:
        """The record without its series, and the series."""
        series: Series = {"path": self.series, "flows": {flow.id: flow.series for flow in self.flows}}
        return _without(self, "series").model_copy(
            update={"flows": [_without(f, "series") for f in self.flows]}
        ), series

    def with_series(self, series: Series) -> RunRecord:
        """The opposite of `without_series`."""
        flows = [flow.model_copy(update={"series": series["flows"].get(flow.id)}) for flow in self.flows]
        return self.model_copy(update={"flows": flows, "series": series["path"]})


class CallMeasurement(Part):
    """The time that the measures of a call cover, and what could not be measured.

    `frames`: counts of what became of the received frames, by name.
    """

    media_start_us: Count | None = None
    end_us: Count | None = None
    frames: dict[str, Count] | None = None
    problems: Values[str] = []


class CallDetails(Part):
    """The part of a call's record that a run does not have.

    Attributes:
        folder: the name of the call's own folder.
        audio_codec: empty for a call without audio, as calls were at first.
        decision_delay_ms: how much later each answer of the policy was used.
        transport_cc: the answer had it; False: REMB alone.
        disturbed: why its measures must not be averaged; empty: they may.
        failure: why it ended before its time; empty: it did not.
        started_us: CLOCK_MONOTONIC when the scenario began; None: it never did.
        happened: notes and orders with their times.
    """

    folder: str = ""
    sender: str = ""
    receiver: str = ""
    codec: str = ""
    audio_codec: str = ""
    width: Count = 0
    height: Count = 0
    frames_per_second: Number = 0
    max_bitrate_bps: Number = 0
    decision_delay_ms: Number = 0.0
    transport_cc: bool = True
    description: str = ""
    disturbed: Values[str] = []
    failure: str = ""
    started_us: Count | None = None
    ended_us: Count | None = None
    happened: Values[dict[str, JsonValue]] = []
    wake_up_lag_ms_p99: Number | None = None
    measured: CallMeasurement = CallMeasurement()


class CallRecord(Record):
    """One real call."""

    flows: Values[FlowRecord] = []
    call: CallDetails


class Spread(Part):
    """Mean and tails of one measure over the `n` runs of one controller, on `independent` scenarios.

    `worst` is the minimum or maximum, by what is better; `ci95` the 95 % bootstrap interval of the mean, (None, None)
    for too few scenarios.
    """

    mean: float
    p5: float
    p95: float
    worst: float
    ci95: Interval
    n: int
    independent: int


class PairedComparison(Part):
    """`mean` of a - b over scenarios, its 95 % interval, and on how many of the `independent` scenarios the mean of a
    is strictly better or worse. `n`: pairs of runs behind it. `ci95` is (None, None) for too few scenarios.
    """

    mean: float
    ci95: Interval
    wins: int
    losses: int
    n: int
    independent: int


class PairedRow(PairedComparison):
    """The comparison of `a` with `b`, controllers or presets, by one measure."""

    a: str
    b: str
    metric: str

    @classmethod
    def of(cls, a: str, b: str, metric: str, found: PairedComparison) -> PairedRow:
        """The row of a comparison."""
        return cls(a=a, b=b, metric=metric, **dict(found))


class WorstScenario(Part):
    """A scenario by name, and weir less gcc, or weir divided by gcc, on it."""

    scenario: str
    value: float


class FamilyRow(Part):
    """The results of one family of scenarios; a comparison without any pair of runs is None.

    Attributes:
        media: what its calls send, video or filler.
        description: what happens in it.
        scenarios: how many completed with any controller.
        scores: mean challenge score over scenarios, by controller.
        better: the one of libwebrtc's controllers at the sender with the higher score.
        against_better: weir less `better`, challenge score.
        against_rule: weir less the rule.
        worst_score: the scenario with the lowest score against the better of them on it.
        worst_utilisation: the scenario with the lowest utilisation as a ratio of gcc's.
    """

    name: str
    media: str
    description: str
    scenarios: int
    scores: dict[str, float]
    better: str | None
    against_better: PairedComparison | None
    against_rule: PairedComparison | None
    worst_score: WorstScenario | None
    worst_utilisation: WorstScenario | None


class Steering(Part):
    """How the presets steer a model; shares of `scenarios`, 0 to 1, None for no scenarios.

    Attributes:
        right: both measures move the right way in both steps.
        moved: the right ones on which a measure differs between the outermost presets by more than its tolerance.
        by_step: for each measure, each step ("throughput-balanced") and both together ("throughput-latency") alone.
        wrong: names of the scenarios that are not right.
    """

    scenarios: int
    right: float | None
    moved: float | None
    by_step: dict[str, dict[str, float]]
    wrong: list[str]


class ObjectiveMeans(Part):
    """Means over the runs of one objective, or of a controller that has none.

    Attributes:
        throughput: weight of the objective, as `latency` and `loss`; None for a controller that has no objective.
        utility: of the same runs under each preset's weights, by preset.
        non_dominated: whether no other objective of the fan has at least the utilisation and at most the delay.
    """

    throughput: float | None = None
    latency: float | None = None
    loss: float | None = None
    utilisation: float | None
    p95_queueing_delay_ms: float | None
    loss_ratio: float | None
    challenge: float | None
    utility: dict[str, float | None] | None = None
    non_dominated: bool = False

    def measure(self, name: str) -> float | None:
        """One of the means by the name of its measure."""
        value: float | None = getattr(self, name)
        return value


class ObjectivesSummary(Part):
    """One model under many objectives, over the scenarios that every objective has completed.

    Attributes:
        presets: by name.
        preset_differences: between presets.
        fan: objectives spread over the simplex of weights.
        references: controllers without an objective over the same scenarios and seed.
        preset_scenarios: measures by scenario and preset.
    """

    seed: int
    scenarios: list[str]
    presets: dict[str, ObjectiveMeans]
    preset_differences: list[PairedRow]
    fan: list[ObjectiveMeans]
    references: dict[str, ObjectiveMeans]
    steering: Steering
    preset_scenarios: dict[str, dict[str, dict[str, float | None]]]


class ModelAbout(Part):
    """Name and hash of a model's file."""

    name: str
    sha256: str


class ControllerAbout(Part):
    """Where a user's own controller came from."""

    source: str
    sha256: str


class ScenarioAbout(Part):
    """The description of a scenario in a summary."""

    description: str = ""
    source: str = ""
    one_way_delay_ms: float | None = None


class RunAbout(Part):
    """The runs and their command; every field may be absent in a summary of another version or command.

    Attributes:
        command: the command line.
        finished: when it ended, for people.
        runs: complete ones, of those `planned`.
        reference: the controller that the judged ones are compared with first.
        failures: one text for each that did not complete.
        near_copies: scenarios that are almost the path of another, which they count with, and its name.
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
    own_controllers: dict[str, ControllerAbout] = {}
    versions: dict[str, str] = {}
    failures: list[str] = []
    scenarios: dict[str, ScenarioAbout] = {}
    near_copies: dict[str, str] = {}


class MeasureAbout(Part):
    """A measure for readers of a summary."""

    label: str
    better: str
    meaning: str


class CauseRow(Part):
    """The episodes of one kind that a controller's runs have, as means over its `runs` with series or logs: their
    number and seconds, and by cause how many have it as the main one, and the seconds of its shares.
    """

    controller: str
    kind: EpisodeKind
    runs: int
    episodes: float
    seconds: float
    episodes_by_cause: dict[str, float]
    seconds_by_cause: dict[str, float]


class LeftOut(Part):
    """A call that is in no mean, and why."""

    scenario: str
    controller: str
    seed: int
    why: list[str]


class Summary(Part):
    """`summary.json`: the results of a set of runs or calls. The stable interface of `weir replay` for scripts.

    Attributes:
        controllers: by controller and measure, over the runs that define it for all controllers that have it; a
            measure that no run of a controller defines is absent.
        completed: number of complete runs by controller.
        scenarios: means over seeds by scenario, controller and measure.
        paired: each judged controller against every other one (`measures/comparison.py`), the reference first.
        causes: why pictures froze and packets queued.
        left_out: calls that are in no mean.
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
    left_out: list[LeftOut] = []

    def to_json(self) -> dict[str, JsonValue]:
        """The document; parts that were never set are absent."""
        return {"schema": "weir.summary/1"} | self.model_dump(by_alias=True, exclude_unset=True)

    def text(self) -> str:
        """The text of the file."""
        return json.dumps(self.to_json(), indent=1, allow_nan=False)


RecordType = TypeVar("RecordType", bound=Record)
PartType = TypeVar("PartType", bound=Part)
ModelType = TypeVar("ModelType", bound=BaseModel)


def read_records(path: Path, kind: type[RecordType]) -> list[RecordType]:
    """All whole lines of a `results.jsonl`, in their order. A torn last line, which a killed writer leaves, is not one.

    Raises:
        InputError: the file cannot be read, or a line is damaged.
    """
    records = []
    for number, line in enumerate(read_bytes(path, LARGEST_RESULTS_BYTES).split(b"\n")[:-1], start=1):
        try:
            record = kind.model_validate_json(line)
        except ValidationError as error:
            raise InputError(
                f"{path}: line {number} is no {SCHEMA} record ({first_fault(error)}); delete that line, or choose "
                "another folder"
            ) from None
        if "call" in (record.model_extra or {}):
            raise InputError(f"{path}: holds calls and no replays; choose another folder")
        records.append(record)
    return records


def to_line(record: Record) -> bytes:
    """A line of `results.jsonl`."""
    return json.dumps(record.to_json(), separators=(",", ":"), allow_nan=False).encode() + b"\n"


def holds_calls(results: Path) -> bool:
    """True if the first line of a `results.jsonl` is the record of a call."""
    if not results.is_file():
        return False
    try:
        with results.open("rb") as file:
            CallRecord.model_validate_json(file.readline(LARGEST_RECORD_BYTES))
        return True
    except (OSError, ValidationError):
        return False


def _without(part: PartType, name: str) -> PartType:
    kept = {key: value for key, value in part.__dict__.items() if key != name and key in part.model_fields_set}
    return cast(PartType, type(part).model_construct(**kept, **(part.model_extra or {})))


def read_document(path: Path, kind: type[ModelType], what: str) -> ModelType:
    """A JSON file that is one model; `what` names it in the message.

    Raises:
        InputError: the file cannot be read, or is none.
    """
    try:
        return kind.model_validate(parse_json(read_text(path), str(path)))
    except ValidationError as error:
        raise InputError(f"{path}: is not the {what} ({first_fault(error)})") from None


def first_fault(error: ValidationError) -> str:
    """The first fault in one line: where and what."""
    fault = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, fault["loc"]))
    return f"{where}: {fault['msg']}" if where else str(fault["msg"])


class CommandRecord(TypedDict):
    """The command line, when its results were complete, and the seconds until then; a page may take longer."""

    command: str
    finished: str
    wall_s: float


def command_record(started_s: float) -> CommandRecord:
    """The command that runs, now; `started_s` is its start by `time.monotonic`."""
    return {
        "command": printable(shlex.join(["weir", *sys.argv[1:]])),
        "finished": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "wall_s": round(time.monotonic() - started_s, 1),
    }


def read_summary(path: Path) -> Summary:
    """Raises:
    InputError: the file cannot be read, or is no summary of a replay or of calls.
    """
    return read_document(path, Summary, "summary.json of 'weir replay', which 'weir report' writes again")


def read_run(summary: Path) -> RunAbout:
    """`run` of an earlier summary; empty where there is none that can be read."""
    try:
        return RunAbout.model_validate(parse_json(read_text(summary), str(summary))["run"])
    except (InputError, KeyError, TypeError, ValidationError):
        return RunAbout()
