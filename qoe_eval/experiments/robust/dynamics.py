"""Goals on what follows a change of the base delay, a TCP flow, a start, on sharing, and on feedback about audio: from
time series.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import mean

from weir.qoe_eval.experiments.robust.measures import Dip, dip_after, largest_queue_ms
from weir.qoe_eval.experiments.robust.results import COMPARED, Measure, Record, RobustResults
from weir.qoe_eval.experiments.robust.sharing import SHARING, WITH_ROUTE_CHANGES
from weir.qoe_eval.measures.fairness import settled_jain_index, settled_rates_bps
from weir.qoe_eval.report.goal_table import Goal, Row, measured, not_measured
from weir.traces.generate.families.call import AUDIO_ONLY_S, AUDIO_PACKETS_PER_SECOND
from weir.traces.generate.families.competitors import CONGESTION_CONTROLS
from weir.traces.generate.families.path import ROUTE_CHANGES_AT_S, ROUTE_CHANGES_MS


def route_rows(results: RobustResults) -> Iterator[Row]:
    """How deep and how long the rate falls when the base delay rises."""
    goals: tuple[tuple[str, str, Goal, Callable[[Dip], float]], ...] = (
        ("route_below_80", "longest time in all below 0.8 of the rate before",
         Goal("at most", 3.0, "s", decimals=1), lambda dip: dip.below_80_percent_s),
        ("route_below_half", "longest time at once below half of the rate before",
         Goal("at most", 1.5, "s", decimals=1), lambda dip: dip.longest_below_half_s),
    )  # fmt: skip
    dips = {controller: list(_dips(results, controller)) for controller in COMPARED}
    for name, words, goal, part in goals:
        what = f"base delay +{ROUTE_CHANGES_MS[0]:g} to +{ROUTE_CHANGES_MS[-1]:g} ms: {words}"
        longest = {
            controller: max(((part(dip), scenario) for scenario, dip in found), default=None)
            for controller, found in dips.items()
        }
        own, other = longest["weir"], longest["gcc"]
        if own is None:
            yield not_measured(name, what, goal, "no such run")
            continue
        missed = sum(not goal.met(part(dip)) for _, dip in dips["weir"])
        detail = f"{own[1]}; {missed} of {len(dips['weir'])} miss it" + (f"; gcc {other[0]:.1f} s" if other else "")
        yield measured(name, what, goal, own[0], detail)


def _dips(results: RobustResults, controller: str) -> Iterator[tuple[str, Dip]]:
    for more_ms in ROUTE_CHANGES_MS:
        for record in results.of("route", controller, f"plus{more_ms:g}"):
            series = results.series_of(record)
            dip = None if series is None else dip_after(series, ROUTE_CHANGES_AT_S)
            if dip is not None:
                yield record["scenario"], dip


def tcp_rows(results: RobustResults) -> Iterator[Row]:
    """What Weir and TCP have of the link beside each other."""
    for name, whose, kind, limit in (
        ("tcp_own_share", "Weir's rate", "rtp", 0.5),
        ("tcp_left_share", "the TCP flow's rate", "tcp", 0.7),
    ):
        goal = Goal("at least", limit)
        what = f"TCP joins: {whose} as a share of half the link, worst congestion control"
        share = _share_of_half(results, kind)
        means = {
            controller: {
                control: mean(values.values())
                for control in CONGESTION_CONTROLS
                if (values := results.by_scenario("tcp", controller, share, control))
            }
            for controller in COMPARED
        }
        if not means["weir"]:
            yield not_measured(name, what, goal, "no such run")
            continue
        detail = "; ".join(
            f"{'with ' if kind == 'tcp' else ''}{controller}: "
            + ", ".join(f"{control} {value:.2f}" for control, value in found.items())
            for controller, found in means.items()
        )
        yield measured(name, what, goal, min(means["weir"].values()), detail, **means)


def _share_of_half(results: RobustResults, kind: str) -> Measure:
    """The settled rate of the flow of a kind, as a share of half of the link."""

    def share(record: Record) -> float | None:
        rates = settled_rates_bps(results.with_series(record))
        own = [rates[flow["id"]] for flow in record["flows"] if flow["kind"] == kind and flow["id"] in rates]
        return own[0] / (record["path"]["mean_capacity_bps"] / 2) if own else None

    return share


def start_row(results: RobustResults) -> Row:
    """The queue that a start builds."""
    goal = Goal("at most", 80.0, "ms", decimals=0)
    what = "start on 3 Mbps: largest queue of the first 5 s"

    def queue_ms(record: Record) -> float | None:
        series = results.series_of(record)
        return None if series is None else largest_queue_ms(series, record["flows"][0]["base_one_way_delay_ms"])

    own, other = (results.by_scenario("start", controller, queue_ms, "3M") for controller in COMPARED)
    if not own:
        return not_measured("start_queue", what, goal, "no such run")
    detail = "weir and gcc: " + ", ".join(
        f"{scenario.removeprefix('start-')} {value:.0f} and {other.get(scenario, float('nan')):.0f} ms"
        for scenario, value in own.items()
    )
    return measured("start_queue", what, goal, max(own.values()), detail)


def audio_row(results: RobustResults) -> Row:
    """How often the receiver tells of its rate while only audio comes."""
    goal = Goal("at most", 2.0, decimals=1)
    what = "audio only: REMB or transport feedback a second, most in a scenario"

    def feedback_per_second(record: Record) -> float | None:
        whole = results.with_series(record)
        sent = (whole["flows"][0].get("series") or {}).get("rate_feedback_sent")
        if sent is None:
            return None
        first, last = (round(time_s / whole["series"]["interval_s"]) for time_s in AUDIO_ONLY_S)
        return sum(sent[first:last]) / (AUDIO_ONLY_S[1] - AUDIO_ONLY_S[0])

    found = {
        controller: {
            name: value
            for packets_per_second in AUDIO_PACKETS_PER_SECOND
            for name, value in results.by_scenario(
                "mute", controller, feedback_per_second, f"audio{packets_per_second}"
            ).items()
        }
        for controller in (*COMPARED, "gcc-remb")
    }
    if not found["weir"]:
        return not_measured("audio_feedback", what, goal, "no such run")
    detail = "; ".join(
        f"{controller}: " + ", ".join(f"{name.removeprefix('mute-')} {value:.1f}" for name, value in values.items())
        for controller, values in found.items()
        if values
    )
    return measured("audio_feedback", what, goal, max(found["weir"].values()), detail, **found)


def sharing_rows(results: RobustResults) -> Iterator[Row]:
    """Jain's index of Weir's own flows."""
    for suffix, words in (("", ""), (WITH_ROUTE_CHANGES, ", with a base delay that changes")):
        for case, limit in (("5.4", 0.95), ("5.5", 0.9)):
            goal = Goal("at least", limit if not suffix else 0.9, decimals=3)
            what = f"RFC 8867 {case}{words}: Jain's index"
            found = {
                controller: [
                    value
                    for record in results.of(SHARING, controller)
                    if record["scenario"] == f"rfc8867-{case}{suffix}"
                    and (value := settled_jain_index(results.with_series(record))) is not None
                ]
                for controller in COMPARED
            }
            name = f"jain_{case}{suffix}"
            if not found["weir"]:
                yield not_measured(name, what, goal, "no such run")
                continue
            detail = f"gcc {mean(found['gcc']):.3f}" if found["gcc"] else ""
            yield measured(name, what, goal, mean(found["weir"]), detail)
