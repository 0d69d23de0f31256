"""Results as CSV, for people with tools of their own: a table of runs, one of time series, one of frames.

    results.csv      one row a run: what identifies it, and its measures
    series.csv.gz    one row a run, flow and 0.1 s
    frames.csv.gz    one row a run, flow and frame

A name that begins like a formula of a spreadsheet has an apostrophe before it. A value that is not known is an empty
cell. Units are those of `results.jsonl`, and end the names of columns; those of measures are in `measures/table.py`.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from weir_cli.files.output import replacing
from weir_eval.measures.table import MEASURES, Kind
from weir_eval.measures.viewer import rendered_frames
from weir_eval.records.record import Record
from weir_eval.records.run_record import RunRecord
from weir_eval.records.series import FlowColumns, FrameColumns, PathColumns
from weir_eval.runs.store import RunStore

RESULTS_CSV = "results.csv"
SERIES_CSV = "series.csv.gz"
FRAMES_CSV = "frames.csv.gz"

_RUN = ("scenario", "controller", "seed")
_PATH_COLUMNS = ("capacity_bps", "queueing_delay_ms")
_FLOW_COLUMNS = (
    "target_bps", "send_rate_bps", "receive_rate_bps", "one_way_delay_mean_ms", "one_way_delay_p95_ms", "packets_lost",
)  # fmt: skip
_FRAME_COLUMNS = ("capture_time_s", "rendered_time_s", "bytes")

_FORMULA = ("=", "+", "-", "@", "\t", "\r")

Cell = str | float | None


def write_results_csv(folder: Path, records: Sequence[Record], kind: Kind) -> Path:
    """Writes `results.csv`; returns its path. Every measure of `kind` has a column.

    Raises:
        InputError: it cannot be written.
    """
    path, measures = folder / RESULTS_CSV, MEASURES.of(kind)
    weights = ("throughput_weight", "latency_weight", "loss_weight")
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(text)
        writer.writerow([*_RUN, *weights, "duration_s", *measures])
        for record in records:
            objective = record.objective or [None] * len(weights)
            run = [*_identity(record), *objective, record.duration_s]
            writer.writerow([*run, *(record.measures.get(name) for name in measures)])
        text.detach()  # flushed; the file is closed where it gets its name
    return path


def write_series_csv(store: RunStore, records: Iterable[RunRecord]) -> tuple[Path, Path]:
    """Writes `series.csv.gz` and `frames.csv.gz`, of the runs that have series; returns their paths.

    The capacity and the link's queue are those of the forward link, whatever the flow's direction. A frame that was not
    rendered has no rendered time.

    Raises:
        InputError: a file of series is damaged, or a table cannot be written.
    """
    series_path, frames_path = store.folder / SERIES_CSV, store.folder / FRAMES_CSV
    with ExitStack() as stack:
        series_table, frames_table = (stack.enter_context(_compressed(path)) for path in (series_path, frames_path))
        series_writer, frames_writer = csv.writer(series_table), csv.writer(frames_table)
        series_writer.writerow([*_RUN, "flow", "time_s", *_PATH_COLUMNS, *_FLOW_COLUMNS])
        frames_writer.writerow([*_RUN, "flow", *_FRAME_COLUMNS])
        for record in records:
            series = store.read_series(record)
            if not series or not series["path"]:
                continue
            for flow_id, columns in series["flows"].items():
                if columns:
                    series_writer.writerows(_series_rows(_identity(record, flow_id), series["path"], columns))
                    frames_writer.writerows(_frame_rows(_identity(record, flow_id), columns.get("frames")))
    return series_path, frames_path


@contextmanager
def _compressed(path: Path) -> Iterator[io.TextIOWrapper]:
    # Without a time in it, so that the same runs give the same bytes.
    with (
        replacing(path) as file,
        gzip.GzipFile(path.name, "wb", compresslevel=4, fileobj=file, mtime=0) as compressed,
        io.TextIOWrapper(compressed, encoding="utf-8", newline="") as text,
    ):
        yield text


def _identity(record: Record, *names: str) -> list[Cell]:
    """The columns of `_RUN`, and further names of the same row."""
    return [_text(record.scenario), _text(record.controller), record.seed, *map(_text, names)]


def _text(name: str) -> str:
    """A name that a spreadsheet does not take for a formula: quoted, where it begins like one."""
    return f"'{name}" if name.startswith(_FORMULA) else name


def _series_rows(start: list[Cell], path: PathColumns, columns: FlowColumns) -> Iterator[list[Cell]]:
    samples = len(columns["receive_rate_bps"])
    known: Mapping[str, Any] = {**path, **columns}
    shown = [known.get(name) or [None] * samples for name in (*_PATH_COLUMNS, *_FLOW_COLUMNS)]
    for index, values in enumerate(zip(*shown, strict=True)):
        yield [*start, round(index * path["interval_s"], 6), *values]


def _frame_rows(start: list[Cell], frames: FrameColumns | None) -> Iterator[list[Cell]]:
    if not frames:
        return
    shown, rendered_us = rendered_frames(frames)
    rendered_s: list[float | None] = [None] * len(frames["bytes"])
    for index, time_us in zip(shown.tolist(), rendered_us.tolist(), strict=True):
        rendered_s[index] = time_us / 1e6
    for capture_us, rendered, size in zip(frames["capture_time_us"], rendered_s, frames["bytes"], strict=True):
        yield [*start, capture_us / 1e6, rendered, size]
