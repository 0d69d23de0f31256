"""Whether a pool by trust ships: what it gains over the model alone where that does worst, and on the mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean
from typing import Final

from weir.qoe_eval.experiments.trust.experiment import HEALTHY, TRACES, Records, TrustResults
from weir.qoe_eval.measures.families import SCORE
from weir.qoe_eval.measures.summary import run_values
from weir.qoe_eval.report.goal_table import Goal, Row, measured, not_measured

_TENTH: Final = Goal("at least", 1.0, signed=True)
_MEAN: Final = Goal("at least", -0.2, signed=True)
_PLACES: Final = ("random", TRACES, "robust")


def worth_rows(results: TrustResults) -> Iterator[Row]:
    """Of random scenarios, traces, all families together and calls: the worst tenth and the mean, pool less model."""
    line = results.lines[HEALTHY]
    families = [r for name, some in results.records.items() if name not in ("random", TRACES) for r in some]
    records = {name: results.records.get(name, []) for name in _PLACES[:2]} | {"robust": families}
    for place in _PLACES:
        what = f"{place}: mean score of the worst tenth of scenarios, pool less the model alone"
        what_mean = f"{place}: mean score, pool less the model alone"
        alone, pool = (scores(records[place], controller) for controller in ("weir", line))
        if not alone or not pool:
            yield not_measured(f"worst_tenth_{place}", what, _TENTH, _absent(place))
            yield not_measured(f"mean_{place}", what_mean, _MEAN, _absent(place))
            continue
        low, high = worst_tenth(alone), worst_tenth(pool)
        detail = f"model {low:.2f}, pool {high:.2f}, {len(alone)} scenarios"
        yield measured(f"worst_tenth_{place}", what, _TENTH, high - low, detail, model=low, pool=high)
        gain = mean(pool.values()) - mean(alone.values())
        yield measured(f"mean_{place}", what_mean, _MEAN, gain)
    yield not_measured("worst_tenth_calls", "calls: the same", _TENTH,
                       "real calls are made with `weir call --controller LINE`")  # fmt: skip


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
    tenths = [row for row in rows if row.name.startswith("worst_tenth_") and row.reached is not None]
    means = [row for row in rows if row.name.startswith("mean_") and row.reached is not None]
    if not tenths:
        return "Whether a pool ships was not measured."
    gains = ", ".join(f"{row.name.removeprefix('worst_tenth_')} {row.measured}" for row in tenths)
    if all(row.reached for row in (*tenths, *means)):
        return f"A pool ships: in the worst tenth of scenarios it gains what was asked ({gains}), and costs nothing."
    return (
        f"No pool ships: in the worst tenth of scenarios it is within {gains} of the model alone, where {_TENTH} was "
        "asked. What it is good for is a model that fails; a program that flies a model of its own names the pool."
    )


def _absent(place: str) -> str:
    return "name the folder of the traces with --traces" if place == TRACES else "no run completed"
