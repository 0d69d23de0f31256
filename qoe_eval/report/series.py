"""The time series of the report's charts, thinned so that the page stays small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from weir.qoe_eval.measures.summary import ordered_controllers
from weir.qoe_eval.measures.viewer import rendered_frames
from weir.qoe_eval.records import FrameColumns, RunRecord, Series
from weir.qoe_eval.report.page_template import View
from weir.qoe_eval.report.sections.causes import episode_text
from weir.qoe_eval.runs.store import RunStore

# Points per line: more than a screen shows, and 24 scenarios with 8 controllers stay below 4 MB.
MAX_POINTS = 600


def chart_series(store: RunStore, records: Sequence[RunRecord], descriptions: Mapping[str, str]) -> list[View]:
    """One entry per scenario, of the first seed of which each controller has series.

    Rates are means over a bin in kbps, delays the largest of the bin's mean delays in ms (a spike survives the
    thinning), and so are frames' delays and the kinds that a model took the path for, losses sums.
    """
    entries = []
    first: dict[str, dict[str, RunRecord]] = {record.scenario: {} for record in records}
    for record in sorted(records, key=lambda one: one.seed):
        first[record.scenario].setdefault(record.controller, record)
    for name, runs in first.items():
        entry: View = {"name": name, "description": descriptions.get(name, ""), "flows": []}
        for controller in ordered_controllers(runs):
            record = runs[controller]
            series = store.read_series(record)
            if series is None or not series["path"]:
                continue
            _add_run(entry, record, series)
        if entry["flows"]:
            entries.append(entry)
    return entries


def _add_run(entry: View, record: RunRecord, series: Series) -> None:
    path = series["path"] or {}
    some = next((columns for columns in series["flows"].values() if columns), None)
    if some is None:
        return
    samples = len(some["receive_rate_bps"])
    per_bin = max(1, -(-samples // MAX_POINTS))
    entry["interval_s"] = round(path["interval_s"] * per_bin, 6)
    entry["duration_s"] = record.duration_s
    entry["base_delay_ms"] = record.path.one_way_delay_ms
    if capacity_bps := path.get("capacity_bps"):
        entry["capacity_kbps"] = _thin(capacity_bps, per_bin, "mean", 1e-3)
    for flow in record.flows:
        columns = series["flows"].get(flow.id)
        if not columns:
            continue
        target = columns.get("target_bps")
        entry["flows"].append(
            {
                "controller": record.controller,
                "id": flow.id,
                "kind": flow.kind,
                "target_kbps": _thin(target, per_bin, "mean", 1e-3) if target else None,
                "receive_kbps": _thin(columns["receive_rate_bps"], per_bin, "mean", 1e-3),
                "delay_ms": _thin(columns["one_way_delay_mean_ms"], per_bin, "max", 1.0),
                "lost": _thin(columns["packets_lost"], per_bin, "sum", 1.0),
                "episodes": [
                    [one.kind, one.start_s, round(one.start_s + one.duration_s, 2), episode_text(one)]
                    for one in record.episodes
                    if one.flow == flow.id
                ],
                "frame_delay_ms": _frame_delays(columns.get("frames"), samples, per_bin, path["interval_s"]),
            }
        )


def _frame_delays(
    frames: FrameColumns | None, samples: int, per_bin: int, interval_s: float
) -> list[float | None] | None:
    """The largest delay of the frames that were rendered in a bin; nothing for a flow without frames."""
    if not frames:
        return None
    shown, rendered_us = rendered_frames(frames)
    capture_us = np.array(frames["capture_time_us"], dtype=np.int64)[shown]
    largest = np.full(samples, -np.inf)
    where = np.minimum(rendered_us // round(interval_s * 1e6), samples - 1)
    np.maximum.at(largest, where, (rendered_us - capture_us) / 1e3)
    return _thin([value if np.isfinite(value) else None for value in largest.tolist()], per_bin, "max", 1.0)


def _thin(values: Sequence[float | None], per_bin: int, how: str, scale: float) -> list[float | None]:
    """Bins of `per_bin` samples; whole numbers where they have three digits, one decimal below. None where a bin has
    no value.
    """
    samples = np.array(values, dtype=np.float64)
    padded = np.append(samples, np.full(-len(samples) % per_bin, np.nan)).reshape(-1, per_bin)
    known = ~np.isnan(padded)
    count = known.sum(axis=1)
    filled = np.where(known, padded, -np.inf if how == "max" else 0.0)
    reduced = filled.max(axis=1) if how == "max" else filled.sum(axis=1)
    if how == "mean":
        reduced = reduced / np.maximum(count, 1)
    return [_short(value * scale) if n else None for value, n in zip(reduced.tolist(), count.tolist(), strict=True)]


def _short(value: float) -> float:
    return round(value) if abs(value) >= 100 else round(value, 1)
