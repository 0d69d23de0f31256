"""How flows share a path (RFC 8867, RFC 8868): Jain's index among RTP flows, and the share of TCP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weir.qoe_eval.measures.flow_series import read_flow_series
from weir.qoe_eval.records import FlowRecord, RunRecord

# Flows count as settled this long after the last of them has started.
SETTLED_AFTER_S = 20.0


def jain_index(rates: Sequence[float]) -> float | None:
    """(sum x)^2 / (n sum x^2) (Jain, Chiu, Hawe 1984): 1 when all are equal, 1/n when one has all. Nothing for fewer
    than two.
    """
    squares = sum(rate * rate for rate in rates)
    if len(rates) < 2 or squares <= 0:
        return None
    return sum(rates) ** 2 / (len(rates) * squares)


def rtp_fairness(record: RunRecord) -> float | None:
    """Jain's index of the forward RTP flows over the time when all are active; nothing for fewer than two, or no such
    time.
    """
    return jain_index(list(common_rates_bps(record, _forward(record, "rtp")).values()))


def tcp_share(record: RunRecord) -> float | None:
    """Share of the forward TCP flows in the bytes of TCP and RTP while all of them are active, 0 to 1."""
    tcp, rtp = _forward(record, "tcp"), _forward(record, "rtp")
    return _share(common_rates_bps(record, [*tcp, *rtp]), tcp, rtp) if tcp and rtp else None


def common_rates_bps(record: RunRecord, flows: Sequence[FlowRecord], after_s: float = 0.0) -> dict[str, float]:
    """Mean receive rate of each flow, by its id, from `after_s` after the last one's start to the first one's end.
    Empty when there is no such time, or the record has no series.
    """
    series = {flow.id: read_flow_series(record, flow) for flow in flows}
    known = {name: one for name, one in series.items() if one is not None}
    if not known or len(known) < len(series):
        return {}
    first = max(one.active.start + round(after_s / one.interval_s) for one in known.values())
    last = min(one.active.stop for one in known.values())
    return {name: float(one.receive_rate_bps[first:last].mean()) for name, one in known.items()} if last > first else {}


def settled_rates_bps(record: RunRecord) -> dict[str, float]:
    """`common_rates_bps` of all forward flows, SETTLED_AFTER_S after the last one's start."""
    return common_rates_bps(record, [flow for flow in record.flows if flow.direction == "forward"], SETTLED_AFTER_S)


def settled_jain_index(record: RunRecord) -> float | None:
    """Jain's index of the settled rates of all forward RTP flows."""
    rates = settled_rates_bps(record)
    return jain_index([rates[flow.id] for flow in _forward(record, "rtp") if flow.id in rates])


def settled_media_share(record: RunRecord) -> float | None:
    """Share of the forward RTP flows in the settled rates of RTP and TCP, 0 to 1."""
    return _share(settled_rates_bps(record), _forward(record, "rtp"), _forward(record, "tcp"))


def _share(rates_bps: Mapping[str, float], some: Sequence[FlowRecord], others: Sequence[FlowRecord]) -> float | None:
    """The part of some flows in the rates of these and others; nothing when these are 0."""
    own, rest = (sum(rates_bps.get(flow.id, 0.0) for flow in flows) for flows in (some, others))
    return own / (own + rest) if own + rest > 0 else None


def _forward(record: RunRecord, kind: str) -> list[FlowRecord]:
    return [flow for flow in record.flows if flow.kind == kind and flow.direction == "forward"]
