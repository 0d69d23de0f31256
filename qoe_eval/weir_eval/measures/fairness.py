"""Fairness of flows on a path (RFC 8867, RFC 8868): Jain's index among RTP flows, and the share of TCP."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weir_eval.measures.flow_series import read_flow_series
from weir_eval.records.flow_record import FlowRecord
from weir_eval.records.run_record import RunRecord

# Flows count as settled this long after the last of them has started.
SETTLED_AFTER_S = 20.0


def jain_index(rates: Sequence[float]) -> float | None:
    """(sum x)^2 / (n sum x^2) (Jain, Chiu, Hawe 1984): 1 if all are equal, 1/n if one has all. None below two rates."""
    squares = sum(rate * rate for rate in rates)
    if len(rates) < 2 or squares <= 0:
        return None
    return sum(rates) ** 2 / (len(rates) * squares)


def rtp_fairness(record: RunRecord) -> float | None:
    """Jain's index of the forward RTP flows over the time in which all are active; None for fewer than two, or without
    such a time.
    """
    flows = _forward(record, "rtp")
    rates = common_rates(record, flows)
    return None if rates is None else jain_index(rates)


def tcp_share(record: RunRecord) -> float | None:
    """Share of the forward TCP flows in the bytes of TCP and RTP while all of them are active, 0 to 1."""
    tcp, rtp = _forward(record, "tcp"), _forward(record, "rtp")
    if not tcp or not rtp:
        return None
    rates = common_rates(record, [*tcp, *rtp])
    if rates is None or sum(rates) <= 0:
        return None
    return sum(rates[: len(tcp)]) / sum(rates)


def common_rates(record: RunRecord, flows: Sequence[FlowRecord]) -> list[float] | None:
    """Mean receive rate in bit/s of each flow over the time in which all are active; None without such a time, or
    without series.
    """
    series = [read_flow_series(record, flow) for flow in flows]
    if not series or any(one is None for one in series):
        return None
    first = max(one.active.start for one in series if one)
    last = min(one.active.stop for one in series if one)
    if last <= first:
        return None
    return [float(np.mean(one.receive_rate_bps[first:last])) for one in series if one]


def settled_rates_bps(record: RunRecord) -> dict[str, float]:
    """Mean receive rate of each forward flow from SETTLED_AFTER_S after the last one's start to the first one's end.
    Empty without such a time, or if the record has no series.
    """
    flows = [flow for flow in record.flows if flow.direction == "forward"]
    series = {flow.id: read_flow_series(record, flow) for flow in flows}
    known = {name: one for name, one in series.items() if one is not None}
    if not known or len(known) < len(series):
        return {}
    first = max(one.active.start + round(SETTLED_AFTER_S / one.interval_s) for one in known.values())
    last = min(one.active.stop for one in known.values())
    if last <= first:
        return {}
    return {name: float(one.receive_rate_bps[first:last].mean()) for name, one in known.items()}


def settled_jain_index(record: RunRecord) -> float | None:
    """Jain's index of the settled rates of all forward RTP flows."""
    rates = settled_rates_bps(record)
    return jain_index([rates[flow.id] for flow in _forward(record, "rtp") if flow.id in rates])


def settled_utilisation(record: RunRecord) -> float | None:
    """The sum of the settled rates of all forward flows, as a share of the mean capacity."""
    rates, capacity_bps = settled_rates_bps(record), record.path.mean_capacity_bps
    return sum(rates.values()) / capacity_bps if rates and capacity_bps else None


def settled_jain_index_with_tcp(record: RunRecord) -> float | None:
    """Jain's index of the settled rates of all forward flows, including TCP."""
    return jain_index(list(settled_rates_bps(record).values()))


def settled_media_share(record: RunRecord) -> float | None:
    """Share of the forward RTP flows in the settled rates of RTP and TCP, 0 to 1."""
    rates = settled_rates_bps(record)
    media, tcp = (sum(rates.get(flow.id, 0.0) for flow in _forward(record, kind)) for kind in ("rtp", "tcp"))
    return media / (media + tcp) if media + tcp > 0 else None


def _forward(record: RunRecord, kind: str) -> list[FlowRecord]:
    return [flow for flow in record.flows if flow.kind == kind and flow.direction == "forward"]
