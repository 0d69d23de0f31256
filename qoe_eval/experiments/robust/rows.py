"""The goals of a robust policy, set against what was measured: those of every family, and those of single ones.

Over several scenarios a goal is decided by their mean where it names a strength (`5 % of loss`), and by the worst of
them where it says `worst`, `longest` or `largest`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean

from weir.qoe_eval.experiments.robust.measures import Dip, dip_after, largest_queue_ms
from weir.qoe_eval.experiments.robust.results import Measure, Record, RobustResults, metric
from weir.qoe_eval.experiments.robust.sharing import SHARING, WITH_ROUTE_CHANGES
from weir.qoe_eval.measures.families import FamilyRow
from weir.qoe_eval.measures.settled import settled_jain_index, settled_rates_bps
from weir.qoe_eval.report.goal_table import Goal, Row, measured, not_measured
from weir.traces.generate.families.call import CLOCK_PPM
from weir.traces.generate.families.competitors import CONGESTION_CONTROLS
from weir.traces.generate.families.path import ROUTE_CHANGES_AT_S, ROUTE_CHANGES_MS

_COMPARED = ("weir", "gcc")
# A flow beside TCP has by its nature less than one that TCP has beaten down.
_WITHOUT_UTILISATION = ("tcp",)


def robust_rows(results: RobustResults, families: Sequence[FamilyRow]) -> list[Row]:
    """Every goal, in order."""
    return [
        *_families(families),
        *_route(results),
        _clock(results),
        *_loss(results),
        *_jitter(results),
        *_tcp(results),
        _start(results),
        *_sharing(results),
    ]


def _families(families: Sequence[FamilyRow]) -> Iterator[Row]:
    not_below = Goal("at least", 0.0, signed=True, decimals=1)
    gcc = {row.name: row.against_gcc.mean for row in families if row.against_gcc}
    rule = {row.name: row.against_rule.mean for row in families if row.against_rule}
    yield _lowest("families_gcc", "each family: mean score against the better of gcc and gcc-remb, worst family",
                  not_below, gcc)  # fmt: skip
    yield _lowest("families_rule", "each family: mean score against rule, worst family", not_below, rule)
    scores = {row.worst_score.scenario: row.worst_score.value for row in families if row.worst_score}
    yield _lowest("scenarios_gcc", "each scenario: score against gcc, worst scenario",
                  Goal("at least", -3.0, signed=True, decimals=1), scores)  # fmt: skip
    ratios = {
        row.worst_utilisation.scenario: row.worst_utilisation.value
        for row in families
        if row.worst_utilisation and row.name not in _WITHOUT_UTILISATION
    }
    yield _lowest("scenarios_utilisation", "each scenario but of tcp: utilisation against gcc's, worst scenario",
                  Goal("at least", 0.8), ratios)  # fmt: skip


def _route(results: RobustResults) -> Iterator[Row]:
    goals = (
        ("route_below_80", "longest time in all below 0.8 of the rate before",
         Goal("at most", 3.0, "s", decimals=1), lambda dip: dip.below_80_percent_s),
        ("route_below_half", "longest time at once below half of the rate before",
         Goal("at most", 1.5, "s", decimals=1), lambda dip: dip.longest_below_half_s),
    )  # fmt: skip
    dips = {controller: list(_dips(results, controller)) for controller in _COMPARED}
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


def _clock(results: RobustResults) -> Row:
    goal = Goal("at least", 0.97)
    what = "clock within 1000 ppm: utilisation against that at 0 ppm, worst clock"
    names = [("slow" if ppm < 0 else "fast") + str(abs(ppm)) for ppm in CLOCK_PPM if ppm]
    used = {
        controller: {
            name: values
            for name in ("right", *names)
            if (values := results.by_scenario("clock", controller, metric("utilisation"), name))
        }
        for controller in _COMPARED
    }
    ratios = {controller: _against_right(found) for controller, found in used.items()}
    if not ratios["weir"]:
        return not_measured("clock_utilisation", what, goal, "no such run")
    detail = "; ".join(
        f"{controller}: " + ", ".join(f"{name} {ratio:.2f}" for name, ratio in found.items())
        for controller, found in ratios.items()
    )
    return measured("clock_utilisation", what, goal, min(ratios["weir"].values()), detail, **ratios)


def _against_right(by_clock: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Utilisation by clock as a ratio of that of a right one: the mean over rates and media that both have."""
    right = {name.partition("right-")[2]: value for name, value in by_clock.get("right", {}).items()}
    found = {}
    for clock, values in by_clock.items():
        ratios = [
            value / right[where]
            for name, value in values.items()
            if (where := name.partition(f"{clock}-")[2]) in right and right[where] > 0
        ]
        if clock != "right" and ratios:
            found[clock] = mean(ratios)
    return found


def _loss(results: RobustResults) -> Iterator[Row]:
    for percent, limit in ((2, 0.95), (5, 0.92), (8, 0.85)):
        goal = Goal("at least", limit)
        what = f"random loss of {percent} %, video: utilisation"
        yield _mean_row(f"loss_{percent}", what, goal, results, "loss", metric("utilisation"), f"random{percent}")


def _jitter(results: RobustResults) -> Iterator[Row]:
    for deviation_ms, limit in ((10, 0.95), (20, 0.90), (40, 0.80)):
        goal = Goal("at least", limit)
        what = f"jitter of {deviation_ms} ms, video: utilisation"
        part = f"gaussian{deviation_ms}"
        yield _mean_row(f"jitter_{deviation_ms}", what, goal, results, "jitter", metric("utilisation"), part)
    delay = metric("p95_queueing_delay_ms")
    for deviation_ms in (10, 20, 40):
        name, goal = f"jitter_delay_{deviation_ms}", Goal("at most", 1.1)
        what = f"jitter of {deviation_ms} ms, video: p95 queueing delay against gcc's"
        own, other = (
            results.by_scenario("jitter", controller, delay, f"gaussian{deviation_ms}", "video")
            for controller in _COMPARED
        )
        common = own.keys() & other.keys()
        if not common or not any(other.values()):
            yield not_measured(name, what, goal, "no such run")
            continue
        ratio = sum(own[scenario] for scenario in common) / sum(other[scenario] for scenario in common)
        detail = ", ".join(f"{_rate(scenario)} {own[scenario]:.0f} and {other[scenario]:.0f} ms" for scenario in own
                           if scenario in common)  # fmt: skip
        yield measured(name, what, goal, ratio, f"weir and gcc: {detail}")


def _tcp(results: RobustResults) -> Iterator[Row]:
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
            for controller in _COMPARED
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


def _start(results: RobustResults) -> Row:
    goal = Goal("at most", 80.0, "ms", decimals=0)
    what = "start on 3 Mbps: largest queue of the first 5 s"

    def queue_ms(record: Record) -> float | None:
        series = results.series_of(record)
        return None if series is None else largest_queue_ms(series, record["flows"][0]["base_one_way_delay_ms"])

    own, other = (results.by_scenario("start", controller, queue_ms, "3M") for controller in _COMPARED)
    if not own:
        return not_measured("start_queue", what, goal, "no such run")
    detail = "weir and gcc: " + ", ".join(
        f"{scenario.removeprefix('start-')} {value:.0f} and {other.get(scenario, float('nan')):.0f} ms"
        for scenario, value in own.items()
    )
    return measured("start_queue", what, goal, max(own.values()), detail)


def _sharing(results: RobustResults) -> Iterator[Row]:
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
                for controller in _COMPARED
            }
            name = f"jain_{case}{suffix}"
            if not found["weir"]:
                yield not_measured(name, what, goal, "no such run")
                continue
            detail = f"gcc {mean(found['gcc']):.3f}" if found["gcc"] else ""
            yield measured(name, what, goal, mean(found["weir"]), detail)


def _lowest(name: str, what: str, goal: Goal, values: Mapping[str, float]) -> Row:
    if not values:
        return not_measured(name, what, goal, "no pair of runs completed")
    missed = {one: value for one, value in values.items() if not goal.met(value)}
    worst_first = sorted(missed, key=lambda one: missed[one])
    detail = ", ".join(f"{one} {goal.show(missed[one])}" for one in worst_first)
    return measured(name, what, goal, min(values.values()), detail, **values)


def _mean_row(
    name: str, what: str, goal: Goal, results: RobustResults, family: str, measure: Measure, part: str
) -> Row:
    found = {controller: results.by_scenario(family, controller, measure, part, "video") for controller in _COMPARED}
    if not found["weir"]:
        return not_measured(name, what, goal, "no such run")
    detail = "; ".join(
        f"{controller}: " + ", ".join(f"{_rate(scenario)} {value:.2f}" for scenario, value in values.items())
        for controller, values in found.items()
    )
    return measured(name, what, goal, mean(found["weir"].values()), detail, **found)


def _rate(scenario: str) -> str:
    """The rate in a scenario's name."""
    return f"{scenario.split('-')[-2].removesuffix('M')} Mbps"
