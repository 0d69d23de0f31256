"""The time series of a run: columns with one sample per interval. `weir_eval.runs.store` keeps them in files."""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict  # pydantic does not accept that of typing before Python 3.12

from weir_eval.records.part import Number, first_fault
from weir_traces.schema import Values

FrameNumber = Annotated[int, Field(ge=0, le=1 << 50, strict=True)]
Samples = Values[Number | None]


class FrameColumns(TypedDict):
    """Every frame of a flow. `complete_time_us` is None for a frame that never arrived completely; `sent_time_us` is
    that of its last packet. `rendered_time_us` is that of libwebrtc's receiver, or of the simulator's model of it.
    `lip_sync_us` is the time for which that receiver held the frame for audio. Older records lack `sent_time_us`,
    `key_frame`, `lip_sync_us` and, of replays, `rendered_time_us`. Only virtual calls have `encoded_time_us`, at which
    the frame left the encoder, `arrived_time_us`, that of the last packet that completed it (`complete_time_us` is that
    of decoding), its `height`, and the encoder's quantizer `qp`, -1 if unknown.
    """

    capture_time_us: Values[FrameNumber]
    complete_time_us: Values[FrameNumber | None]
    bytes: Values[FrameNumber]
    sent_time_us: NotRequired[Values[FrameNumber]]
    key_frame: NotRequired[Values[FrameNumber]]
    rendered_time_us: NotRequired[Values[FrameNumber | None]]
    encoded_time_us: NotRequired[Values[FrameNumber]]
    arrived_time_us: NotRequired[Values[FrameNumber | None]]
    lip_sync_us: NotRequired[Values[FrameNumber]]
    height: NotRequired[Values[FrameNumber]]
    qp: NotRequired[Samples]


class PathColumns(TypedDict, total=False):
    """Time series of the forward link, one sample per `interval_s`."""

    interval_s: Annotated[float, Field(ge=1e-3, le=1e4)]
    capacity_bps: Samples | None
    queueing_delay_ms: Samples


class FlowColumns(TypedDict, total=False):
    """Time series of one flow, with the intervals of the path's series."""

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
    """All time series of a run: those of the path, and those of its flows by ID."""

    path: PathColumns | None
    flows: dict[str, FlowColumns | None]


_SERIES = TypeAdapter(Series)
_NEEDED = ("receive_rate_bps", "one_way_delay_mean_ms", "packets_lost")


def parse_series(content: bytes) -> Series:
    """Parses JSON of series. Raises ValueError with a one-line message if it is invalid, or lengths differ."""
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
