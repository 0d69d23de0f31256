"""Measures that only `weir paper muses` needs: ellipses, what is in flight, sharing, and a change of network."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from weir_eval.measures.fairness import jain_index
from weir_eval.measures.flow_series import Array, read_flow_series
from weir_eval.measures.metrics import challenge_parts, challenge_score
from weir_eval.records.run_record import RunRecord
from weir_papers.common import Case

PACKET_BYTES = 1500


def ellipse_area(cases: Sequence[Case]) -> float:
    """Area in ms times points of the ellipse of one standard deviation along the main directions (Figure 3): of p95
    queueing delay and utilisation over at least two networks.
    """
    points = np.array([(case.p95_queueing_delay_ms, 100 * case.utilisation) for case in cases])
    return float(np.pi * np.sqrt(max(0.0, float(np.linalg.det(np.cov(points.T))))))


def in_flight(record: RunRecord) -> tuple[Array, Array]:
    """The link's bandwidth-delay product and what a flow alone has in flight, in packets of PACKET_BYTES, both over the
    round trip, of each sample (100 ms) in which something arrives: by Little's law rate times delay. The return path
    has the same delay.
    """
    flow = record.flows[0]
    series = read_flow_series(record, flow)
    if series is None or series.capacity_bps is None:
        return np.zeros(0), np.zeros(0)
    base_ms = flow.base_one_way_delay_ms
    bdp = series.capacity_bps * 2 * base_ms
    held = series.receive_rate_bps * (series.one_way_delay_mean_ms + base_ms)
    arrived = np.isfinite(held)
    packet_ms = 8e3 * PACKET_BYTES
    return bdp[arrived] / packet_ms, held[arrived] / packet_ms


def in_flight_rmse(records: Sequence[RunRecord]) -> float | None:
    """Root mean square of in flight less bandwidth-delay product over all samples, packets; None: there are none."""
    errors = np.concatenate([held - bdp for bdp, held in map(in_flight, records)] or [np.zeros(0)])
    return float(np.sqrt(np.mean(errors**2))) if errors.size else None


def staggered_jain(record: RunRecord) -> float | None:
    """The mean of Jain's index over the stretches in which the same flows are active, two at least: of what each
    receives in the second half of a stretch (10 of 20 s). The paper does not say over what time its index is.
    """
    indices = [index for rates in _stretches(record) if (index := jain_index(rates)) is not None]
    return float(np.mean(indices)) if indices else None


def _stretches(record: RunRecord) -> Iterator[list[float]]:
    series = [read_flow_series(record, flow) for flow in record.flows]
    known = [flow for flow in series if flow is not None]
    edges = sorted({edge for flow in known for edge in (flow.active.start, flow.active.stop)})
    for first, last in itertools.pairwise(edges):
        settled = slice((first + last) // 2, last)
        active = [flow for flow in known if flow.active.start <= first and last <= flow.active.stop]
        yield [float(flow.receive_rate_bps[settled].mean()) for flow in active]


def challenge_after(record: RunRecord, from_s: float, base_ms: float) -> float | None:
    """The challenge score of the first flow from a time on, from samples: its p95 delay is of the mean delays of the
    samples, each weighted by what arrived in it. `base_ms` is the propagation delay from then on.
    """
    flow = record.flows[0]
    series = read_flow_series(record, flow)
    if series is None or series.capacity_bps is None or not flow.packets_sent:
        return None
    after = slice(round(from_s / series.interval_s), None)
    received, sent = series.receive_rate_bps[after], series.send_rate_bps[after]
    packet_bits = 8 * flow.bytes_sent / flow.packets_sent
    packets = float(sent.sum()) * series.interval_s / packet_bits
    parts = challenge_parts(
        round(packets),
        int(series.packets_lost[after].sum()),
        weighted_p95(series.one_way_delay_mean_ms[after], received),
        base_ms,
        float(received.sum()),
        float(series.capacity_bps[after].sum()),
    )
    return challenge_score(*parts)


def weighted_p95(values: Array, weights: Array) -> float | None:
    """The 95th percentile of finite values, each as frequent as its weight; None: there are none."""
    known = np.isfinite(values) & (weights > 0)
    if not known.any():
        return None
    return float(np.quantile(values[known], 0.95, method="inverted_cdf", weights=weights[known]))
