"""Goals on the networks of Table III: utilisation, queueing delay, loss, consistency, and what is in flight."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from weir_eval.report.goal_table import Bound, GoalRow
from weir_papers.common import Case, goal_row, mean_case
from weir_papers.muses.muses_measures import ellipse_area, in_flight_rmse
from weir_papers.muses.muses_runs import GLOBAL_TREE, MUSES, TEACHER, MusesResults
from weir_papers.muses.sets import FLUCTUATING, LTE, STEADY, TABLE_III

_NAMES = {STEADY: "steady Wi-Fi", FLUCTUATING: "fluctuating Wi-Fi", LTE: "LTE"}
_UTILISATIONS = {STEADY: 0.997, FLUCTUATING: 0.978, LTE: 0.9}
_OF_ORACLES = 0.978
_ELLIPSES = {STEADY: 0.95, FLUCTUATING: 0.62, LTE: 0.93}
# Excluded from the comparison: the oracle has the true capacity.
_NO_RIVALS = (MUSES, GLOBAL_TREE, TEACHER, "oracle")
_FEWEST = 3
# Below this area, in ms times points, an ellipse is rounding.
_SMALLEST_ELLIPSE = 1e-3


def network_rows(results: MusesResults) -> Iterator[GoalRow]:
    """All of them, figure by figure."""
    for name in TABLE_III:
        yield from _utilisation(results, name)
    own_delay = "p95_queueing_delay_ms"
    description = "p95 queueing delay of one TCP Cubic flow to ours, steady Wi-Fi"
    yield _ratio(results, STEADY, "cubic_delay", description, 2.29, "cubic", own_delay, other_to_ours=True)
    for name in TABLE_III:
        goal = Bound("at most", 0.003, "%", strict=True, scale=100)
        means = means_of(results.cases(name))
        others = ", ".join(
            f"{controller} {100 * mean.loss_ratio:.2f} %" for controller, mean in means.items() if controller != MUSES
        )
        own = means[MUSES].loss_ratio if MUSES in means else None
        yield goal_row(f"loss_{name}", f"{_NAMES[name]}: loss", goal, own, others, _why(results, name))
    description = "LTE: utilisation to that of libwebrtc's GCC (the paper: Verus)"
    yield _ratio(results, LTE, "lte_utilisation", description, 1.26, "gcc", "utilisation")
    description = "LTE: p95 queueing delay of libwebrtc's GCC to ours (the paper: Verus)"
    yield _ratio(results, LTE, "lte_delay", description, 1.29, "gcc", own_delay, other_to_ours=True)
    for name in TABLE_III:
        yield _ellipse(results, name)
    yield from _in_flight(results)


def _utilisation(results: MusesResults, name: str) -> Iterator[GoalRow]:
    description, reason = f"{_NAMES[name]}: utilisation", _why(results, name)
    used = {controller: mean.utilisation for controller, mean in means_of(results.cases(name)).items()}
    own, oracle = used.pop(MUSES, None), used.get("oracle")
    others = ", ".join(f"{controller} {100 * share:.1f} %" for controller, share in used.items())
    goal = Bound("at least", _UTILISATIONS[name], "%", scale=100, decimals=1)
    yield goal_row(f"utilisation_{name}", description, goal, own, others, reason)
    goal = Bound("at least", _OF_ORACLES, "%", scale=100, decimals=1)
    share = own / oracle if own is not None and oracle else None
    yield goal_row(f"of_oracle_{name}", f"{description}, of the oracle's", goal, share, reason=reason)


def _ratio(
    results: MusesResults, set_name: str, name: str, description: str, limit: float, other: str, measure: str,
    *, other_to_ours: bool = False,
) -> GoalRow:  # fmt: skip
    """The ratio of a measure of ours to that of the other, or of the other to ours."""
    goal, means = Bound("at least", limit, "times"), means_of(results.cases(set_name))
    if MUSES not in means or other not in means:
        return goal_row(name, description, goal, None, reason=_why(results, set_name))
    above, below = (means[controller] for controller in ((other, MUSES) if other_to_ours else (MUSES, other)))
    divisor = getattr(below, measure)
    detail = "; ".join(
        f"{controller}: {100 * case.utilisation:.1f} %, {case.p95_queueing_delay_ms:.1f} ms, "
        f"{100 * case.loss_ratio:.2f} % lost"
        for controller, case in ((controller, means[controller]) for controller in (MUSES, other))
    )
    value = getattr(above, measure) / divisor if divisor > 0 else None
    return goal_row(name, description, goal, value, detail, "a ratio to nothing")


def _ellipse(results: MusesResults, set_name: str) -> GoalRow:
    goal = Bound("at most", _ELLIPSES[set_name], "times")
    name, description = (
        f"ellipse_{set_name}",
        f"{_NAMES[set_name]}: area of the 1-sigma ellipse to the smallest of the others",
    )
    areas = {
        controller: ellipse_area(cases)
        for controller, cases in results.cases(set_name).items()
        if len(cases) >= _FEWEST
    }
    rivals = {
        controller: area
        for controller, area in areas.items()
        if controller not in _NO_RIVALS and area >= _SMALLEST_ELLIPSE
    }
    if MUSES not in areas or not rivals:
        return goal_row(
            name, description, goal, None, reason="no other has one" if MUSES in areas else _why(results, set_name)
        )
    best = min(rivals, key=rivals.__getitem__)
    detail = "ms times points: " + ", ".join(f"{controller} {shown_area(area)}" for controller, area in areas.items())
    return goal_row(name, description, goal, areas[MUSES] / rivals[best], detail, next_best=best, areas=areas)


def _in_flight(results: MusesResults) -> Iterator[GoalRow]:
    errors = {
        controller: error
        for controller in results.records.get(FLUCTUATING, {})
        if (error := in_flight_rmse(results.whole(FLUCTUATING, controller))) is not None
    }
    detail = "packets: " + ", ".join(f"{controller} {error:.1f}" for controller, error in errors.items())
    for name, other, words, limit in (
        ("in_flight_bbr", "bbr", "TCP BBR", 3.17),
        ("in_flight_global", GLOBAL_TREE, "one global tree", 1.78),
    ):
        description = (
            f"fluctuating Wi-Fi: error (RMSE) of in flight against the bandwidth-delay product, of {words} to ours"
        )
        ratio = errors[other] / errors[MUSES] if other in errors and errors.get(MUSES, 0) > 0 else None
        reason = "name its file with --global" if other == GLOBAL_TREE and errors else "no run completed"
        yield goal_row(name, description, Bound("at least", limit, "times"), ratio, detail, reason, **errors)


def means_of(cases: Mapping[str, Sequence[Case]]) -> dict[str, Case]:
    """The mean of each controller that has any."""
    return {controller: mean_case(some) for controller, some in cases.items() if some}


def shown_area(area: float) -> str:
    """The area of an ellipse as text."""
    if area < _SMALLEST_ELLIPSE:
        return "0"
    return f"{area:,.1f}" if area >= 1 else f"{area:.2g}"


def _why(results: MusesResults, set_name: str) -> str:
    return results.sets[set_name].missing or "no run completed"
