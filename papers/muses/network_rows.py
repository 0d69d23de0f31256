"""Goals on the networks of Table III: utilisation, queueing delay, loss, consistency, and what is in flight."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from weir.papers.muses.measures import ellipse_area, in_flight_rmse
from weir.papers.muses.runs import GLOBAL_TREE, MUSES, Case, MusesResults, mean_case
from weir.papers.muses.sets import FLUCTUATING, LTE, STEADY, TABLE_III
from weir.qoe_eval.report.goal_table import Goal, Row, measured, not_measured

_NAMES = {STEADY: "steady Wi-Fi", FLUCTUATING: "fluctuating Wi-Fi", LTE: "LTE"}
_UTILISATIONS = {STEADY: 0.997, FLUCTUATING: 0.978, LTE: 0.9}
_OF_ORACLES = 0.978
_ELLIPSES = {STEADY: 0.95, FLUCTUATING: 0.62, LTE: 0.93}
# It is no rival: it knows the path.
_NO_RIVALS = (MUSES, GLOBAL_TREE, "oracle")
_FEWEST = 3
# Networks that differ in nothing that someone notices give no ellipse: less than this is rounding, in ms times points.
_SMALLEST_ELLIPSE = 1e-3


def network_rows(results: MusesResults) -> Iterator[Row]:
    """All of them, figure by figure."""
    for name in TABLE_III:
        yield from _utilisation(results, name)
    yield _ratio(
        results,
        STEADY,
        "cubic_delay",
        "p95 queueing delay of one TCP Cubic flow to ours, steady Wi-Fi",
        Goal("at least", 2.29, "times"),
        "cubic",
        lambda own, other: _over(other, own, "p95_queueing_delay_ms"),
    )
    for name in TABLE_III:
        yield _loss(results, name)
    yield _ratio(
        results,
        LTE,
        "lte_utilisation",
        "LTE: utilisation to that of libwebrtc's GCC (the paper: Verus)",
        Goal("at least", 1.26, "times"),
        "gcc",
        lambda own, other: _over(own, other, "utilisation"),
    )
    yield _ratio(
        results,
        LTE,
        "lte_delay",
        "LTE: p95 queueing delay of libwebrtc's GCC to ours (the paper: Verus)",
        Goal("at least", 1.29, "times"),
        "gcc",
        lambda own, other: _over(other, own, "p95_queueing_delay_ms"),
    )
    for name in TABLE_III:
        yield _ellipse(results, name)
    yield from _in_flight(results)


def _utilisation(results: MusesResults, set_name: str) -> Iterator[Row]:
    what = f"{_NAMES[set_name]}: utilisation"
    goal = Goal("at least", _UTILISATIONS[set_name], "%", scale=100, decimals=1)
    of_oracles = Goal("at least", _OF_ORACLES, "%", scale=100, decimals=1)
    means = means_of(results.cases(set_name))
    if MUSES not in means:
        yield not_measured(f"utilisation_{set_name}", what, goal, _why(results, set_name))
        yield not_measured(f"of_oracle_{set_name}", f"{what}, of the oracle's", of_oracles, _why(results, set_name))
        return
    own = means[MUSES].utilisation
    others = ", ".join(f"{who} {100 * mean.utilisation:.1f} %" for who, mean in means.items() if who != MUSES)
    yield measured(f"utilisation_{set_name}", what, goal, own, others)
    if "oracle" in means:
        share = own / means["oracle"].utilisation
        yield measured(f"of_oracle_{set_name}", f"{what}, of the oracle's", of_oracles, share)


def _loss(results: MusesResults, set_name: str) -> Row:
    goal = Goal("at most", 0.003, "%", strict=True, scale=100)
    what = f"{_NAMES[set_name]}: loss"
    means = means_of(results.cases(set_name))
    if MUSES not in means:
        return not_measured(f"loss_{set_name}", what, goal, _why(results, set_name))
    others = ", ".join(f"{who} {100 * mean.loss_ratio:.2f} %" for who, mean in means.items() if who != MUSES)
    return measured(f"loss_{set_name}", what, goal, means[MUSES].loss_ratio, others)


def _ratio(
    results: MusesResults, set_name: str, name: str, what: str, goal: Goal, other: str,
    ratio: Callable[[Case, Case], float | None],
) -> Row:  # fmt: skip
    means = means_of(results.cases(set_name))
    if MUSES not in means or other not in means:
        return not_measured(name, what, goal, _why(results, set_name))
    own, their = means[MUSES], means[other]
    value = ratio(own, their)
    if value is None:
        return not_measured(name, what, goal, "a ratio to nothing")
    detail = "; ".join(
        f"{who}: {100 * one.utilisation:.1f} %, {one.p95_queueing_delay_ms:.1f} ms, {100 * one.loss_ratio:.2f} % lost"
        for who, one in ((MUSES, own), (other, their))
    )
    return measured(name, what, goal, value, detail)


def _ellipse(results: MusesResults, set_name: str) -> Row:
    goal = Goal("at most", _ELLIPSES[set_name], "times")
    what = f"{_NAMES[set_name]}: area of the 1-sigma ellipse to the smallest of the others"
    areas = {who: ellipse_area(cases) for who, cases in results.cases(set_name).items() if len(cases) >= _FEWEST}
    rivals = {who: area for who, area in areas.items() if who not in _NO_RIVALS and area >= _SMALLEST_ELLIPSE}
    if MUSES not in areas:
        return not_measured(f"ellipse_{set_name}", what, goal, _why(results, set_name))
    if not rivals:
        return not_measured(f"ellipse_{set_name}", what, goal, "no other has one")
    best = min(rivals, key=rivals.__getitem__)
    detail = "ms times points: " + ", ".join(f"{who} {shown_area(area)}" for who, area in areas.items())
    return measured(f"ellipse_{set_name}", what, goal, areas[MUSES] / rivals[best], detail, next_best=best, areas=areas)


def _in_flight(results: MusesResults) -> Iterator[Row]:
    errors = {
        who: error
        for who in results.records.get(FLUCTUATING, {})
        if (error := in_flight_rmse(results.whole(FLUCTUATING, who))) is not None
    }
    detail = "packets: " + ", ".join(f"{who} {error:.1f}" for who, error in errors.items())
    for name, other, words, limit in (
        ("in_flight_bbr", "bbr", "TCP BBR", 3.17),
        ("in_flight_global", GLOBAL_TREE, "one global tree", 1.78),
    ):
        goal = Goal("at least", limit, "times")
        what = f"fluctuating Wi-Fi: error (RMSE) of in flight against the bandwidth-delay product, of {words} to ours"
        if MUSES not in errors or other not in errors:
            missing = other == GLOBAL_TREE and bool(errors)
            yield not_measured(name, what, goal, "name its file with --global" if missing else "no run completed")
        elif errors[MUSES] > 0:
            yield measured(name, what, goal, errors[other] / errors[MUSES], detail, **errors)


def means_of(cases: Mapping[str, Sequence[Case]]) -> dict[str, Case]:
    """The mean of each who that has any."""
    return {who: mean_case(some) for who, some in cases.items() if some}


def shown_area(area: float) -> str:
    """Of an ellipse, for people."""
    if area < _SMALLEST_ELLIPSE:
        return "0"
    return f"{area:,.1f}" if area >= 1 else f"{area:.2g}"


def _over(a: Case, b: Case, name: str) -> float | None:
    other: float = getattr(b, name)
    return getattr(a, name) / other if other > 0 else None


def _why(results: MusesResults, set_name: str) -> str:
    return results.sets[set_name].missing or "no run completed"
