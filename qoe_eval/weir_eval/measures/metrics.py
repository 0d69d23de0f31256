"""Computes the quality measures of a `weir.result/1` record, for its flows under test and for the run.

Every value is a finite float, or None if the measure is undefined (no loss ratio without a sent packet, no Jain's
index for one flow).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from weir_eval.measures.call_quality import call_quality
from weir_eval.measures.call_score import call_score
from weir_eval.measures.fairness import rtp_fairness, tcp_share
from weir_eval.measures.flow_series import FlowSeries, read_flow_series
from weir_eval.measures.recoco import recoco_scores_of_series
from weir_eval.measures.table import MEASURES, Measure
from weir_eval.measures.viewer import rendered_measures, viewer_measures
from weir_eval.records.flow_record import EstimatorRecord, FlowRecord
from weir_eval.records.part import Measures
from weir_eval.records.record import Metrics
from weir_eval.records.run_record import RunRecord

# The delay from which the delay part of the MMSys 2021 score is 0.
CHALLENGE_LARGEST_DELAY_MS = 400.0
# libwebrtc's rates for its smallest picture, 320x180: the target, and a fifth of it as the minimum.
WATCHABLE_BPS = 150e3
_WATCHABLE_SPAN = 5.0


def run_metrics(record: RunRecord, flows_under_test: Sequence[str] | None = None) -> Metrics:
    """The measures of one run.

    Args:
        record: a `weir.result/1` record; without its series, the measures that need them are None.
        flows_under_test: IDs of flows; by default every RTP flow that runs the record's controller.

    Returns:
        The measures of the run and of each flow under test. The table defines the aggregation over several flows under
        test; the utilization of the run is that of all of them together.

    Raises:
        InputError: the record's series contradict each other.
    """
    tested = flows_under_test_of(record, flows_under_test)
    flows = {flow.id: _flow_metrics(record, flow, read_flow_series(record, flow)) for flow in tested}
    for values in flows.values():
        MEASURES.check(values)
    run = {
        name: _combined(measure, [values.get(name) for values in flows.values()])
        for name, measure in MEASURES.of("replay").items()
    }
    if len(tested) > 1:
        run["utilisation"] = _joint_utilisation(record, tested)
    run["jain_index"] = rtp_fairness(record)
    run["tcp_share"] = tcp_share(record)
    return Metrics(run=finite(run), flows={name: finite(values) for name, values in flows.items()})


def challenge_parts(
    sent: int, lost: int, d95_ms: float | None, base_ms: float, received_bytes: float, achievable_bytes: float
) -> tuple[float | None, float | None, float | None]:
    """Delay, rate and loss part of the MMSys 2021 score, each 0 to 100. The delay part is 0 if nothing arrived."""
    if d95_ms is None or base_ms >= CHALLENGE_LARGEST_DELAY_MS:
        delay = 0.0
    else:
        share = (CHALLENGE_LARGEST_DELAY_MS - d95_ms) / (CHALLENGE_LARGEST_DELAY_MS - base_ms)
        delay = 100 * min(1.0, max(0.0, share))
    rate = 100 * min(1.0, received_bytes / achievable_bytes) if achievable_bytes > 0 else None
    loss = 100 * (1 - lost / sent) if sent > 0 else None
    return delay if sent > 0 else None, rate, loss


def challenge_score(delay: float | None, rate: float | None, loss: float | None) -> float | None:
    """The MMSys 2021 score, 0 to 100, from its parts; None if one is unknown."""
    if delay is None or rate is None or loss is None:
        return None
    return (0.2 * delay + 0.2 * rate + 0.3 * loss) / 0.7


def visible(frozen_share: float | None) -> float:
    """Factor, 0 to 1, for the frozen share of a call: 1 up to a half, and without video; 0 for a call that showed
    nothing.
    """
    return 1.0 if frozen_share is None else min(1.0, 2 * (1 - frozen_share))


def watchable(rate: float | None, receive_rate_bps: float | None) -> float | None:
    """Factor, 0 to 1, for the logarithm of the rate of a call (BOLA, INFOCOM 2016): 1 from WATCHABLE_BPS or the rate
    that the path could have delivered on, whichever is less; 0 below a fifth of that. `rate` is the rate part of the
    challenge score, 0 to 100.
    """
    if rate is None or receive_rate_bps is None:
        return None
    share = max(rate / 100, receive_rate_bps / WATCHABLE_BPS)
    return min(1.0, max(0.0, 1 + math.log(share) / math.log(_WATCHABLE_SPAN))) if share > 0 else 0.0


def utility(objective: Sequence[float], measures: Measures) -> float | None:
    """Utility of a run under an objective, 0 to 100: MOCC Eq. 2, the weights of throughput, latency and loss times the
    three parts of the challenge score (0 to 100 each), times `watchable` and `visible`. None if one of the parts is
    unknown.

    As in ITU-T G.1070, picture quality is one factor, and the effect of delay and loss another: an unwatchable call has
    no utility, however fast and lossless.

    The paper's latency term is the path's base delay over the measured delay, which halves with 25 ms of queue on a
    path of 25 ms, but hardly changes on one of 250 ms. The challenge's scale is the same for all paths, so that means
    over scenarios are meaningful.
    """
    rate, delay, loss = (measures.get(f"challenge_{part}") for part in ("rate", "delay", "loss"))
    seen = watchable(rate, measures.get("receive_rate_bps"))
    if rate is None or delay is None or loss is None or seen is None:
        return None
    throughput_weight, latency_weight, loss_weight = objective
    seen *= visible(measures.get("frozen_share"))
    return seen * (throughput_weight * rate + latency_weight * delay + loss_weight * loss)


def _flow_metrics(record: RunRecord, flow: FlowRecord, series: FlowSeries | None) -> Measures:
    delays, base_ms = flow.delay_ms, flow.base_one_way_delay_ms
    if flow.queueing_delay_ms:
        # If the base delay of the path changes, use its mean plus the queueing delay.
        delays = {name: base_ms + value for name, value in flow.queueing_delay_ms.items()}
    sent, lost = flow.packets_sent, flow.packets_lost
    received_bytes, achievable_bytes = flow.bytes_received, flow.achievable_bytes or 0
    delay, rate, loss = challenge_parts(sent, lost, delays.get("p95"), base_ms, received_bytes, achievable_bytes)
    active_s = _active_s(record, flow)
    estimator = flow.estimator or EstimatorRecord()
    decisions = estimator.decisions
    packet_bytes = received_bytes / flow.packets_received if flow.packets_received else None
    parts = {
        "challenge_delay": delay,
        "challenge_rate": rate,
        "challenge_loss": loss,
        "receive_rate_bps": 8 * received_bytes / active_s if active_s > 0 else None,
        **viewer_measures(record, flow),
        **rendered_measures(flow),
        **(flow.rendered or {}),
    }
    parts["call_quality"] = call_quality(parts)
    if flow.rendered:
        parts["call_score"] = call_score(parts, active_s)
    challenge = challenge_score(delay, rate, loss)
    recoco = recoco_scores_of_series(series, packet_bytes) if series else None
    return {
        "utility": utility(record.objective, parts) if record.objective else None,
        "challenge": None if challenge is None else challenge * visible(parts.get("frozen_share")),
        **parts,
        "recoco": recoco.overall if recoco else None,
        # A policer's bucket passes more than its rate.
        "utilisation": min(1.0, received_bytes / achievable_bytes) if achievable_bytes > 0 else None,
        "network_delay_ms_p95": flow.delay_ms.get("p95"),
        "p95_queueing_delay_ms": _above(delays.get("p95"), base_ms),
        "max_queueing_delay_ms": _above(delays.get("max"), base_ms),
        "loss_ratio": lost / sent if sent > 0 else None,
        "seconds_above_400_ms": flow.seconds_above_400_ms,
        "oscillation": _oscillation(series) if series else None,
        "guard_interventions": sum((flow.guard or {}).values()) / decisions if decisions else None,
        "fallback_ratio": estimator.fallback_decisions / decisions if decisions else None,
    }


def flows_under_test_of(record: RunRecord, ids: Sequence[str] | None) -> list[FlowRecord]:
    """The RTP flows with these IDs, or those that run the record's controller."""
    rtp = [flow for flow in record.flows if flow.kind == "rtp"]
    if ids is not None:
        return [flow for flow in rtp if flow.id in ids]
    return [flow for flow in rtp if flow.controller == record.controller]


def _combined(measure: Measure, values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    if not known:
        return None
    return measure.worst(known) if measure.over_flows == "worst" else sum(known) / len(known)


def _joint_utilisation(record: RunRecord, flows: Sequence[FlowRecord]) -> float | None:
    """Bytes received by all flows / bytes that the path could have delivered for them: the sum over flows, at most the
    capacity over the time in which any is active. The mean of both directions if there are flows in both.
    """
    shares = []
    for direction in ("forward", "reverse"):
        some = [flow for flow in flows if flow.direction == direction]
        achievable = sum(flow.achievable_bytes or 0 for flow in some)
        mean_capacity_bps = record.path.mean_capacity_bps
        if len(some) > 1 and direction == "forward" and mean_capacity_bps:
            begin = min(flow.start_s for flow in some)
            end = max(flow.start_s + _active_s(record, flow) for flow in some)
            # The achievable bytes of the longest flow reflect the capacity of exactly its time, if that is larger.
            longest = max(flow.achievable_bytes or 0 for flow in some)
            achievable = min(achievable, max(longest, mean_capacity_bps * (end - begin) / 8))
        if achievable > 0:
            shares.append(min(1.0, sum(flow.bytes_received for flow in some) / achievable))
    return sum(shares) / len(shares) if shares else None


def _oscillation(series: FlowSeries) -> float | None:
    """Mean over the active time of |T(k+1) - T(k)| / mean(T), T(k) being the mean target in second k; 1/s.

    0 for a constant target. None for a flow without a target or shorter than three seconds.
    """
    target = series.target_bps[series.active]
    per_second = round(1 / series.interval_s)
    seconds = len(target) // per_second
    if seconds < 3 or not np.isfinite(target).all():
        return None
    by_second = target[: seconds * per_second].reshape(seconds, per_second).mean(axis=1)
    mean = float(by_second.mean())
    return float(np.abs(np.diff(by_second)).mean()) / mean if mean > 0 else None


def _active_s(record: RunRecord, flow: FlowRecord) -> float:
    stop_s = record.duration_s if flow.stop_s is None else min(flow.stop_s, record.duration_s)
    return float(stop_s - flow.start_s)


def _above(delay_ms: float | None, base_ms: float) -> float | None:
    # Recorded percentiles are rounded, and may be just below the base delay.
    return None if delay_ms is None else max(0.0, delay_ms - base_ms)


def finite(values: Measures) -> dict[str, float | None]:
    """The values as floats; None for those that are not finite."""
    return {name: float(v) if v is not None and math.isfinite(v) else None for name, v in values.items()}
