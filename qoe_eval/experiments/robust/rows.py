"""The goals of a robust policy, set against what was measured: those of every family, clocks, loss and jitter.
`dynamics.py` and `faults.py` have the others.

Over several scenarios a goal is decided by their mean where it names a strength (`5 % of loss`), and by the worst of
them where it says `worst`, `longest` or `largest`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean

from weir.qoe_eval.experiments.robust.dynamics import audio_row, route_rows, sharing_rows, start_row, tcp_rows
from weir.qoe_eval.experiments.robust.faults import recovery_rows
from weir.qoe_eval.experiments.robust.results import COMPARED, Measure, RobustResults, metric
from weir.qoe_eval.experiments.robust.sharing import SHARING
from weir.qoe_eval.measures.families import GCC, SCORE, utilisation_ratios
from weir.qoe_eval.measures.summary import scenario_differences, scenario_means
from weir.qoe_eval.records import FamilyRow
from weir.qoe_eval.report.goal_table import Goal, Row, measured, not_measured
from weir.traces.generate.families.call import CLOCK_PPM

# A flow beside TCP has by its nature less than one that TCP has beaten down.
_WITHOUT_UTILISATION = ("tcp",)


# Of those that miss a goal, as many are named.
_SHOWN = 10


def robust_rows(results: RobustResults, families: Sequence[FamilyRow]) -> list[Row]:
    """Every goal, in order."""
    return [
        *_families(results, families),
        *route_rows(results),
        _clock(results),
        *_loss(results),
        *_jitter(results),
        *tcp_rows(results),
        start_row(results),
        audio_row(results),
        *recovery_rows(results),
        *sharing_rows(results),
    ]


def _families(results: RobustResults, families: Sequence[FamilyRow]) -> Iterator[Row]:
    not_below = Goal("at least", 0.0, signed=True, decimals=1)
    gcc = {row.name: row.against_gcc.mean for row in families if row.against_gcc}
    rule = {row.name: row.against_rule.mean for row in families if row.against_rule}
    yield _lowest("families_gcc", "each family: mean score against the better of gcc and gcc-remb, worst family",
                  not_below, gcc)  # fmt: skip
    yield _lowest("families_rule", "each family: mean score against rule, worst family", not_below, rule)
    means = {name: scenario_means(records) for name, records in results.records.items() if name != SHARING}
    scores = {one: value for by in means.values() for one, value in scenario_differences(by, GCC, SCORE).items()}
    yield _lowest("scenarios_gcc", "each scenario: score against gcc, worst scenario",
                  Goal("at least", -3.0, signed=True, decimals=1), scores)  # fmt: skip
    ratios = {
        one: value
        for name, by in means.items()
        if name not in _WITHOUT_UTILISATION
        for one, value in utilisation_ratios(by).items()
    }
    yield _lowest("scenarios_utilisation", "each scenario but of tcp: utilisation against gcc's, worst scenario",
                  Goal("at least", 0.8), ratios)  # fmt: skip


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
        for controller in COMPARED
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
            for controller in COMPARED
        )
        common = own.keys() & other.keys()
        if not common or not any(other.values()):
            yield not_measured(name, what, goal, "no such run")
            continue
        ratio = sum(own[scenario] for scenario in common) / sum(other[scenario] for scenario in common)
        detail = ", ".join(f"{_rate(scenario)} {own[scenario]:.0f} and {other[scenario]:.0f} ms" for scenario in own
                           if scenario in common)  # fmt: skip
        yield measured(name, what, goal, ratio, f"weir and gcc: {detail}")


def _lowest(name: str, what: str, goal: Goal, values: Mapping[str, float]) -> Row:
    if not values:
        return not_measured(name, what, goal, "no pair of runs completed")
    missed = {one: value for one, value in values.items() if not goal.met(value)}
    worst_first = sorted(missed, key=lambda one: missed[one])
    shown = ", ".join(f"{one} {goal.show(missed[one])}" for one in worst_first[:_SHOWN])
    detail = f"{len(missed)} of {len(values)} miss it: {shown}" if missed else f"all {len(values)}"
    return measured(name, what, goal, min(values.values()), detail, **values)


def _mean_row(
    name: str, what: str, goal: Goal, results: RobustResults, family: str, measure: Measure, part: str
) -> Row:
    found = {controller: results.by_scenario(family, controller, measure, part, "video") for controller in COMPARED}
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
