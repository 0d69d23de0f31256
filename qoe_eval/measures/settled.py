"""How flows share a path once they have settled, from their time series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weir.qoe_eval.measures.fairness import jain_index
from weir.qoe_eval.measures.flow_series import read_flow_series

# Flows count as settled this long after the last of them has started.
SETTLED_AFTER_S = 20.0


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
