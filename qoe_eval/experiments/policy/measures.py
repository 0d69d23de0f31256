"""Measures of single runs that only `weir experiment policy` needs, from their time series (samples of 100 ms)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weir.qoe_eval.measures.fairness import jain_index
from weir.qoe_eval.measures.flow_series import FlowSeries, read_flow_series

START_SHARE = 0.9
START_WINDOW_S = 0.3
RECOVERED_BELOW_MS = 50.0
RECOVERED_FOR_S = 1.0
# Flows count as settled this long after the last of them has started.
SETTLED_AFTER_S = 20.0


def start_time_s(series: FlowSeries, rate_bps: float) -> float | None:
    """Seconds from the flow's start to the end of the first START_WINDOW_S whose mean receive rate is START_SHARE of
    `rate_bps` or more; nothing when it never is. The window keeps a burst of a few packets from passing for a rate.
    """
    received = series.receive_rate_bps[series.active]
    window = round(START_WINDOW_S / series.interval_s)
    means = np.convolve(received, np.full(window, 1 / window), mode="valid")
    reached = np.flatnonzero(means >= START_SHARE * rate_bps)
    return float(reached[0] + window) * series.interval_s if reached.size else None


def recovery_time_s(series: FlowSeries, base_ms: float, step_s: float) -> float | None:
    """Seconds from `step_s` to the beginning of the first RECOVERED_FOR_S in which the queueing delay of what arrives
    stays below RECOVERED_BELOW_MS; nothing when it never does. A sample in which nothing arrives is not below.

    The stretch begins where the queue that the step built has been drained, or at the step where it built none.
    """
    delay_ms = series.one_way_delay_mean_ms[round(step_s / series.interval_s) :] - base_ms
    below = np.nan_to_num(delay_ms, nan=np.inf) < RECOVERED_BELOW_MS
    hold = round(RECOVERED_FOR_S / series.interval_s)
    stays = np.convolve(below.astype(int), np.ones(hold, dtype=int), mode="valid") == hold
    first = np.flatnonzero(stays)
    return float(first[0]) * series.interval_s if first.size else None


def share_before_step(series: FlowSeries, step_s: float, over_s: float = 5.0) -> float | None:
    """Receive rate as a share of the capacity over the last seconds before a step: a flow that hardly used the link has
    nothing to drain. Nothing without a capacity.
    """
    if series.capacity_bps is None:
        return None
    end = round(step_s / series.interval_s)
    some = slice(end - round(over_s / series.interval_s), end)
    return float(series.receive_rate_bps[some].sum() / series.capacity_bps[some].sum())


def settled_rates_bps(record: Mapping[str, Any]) -> dict[str, float]:
    """Mean receive rate of each forward flow from SETTLED_AFTER_S after the last one's start to the first one's end.
    Empty when there is no such time, or the record has no series.
    """
    flows = [flow for flow in record["flows"] if flow["direction"] == "forward"]
    series = {flow["id"]: read_flow_series(record, flow) for flow in flows}
    known = {name: one for name, one in series.items() if one is not None}
    if not known or len(known) < len(series):
        return {}
    first = max(one.active.start + round(SETTLED_AFTER_S / one.interval_s) for one in known.values())
    last = min(one.active.stop for one in known.values())
    if last <= first:
        return {}
    return {name: float(one.receive_rate_bps[first:last].mean()) for name, one in known.items()}


def settled_jain_index(record: Mapping[str, Any]) -> float | None:
    """Jain's index of the settled rates of all forward RTP flows."""
    rates = settled_rates_bps(record)
    return jain_index([rates[flow["id"]] for flow in _of_kind(record, "rtp") if flow["id"] in rates])


def settled_media_share(record: Mapping[str, Any]) -> float | None:
    """Share of the forward RTP flows in the settled rates of RTP and TCP, 0 to 1."""
    rates = settled_rates_bps(record)
    media, tcp = (
        sum(rates.get(flow["id"], 0.0) for flow in _of_kind(record, kind)) for kind in ("rtp", "tcp")
    )  # fmt: skip
    return media / (media + tcp) if media + tcp > 0 else None


def _of_kind(record: Mapping[str, Any], kind: str) -> Sequence[Mapping[str, Any]]:
    return [flow for flow in record["flows"] if flow["kind"] == kind and flow["direction"] == "forward"]
