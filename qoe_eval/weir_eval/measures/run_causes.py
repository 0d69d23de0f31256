"""Derives the episodes of flows from a replay's series: freezes and long queues with their causes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from weir_eval.measures.causes import find_episodes
from weir_eval.measures.flow_series import Array
from weir_eval.measures.observation import UNLIMITED_BPS, Frames, Observation
from weir_eval.measures.queue_causes import CAUSES
from weir_eval.measures.viewer import flow_freezes, rendered_frames
from weir_eval.records.comparisons import CauseRow
from weir_eval.records.flow_record import FlowRecord
from weir_eval.records.record import Episode, EpisodeKind, Record
from weir_eval.records.run_record import RunRecord
from weir_eval.records.series import FrameColumns

_KINDS: tuple[EpisodeKind, ...] = ("freeze", "queue")


def run_episodes(record: RunRecord, tested: Iterable[FlowRecord]) -> list[Episode]:
    """The episodes of the forward flows among `tested`, in the order of flows and time; none for a record without
    series.
    """
    found = []
    for flow in tested:
        if record.series and flow.series and flow.direction == "forward":
            found += find_episodes(_observe(record, flow), flow_freezes(record, flow), flow.id)
    return found


def summarise_causes(records: Sequence[Record]) -> list[CauseRow]:
    """A row for each controller and kind of episode, over the records with episodes; empty if there are none."""
    rows = []
    for controller in dict.fromkeys(record.controller for record in records):
        runs = [one for one in records if one.controller == controller and "episodes" in one.model_fields_set]
        for kind in _KINDS if runs else ():
            episodes = [episode for run in runs for episode in run.episodes if episode.kind == kind]
            counts = {cause: sum(one.cause == cause for one in episodes) / len(runs) for cause in CAUSES}
            seconds = {
                cause: sum(one.duration_s * one.shares.get(cause, 0.0) for one in episodes) / len(runs)
                for cause in CAUSES
            }
            rows.append(
                CauseRow(
                    controller=controller,
                    kind=kind,
                    runs=len(runs),
                    episodes=len(episodes) / len(runs),
                    seconds=sum(one.duration_s for one in episodes) / len(runs),
                    episodes_by_cause={cause: round(value, 3) for cause, value in counts.items() if value},
                    seconds_by_cause={cause: round(value, 3) for cause, value in seconds.items() if value},
                )
            )
    return rows


def _observe(record: RunRecord, flow: FlowRecord) -> Observation:
    path, own = record.series or {}, flow.series or {}
    interval_s = float(path["interval_s"])
    samples = len(own["receive_rate_bps"])
    ends_s: Array = (np.arange(samples, dtype=np.float64) + 1) * interval_s
    queue_s = _column(path.get("queueing_delay_ms"), samples) / 1e3
    others = [
        _column(other.series.get("send_rate_bps"), samples, 0.0)
        for other in record.flows
        if other is not flow and other.direction == flow.direction and other.series
    ]
    feedback_s = _column(own.get("feedback_delay_ms"), samples) / 1e3
    return_s = float(np.nanmin(feedback_s)) if np.isfinite(feedback_s).any() else 0.0
    remb = own.get("remb_bps")
    frames = _frames(own.get("frames"))
    return Observation(
        interval_s=interval_s,
        start_s=flow.start_s,
        round_trip_s=flow.base_one_way_delay_ms / 1e3 + return_s,
        one_way_delay_s=flow.base_one_way_delay_ms / 1e3,
        capacity_bps=np.nan_to_num(_column(path.get("capacity_bps"), samples), nan=UNLIMITED_BPS),
        # A queue that never empties lasts to the end.
        queueing_delay_s=np.where(np.isnan(queue_s), np.maximum(0.0, record.duration_s - ends_s), queue_s),
        other_flows_bps=np.sum(others, axis=0) if others else np.zeros(samples),
        target_bps=_column(own.get("target_bps"), samples, 0.0),
        estimate_bps=_column(remb, samples) if remb else None,
        feedback_age_s=_age_s(feedback_s, interval_s) - return_s,
        sent_bps=_column(own.get("send_rate_bps"), samples, 0.0),
        retransmitted_bps=_column(own.get("retransmission_rate_bps"), samples, 0.0),
        probe_bps=_column(own.get("probe_rate_bps"), samples, 0.0),
        backlog_bits=_backlog_bits(frames, ends_s),
        sends_key_frame=_sends_key_frame(frames, samples, interval_s),
        lost=_column(own.get("packets_lost"), samples, 0.0),
        lost_at_queue=_column(own.get("packets_lost_at_queue"), samples, 0.0),
        frames=frames,
    )


def _column(values: Sequence[float | None] | None, samples: int, unknown: float = np.nan) -> Array:
    return np.array(values or [unknown] * samples, dtype=np.float64)


def _age_s(delay_s: Array, interval_s: float) -> Array:
    """Age of the newest feedback at the end of each sample; `delay_s` is NaN if none arrived."""
    ages, age = [], 0.0
    for delay in delay_s.tolist():
        age = age + interval_s if np.isnan(delay) else delay
        ages.append(age)
    return np.array(ages)


def _frames(columns: FrameColumns | None) -> Frames:
    """The frames of a flow. Older records have neither the time of sending nor key frames."""
    if not columns:
        nothing = np.zeros(0)
        return Frames(nothing, nothing, nothing, nothing, nothing.astype(bool))
    captured_us = np.array(columns["capture_time_us"], dtype=np.float64)
    shown_s = np.full(len(captured_us), np.nan)
    shown, rendered_us = rendered_frames(columns)
    shown_s[shown] = rendered_us / 1e6
    return Frames(
        captured_s=captured_us / 1e6,
        sent_s=np.array(columns.get("sent_time_us", captured_us), dtype=np.float64) / 1e6,
        shown_s=shown_s,
        bytes=np.array(columns["bytes"], dtype=np.float64),
        key_frame=np.array(columns.get("key_frame", np.zeros(len(captured_us))), dtype=bool),
    )


def _backlog_bits(frames: Frames, ends_s: Array) -> Array:
    """The size, at each time, of captured frames whose last packet is not yet sent."""
    total = 8 * np.concatenate(([0.0], np.cumsum(frames.bytes)))
    captured, sent = (np.searchsorted(at, ends_s, side="right") for at in (frames.captured_s, np.sort(frames.sent_s)))
    found: Array = total[captured] - total[sent]
    return found


def _sends_key_frame(frames: Frames, samples: int, interval_s: float) -> NDArray[np.bool_]:
    found = np.zeros(samples, dtype=bool)
    for index in np.flatnonzero(frames.key_frame):
        first, last = (int(at / interval_s) for at in (frames.captured_s[index], frames.sent_s[index]))
        found[first : last + 1] = True
    return found
