"""Measures of goals on real calls: Weir against GCC in pairs, calls against replays, the link, and the estimator's CPU.

A pair is two calls on one scenario with one seed, of which the machine disturbed neither. Each function returns the
measure of a goal.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from weir._core import BandwidthEstimator
from weir.files.input import LARGEST_MODEL_BYTES, read_bytes
from weir.qoe_eval.call.logs import LINK_LOG
from weir.qoe_eval.evaluate.link_accuracy import link_accuracy, worst
from weir.qoe_eval.evaluate.results import Results, delay_p95_ms, metric, undisturbed
from weir.qoe_eval.evaluate.scenarios import achievable_bps, unavoidable_freezes_s
from weir.qoe_eval.evaluate.suite import Outcome, goal_measure
from weir.qoe_eval.records import CallRecord, RecordType
from weir.qoe_eval.report.goal_table import Bound

BITRATE = "received_bitrate_bps"
RATE = "receive_rate_bps"
NETWORK_DELAY = "network_delay_ms_p95"
FROZEN = "total_freezes_duration_s"
_PACKET_BYTES = 1200
_HEADER_BYTES = 12
_TICKS_PER_SECOND = 1 << 18
_WARM_UP_S = 5


@dataclass(frozen=True)
class Pairs:
    """A measure of Weir's calls and of gcc's, paired by scenario and seed, the `keys`."""

    weir: list[float]
    gcc: list[float]
    keys: list[tuple[str, int]]

    def __len__(self) -> int:
        return len(self.weir)

    @property
    def means(self) -> tuple[float, float]:
        """Means of weir and of gcc."""
        return sum(self.weir) / len(self), sum(self.gcc) / len(self)


def pairs_of(records: Sequence[CallRecord], name: str, weir: str = "weir") -> Pairs:
    """The undisturbed pairs in which both calls define a metric. `weir`: the controller that is held against gcc."""
    by = {(record.controller, record.scenario, record.seed): metric(name)(record) for record in undisturbed(records)}
    both = [
        (value, gcc, (scenario, seed))
        for (controller, scenario, seed), value in by.items()
        if controller == weir and value is not None and (gcc := by.get(("gcc", scenario, seed))) is not None
    ]
    return Pairs([own for own, _, _ in both], [gcc for _, gcc, _ in both], [key for _, _, key in both])


@goal_measure
def ratio(
    results: Results, bound: Bound, metric_name: str, *sets: str, part: str = "", controller: str = "weir"
) -> Outcome:
    """Weir over GCC, means over the pairs. `part`: of the scenarios' names."""
    return _of_means(results, sets, part, metric_name, controller, as_ratio=True)


@goal_measure
def difference(results: Results, bound: Bound, metric_name: str, *sets: str, controller: str = "weir") -> Outcome:
    """Weir less GCC, means over the pairs."""
    return _of_means(results, sets, "", metric_name, controller, as_ratio=False)


@goal_measure
def gap_closed(results: Results, bound: Bound, name: str) -> Outcome:
    """The part of the gap between GCC's bitrate and the achievable one that Weir closes: sums over the pairs."""
    records = results.calls.get(name, [])
    pairs = pairs_of(records, BITRATE)
    if not len(pairs):
        return Outcome(reason=results.why_no_pair(name, records))
    achievable = {(one.scenario.name, one.seed): achievable_bps(one.scenario, one.max_bitrate_bps)
                  for one in results.called.values()}  # fmt: skip
    weir, gcc = pairs.means
    most = sum(achievable[key] for key in pairs.keys) / len(pairs)
    if gcc >= most:
        return Outcome(reason="GCC leaves nothing to gain")
    detail = (
        f"{weir / 1e3:,.0f} kbps with Weir, {gcc / 1e3:,.0f} with GCC, {most / 1e3:,.0f} achievable with headers; "
        f"means of {len(pairs)} pairs of calls"
    )
    figures = {"weir": weir, "gcc": gcc, "achievable": most, "pairs": len(pairs)}
    return Outcome((weir - gcc) / (most - gcc), detail, figures)


@goal_measure
def less_frozen(results: Results, bound: Bound, name: str) -> Outcome:
    """How much less time is frozen than with GCC; the detail has the freezes that no sender can avoid."""
    records = results.calls.get(name, [])
    pairs = pairs_of(records, FROZEN)
    if not len(pairs):
        return Outcome(reason=results.why_no_pair(name, records))
    path_s = {(one.scenario.name, one.seed): unavoidable_freezes_s(one.scenario) for one in results.called.values()}
    weir_s, gcc_s, own_s = sum(pairs.weir), sum(pairs.gcc), sum(path_s.get(key, 0.0) for key in pairs.keys)
    detail = (
        f"{weir_s:.1f} s with Weir, {gcc_s:.1f} s with GCC, in {len(pairs)} pairs of calls; a video that arrived "
        f"at once whenever the path carries anything would freeze for {own_s:.1f} s"
    )
    figures = {"weir_s": weir_s, "gcc_s": gcc_s, "path_s": own_s, "pairs": len(pairs)}
    if weir_s == 0:
        return Outcome(1.0, detail, figures, text="none")
    if gcc_s == 0:
        return Outcome(text="GCC: none", detail=detail, figures=figures)
    return Outcome(1 - weir_s / gcc_s, detail, figures)


@goal_measure
def worst_pair(results: Results, bound: Bound, name: str, metric_name: str, *, as_ratio: bool = False) -> Outcome:
    """Weir over GCC, or less GCC, on each scenario of a set: the worst."""
    records = results.calls.get(name, [])
    values, details = {}, {}
    for scenario in _names(results, name):
        pairs = pairs_of([one for one in records if one.scenario == scenario], metric_name)
        if len(pairs) and not (as_ratio and pairs.means[1] <= 0):
            weir, gcc = pairs.means
            values[scenario] = weir / gcc if as_ratio else weir - gcc
            details[scenario] = f"{weir:,.4g} and {gcc:,.4g} ({len(pairs)} pair{'s' * (len(pairs) != 1)})"
    return _worst(values, details, _names(results, name), results.why_no_pair(name, records), bound)


@goal_measure
def sim_to_real(
    results: Results, bound: Bound, calls: str, replays: str, controller: str = "weir", of: str = "", scenario: str = ""
) -> Outcome:
    """How far calls are from replays of the same scenario: of means over seeds, the larger deviation of receive rate
    and p95 network delay, or that of one (`of`: rate or delay). Without `scenario`, the worst scenario.
    """
    records, wanted = results.calls.get(calls, []), [scenario] if scenario else _names(results, calls)
    values, details, figures = {}, {}, {}
    for one in wanted:
        ratios, details[one] = _deviation(results, one, controller, records, replays)
        if ratios:
            chosen = [ratios[of]] if of else ratios.values()
            values[one], figures = max(abs(value - 1) for value in chosen), ratios
    outcome = _worst(values, details, wanted, results.why_no_pair(calls, records), bound)
    if not scenario or outcome.value is None:
        return outcome
    return Outcome(outcome.value, details[scenario], {f"{name}_ratio": x for name, x in figures.items()})


@goal_measure
def link_error(results: Results, bound: Bound, *sets: str, of_delay: bool = False) -> Outcome:
    """Bytes that the link carried under a standing queue against the scenario's capacity, or the p95 lateness of its
    packets: worst call.
    """
    records = [one for one in _calls(results, sets) if one.key in results.called]
    if not records:
        return Outcome(reason=results.why_no_pair(sets[0], []))
    settings = [results.called[one.key] for one in records]
    found = worst([link_accuracy(one.out / LINK_LOG, one.scenario) for one in settings])
    carried = None if found.capacity_ratio is None else abs(found.capacity_ratio - 1)
    value, why_none = (
        (found.delay_error_ms_p95, "no call carried packets") if of_delay else (carried, "no call had a standing queue")
    )
    return Outcome(value, f"the worst of {len(records)} calls", reason=why_none if value is None else "")


@goal_measure
def cpu_share(results: Results, bound: Bound, rate_bps: float, *sets: str) -> Outcome:
    """CPU of the estimator on a steady stream, as a share of one core. Only with calls."""
    if not any(results.calls.get(name) for name in sets):
        return Outcome(reason=results.why_no_pair(sets[0], []))
    detail = "the estimator alone on a steady stream, driven from Python, whose own time counts too"
    return Outcome(estimator_cpu_share(results.settings.model, rate_bps), detail)


def estimator_cpu_share(model: Path, rate_bps: float, duration_s: float = 60.0) -> float:
    """CPU time of the estimator on a steady stream of that rate / time of the stream.

    The estimator runs in this process, driven from Python faster than real time; Python's own time counts too, so this
    is an upper bound of the cost in weir-peer.
    """
    estimator = BandwidthEstimator(
        model=read_bytes(model, LARGEST_MODEL_BYTES), start_rate_bps=300_000, max_rate_bps=20_000_000
    )
    gap_us = round(1e6 * 8 * _PACKET_BYTES / rate_bps)
    started_s = time.process_time()
    for number in range(round((_WARM_UP_S + duration_s) * 1e6 / gap_us)):
        now_us = number * gap_us
        if now_us >= _WARM_UP_S * 1_000_000 > now_us - gap_us:
            started_s = time.process_time()
        estimator.on_packet(
            arrival_time_us=now_us,
            ssrc=1,
            sequence_number=number & 0xFFFF,
            payload_bytes=_PACKET_BYTES - _HEADER_BYTES,
            abs_send_time=now_us * _TICKS_PER_SECOND // 1_000_000 & 0xFFFFFF,
        )
        while estimator.next_timeout_us <= now_us:
            estimator.on_timeout(now_us)
    return (time.process_time() - started_s) / duration_s


def _calls(results: Results, sets: Sequence[str], part: str = "") -> list[CallRecord]:
    return [record for name in sets for record in results.calls.get(name, []) if part in record.scenario]


def _names(results: Results, name: str) -> list[str]:
    return [scenario.name for scenario in results.sets[name].scenarios] if name in results.sets else []


def _of_means(
    results: Results, sets: Sequence[str], part: str, metric_name: str, controller: str, *, as_ratio: bool
) -> Outcome:
    records = _calls(results, sets, part)
    pairs = pairs_of(records, metric_name, controller)
    if not len(pairs) or (as_ratio and pairs.means[1] <= 0):
        first = next((name for name in sets if name in results.sets), sets[0])
        return Outcome(reason=results.why_no_pair(first, records))
    weir, gcc = pairs.means
    detail = f"{weir:,.4g} with Weir, {gcc:,.4g} with GCC, means of {len(pairs)} pairs of calls"
    figures = {"weir": weir, "gcc": gcc, "pairs": len(pairs)}
    return Outcome(weir / gcc if as_ratio else weir - gcc, detail, figures)


def _deviation(
    results: Results, scenario: str, controller: str, calls: Sequence[CallRecord], replays: str
) -> tuple[dict[str, float], str]:
    """Calls over replays, rate and delay, and both in words; empty where either are missing."""
    called = [one for one in undisturbed(calls) if (one.scenario, one.controller) == (scenario, controller)]
    replayed = [one for one in results.runs(replays, controller) if one.scenario == scenario]
    rate_bps, replayed_bps = _mean(called, metric(RATE)), _mean(replayed, metric(RATE))
    delay_ms, replayed_ms = _mean(called, metric(NETWORK_DELAY)), _mean(replayed, delay_p95_ms)
    if not (rate_bps and replayed_bps and delay_ms and replayed_ms):
        return {}, ""
    detail = (
        f"receive rate {rate_bps / 1e3:.0f} kbps in the call, {replayed_bps / 1e3:.0f} kbps in the replay; "
        f"p95 delay {delay_ms:.0f} ms, {replayed_ms:.0f} ms"
    )
    return {"rate": rate_bps / replayed_bps, "delay": delay_ms / replayed_ms}, detail


def _mean(records: Sequence[RecordType], of_record: Callable[[RecordType], float | None]) -> float | None:
    values = [value for record in records if (value := of_record(record)) is not None]
    return sum(values) / len(values) if values else None


def _worst(
    values: Mapping[str, float], details: Mapping[str, str], wanted: Sequence[str], why_not: str, bound: Bound
) -> Outcome:
    """The worst of several scenarios decides; while one of those wanted has no value, a goal that all others reach
    stays undecided.
    """
    if not values:
        return Outcome(reason=why_not)
    worst_first = sorted(values, key=values.__getitem__, reverse=bound.kind == "at most")
    missed = sum(not bound.met(value) for value in values.values())
    shown = "; ".join(f"{one} {bound.show(values[one])}: {details[one]}" for one in worst_first)
    detail = f"{missed} of {len(values)} miss it. {shown}" if missed else f"all {len(values)}. {shown}"
    outcome = Outcome(values[worst_first[0]], detail, values)
    absent = [scenario for scenario in wanted if scenario not in values]
    return replace(outcome, reason=f"{', '.join(absent)}: {why_not}") if absent and not missed else outcome
