"""Whether a pool ships, by trust or a median always: what it gains over the model alone where that does worst, and on
the mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean
from typing import Final

from weir.qoe_eval.experiments.trust.experiment import HEALTHY, MEDIAN, TRACES, Records, TrustResults
from weir.qoe_eval.measures.families import SCORE
from weir.qoe_eval.measures.summary import run_values
from weir.qoe_eval.report.goal_table import Goal, Row, measured, not_measured

_TENTH: Final = Goal("at least", 1.0, signed=True)
_MEAN: Final = Goal("at least", -0.2, signed=True)
POOLS: Final = ("by_trust", "median")


def worth_rows(results: TrustResults) -> Iterator[Row]:
    """Of random scenarios, traces, all families together and calls: the worst tenth and the mean, pool less model."""
    families = [r for name, some in results.records.items() if name not in ("random", TRACES) for r in some]
    records = {name: results.records.get(name, []) for name in ("random", TRACES)} | {"robust": families}
    for pool_name, line in zip(POOLS, (results.lines[HEALTHY], MEDIAN), strict=True):
        for place, some in records.items():
            yield from _of_pool(pool_name, place, some, line)
    yield not_measured("worst_tenth_calls", "calls: mean score of the worst tenth, pool less the model alone", _TENTH,
                       "too few for a tenth; `weir experiment pool-calls` makes calls of pools")  # fmt: skip


def _of_pool(pool_name: str, place: str, records: Records, line: str) -> Iterator[Row]:
    tenth, whole = f"{pool_name}_worst_tenth_{place}", f"{pool_name}_mean_{place}"
    what = f"{place}: mean score of the worst tenth of scenarios, pool {pool_name} less the model alone"
    what_whole = f"{place}: mean score, pool {pool_name} less the model alone"
    alone, pool = (scores(records, controller) for controller in ("weir", line))
    if not alone or not pool:
        absent = "name the folder of the traces with --traces" if place == TRACES else "no run completed"
        yield not_measured(tenth, what, _TENTH, absent)
        yield not_measured(whole, what_whole, _MEAN, absent)
        return
    low, high = worst_tenth(alone), worst_tenth(pool)
    detail = f"model {low:.2f}, pool {high:.2f}, {len(alone)} scenarios"
    yield measured(tenth, what, _TENTH, high - low, detail, model=low, pool=high)
    yield measured(whole, what_whole, _MEAN, mean(pool.values()) - mean(alone.values()))


def scores(records: Records, controller: str) -> dict[str, float]:
    """The challenge score by scenario, means over seeds."""
    found: dict[str, list[float]] = {}
    for (scenario, _), value in run_values(records, controller, SCORE).items():
        found.setdefault(scenario, []).append(value)
    return {scenario: mean(values) for scenario, values in found.items()}


def worst_tenth(by_scenario: Mapping[str, float]) -> float:
    """The mean of the lowest tenth, of one at least."""
    return mean(sorted(by_scenario.values())[: max(1, len(by_scenario) // 10)])


def conclusion(rows: Sequence[Row]) -> str:
    """What `worth_rows` mean, in a sentence or two."""
    gains = []
    for pool_name in POOLS:
        own = [row for row in rows if row.name.startswith(f"{pool_name}_") and row.reached is not None]
        tenths = [row for row in own if "_worst_tenth_" in row.name]
        if not tenths:
            continue
        gains.append(f"{pool_name} " + ", ".join(f"{row.name.rpartition('_')[2]} {row.measured}" for row in tenths))
        if all(row.reached for row in own):
            return f"A pool ships: it gains in the worst tenth of scenarios what was asked, at no cost: {gains[-1]}."
    if not gains:
        return "Whether a pool ships was not measured."
    return (
        f"No pool ships: in the worst tenth of scenarios {_TENTH} points over the model alone were asked, and none has "
        f"them and the mean ({'; '.join(gains)}). What by_trust is for is a model that fails: a program that flies a "
        "model of its own names it."
    )
