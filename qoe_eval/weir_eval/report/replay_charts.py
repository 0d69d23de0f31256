"""The time series of a replay's report: for every scenario, the first runs of its controllers in one chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weir_eval.measures.comparison import is_ours
from weir_eval.measures.flow_series import FlowSeries, read_flow_series
from weir_eval.measures.summary import ordered_controllers
from weir_eval.measures.viewer import rendered_frames
from weir_eval.records.flow_record import FlowRecord
from weir_eval.records.run_record import RunRecord
from weir_eval.report.chart_rows import (
    SMALLEST_BIN_S,
    Chart,
    Line,
    Reduce,
    binned,
    capacity_line,
    chart,
    flow_line,
    line,
    rate_rows,
    row,
)
from weir_eval.report.display import css_name
from weir_eval.report.sections.causes import cause_line, cause_row
from weir_eval.runs.store import RunStore


def replay_charts(store: RunStore, records: Sequence[RunRecord], descriptions: Mapping[str, str]) -> list[Chart]:
    """One chart per scenario, of the first seed of which each controller has series. Its note has the starting point.

    Rates are means over a bin, delays of packets the largest mean of a sample in it and those of frames the largest (a
    spike survives), losses sums.
    """
    first: dict[str, dict[str, RunRecord]] = {record.scenario: {} for record in records}
    for record in sorted(records, key=lambda record: record.seed):
        first[record.scenario].setdefault(record.controller, record)
    charts = []
    for name, runs in first.items():
        drawing = Drawing()
        for controller in ordered_controllers(runs):
            drawing.add(store.with_series(runs[controller]))
        note = " ".join(
            filter(None, [_sentence(descriptions.get(name, "")), *dict.fromkeys(map(_start_text, runs.values()))])
        )
        charts.append(chart(name, note, drawing.duration_s, drawing.rows()))
    return [drawn for drawn in charts if drawn["rows"]]


def _sentence(text: str) -> str:
    return f"{text}." if text and text[-1] not in ".!?" else text


def _start_text(record: RunRecord) -> str:
    """The starting point that the run's seed has drawn (`weir_traces.schema.variation`); empty where it drew none."""
    start_s = record.variation.get("trace_start_s")
    return f"Seed {record.seed} starts at {start_s:.1f} s of the trace." if isinstance(start_s, float) else ""


class Drawing:
    """Collects the lines of the runs on one scenario."""

    def __init__(self) -> None:
        self.duration_s = 1.0
        self.capacity: Line = None
        self._limit_kbps = 0.0
        self._path_delay: Line = None
        self.lines: dict[str, list[Line]] = {
            name: [] for name in ("target", "received", "delay", "rendered", "complete", "lost")
        }
        self._causes: list[Line] = []

    def add(self, record: RunRecord) -> None:
        """Adds the lines of a run that has series."""
        flows = [(flow, read_flow_series(record, flow)) for flow in record.flows]
        known = [(flow, series) for flow, series in flows if series is not None]
        if not known:
            return
        self.duration_s = max(self.duration_s, record.duration_s)
        self.capacity = self.capacity or next(filter(None, (capacity_line(series) for _, series in known)), None)
        self._limit_kbps = max([self._limit_kbps, *(media.max_rate_bps / 1e3 for media in record.media.values())])
        base = np.full(2, record.path.one_way_delay_ms)
        ends = np.array([0.0, record.duration_s])
        self._path_delay = line("path's own delay", "--zero", ends, base, unit="ms", dash="dot", width=1.0)
        for flow, series in known:
            self._add_flow(record, flow, series, has_others=len(known) > 1)

    def _add_flow(self, record: RunRecord, flow: FlowRecord, series: FlowSeries, *, has_others: bool) -> None:
        controller = record.controller
        label, colour = f"{controller} · {flow.id}" if has_others else controller, f"--c-{css_name(controller)}"
        style: dict[str, Any] = {"group": controller, "width": 2.2 if is_ours(controller) else 1.5}
        style["dash"] = "dash" if flow.kind != "rtp" else "dot" if controller == "oracle" else ""
        columns: dict[str, tuple[Any, str, Reduce]] = {
            "target": (series.target_bps / 1e3, "kbps", "mean"),
            "received": (series.receive_rate_bps / 1e3, "kbps", "mean"),
            "delay": (series.one_way_delay_mean_ms, "ms", "max"),
            "lost": (series.packets_lost, "packets", "sum"),
        }
        for name, (values, unit, reduce) in columns.items():
            self.lines[name].append(flow_line(label, colour, series, values, unit, reduce, **style))
        if flow.series and (frames := flow.series.get("frames")):
            shown, rendered_us = rendered_frames(frames)
            delays_ms = (rendered_us - np.array(frames["capture_time_us"], dtype=np.int64)[shown]) / 1e3
            bins = binned(rendered_us / 1e6, delays_ms, record.duration_s, SMALLEST_BIN_S, "max")
            # In records of earlier versions, the time of complete arrival stands in for that of rendering.
            name = "rendered" if "rendered_time_us" in frames else "complete"
            self.lines[name].append(line(label, colour, *bins, unit="ms", **style))
        self._causes.append(cause_line(controller, [episode for episode in record.episodes if episode.flow == flow.id]))

    def rows(self) -> list[Any]:
        """The rows of the chart."""
        lines = self.lines
        return [
            *rate_rows(self.capacity, lines["target"], lines["received"], self._limit_kbps, self.duration_s),
            row("Packet delay, ms", [self._path_delay, *lines["delay"]] if any(lines["delay"]) else []),
            row("End-to-end delay, ms", lines["rendered"]),
            row("Frame delay, ms", lines["complete"]),
            row("Lost", lines["lost"], share=0.5),
            cause_row(self._causes),
        ]
