"""How flows share a path: Jain's index among RTP flows, and what is left to TCP (RFC 8867, RFC 8868)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weir.qoe_eval.measures.flow_series import read_flow_series


def jain_index(rates: Sequence[float]) -> float | None:
    """(sum x)^2 / (n sum x^2) (Jain, Chiu, Hawe 1984): 1 when all are equal, 1/n when one has all. Nothing for fewer
    than two.
    """
    squares = sum(rate * rate for rate in rates)
    if len(rates) < 2 or squares <= 0:
        return None
    return sum(rates) ** 2 / (len(rates) * squares)


def rtp_fairness(record: Mapping[str, Any]) -> float | None:
    """Jain's index of the forward RTP flows over the time when all are active; nothing for fewer than two, or no such
    time.
    """
    flows = _forward(record, "rtp")
    rates = common_rates(record, flows)
    return None if rates is None else jain_index(rates)


def tcp_share(record: Mapping[str, Any]) -> float | None:
    """Share of the forward TCP flows in the bytes of TCP and RTP while all of them are active, 0 to 1."""
    tcp, rtp = _forward(record, "tcp"), _forward(record, "rtp")
    if not tcp or not rtp:
        return None
    rates = common_rates(record, [*tcp, *rtp])
    if rates is None or sum(rates) <= 0:
        return None
    return sum(rates[: len(tcp)]) / sum(rates)


def common_rates(record: Mapping[str, Any], flows: Sequence[Mapping[str, Any]]) -> list[float] | None:
    """Mean receive rate in bps of each flow over the time when all are active; nothing when there is none or no
    series.
    """
    series = [read_flow_series(record, flow) for flow in flows]
    if not series or any(one is None for one in series):
        return None
    first = max(one.active.start for one in series if one)
    last = min(one.active.stop for one in series if one)
    if last <= first:
        return None
    return [float(np.mean(one.receive_rate_bps[first:last])) for one in series if one]


def _forward(record: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    return [flow for flow in record["flows"] if flow["kind"] == kind and flow["direction"] == "forward"]
