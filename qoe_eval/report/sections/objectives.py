"""The section of one model under many objectives: what the presets trade, and the front of a fan of objectives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weir.qoe_eval.measures.metric_table import METRICS, Metric
from weir.qoe_eval.measures.steering import LISTED, ORDER, PAIRS, TOLERANCES
from weir.qoe_eval.report.display import interval
from weir.qoe_eval.report.page_template import Section
from weir.qoe_eval.report.paired_text import too_few_text
from weir.qoe_eval.runs.objectives import SHOWN
from weir.registry import WEIGHTS

Summary = Mapping[str, Any]


def objectives(summary: Summary) -> Section | None:
    """Nothing for a summary without objectives."""
    found = summary.get("objectives")
    if not found:
        return None
    view = {
        "scenarios": len(found["scenarios"]),
        "seed": found["seed"],
        "metrics": [METRICS[name] for name in SHOWN],
        "steering": _steering(found["steering"]),
        "runs": _runs(found),
        "utilities": _utilities(found),
        "differences": _differences(found),
        "fan": _fan(found["fan"]),
        "on_front": sum(point["non_dominated"] for point in found["fan"]),
        "by_scenario": _by_scenario(found),
    }
    return Section("objectives", "Objectives", "replay/objectives.html", view)


def chart(summary: Summary) -> dict[str, Any] | None:
    """Points of the chart: p95 queueing delay in ms, utilisation in %, lean (0: latency alone counts, 1: throughput
    alone).
    """
    found = summary.get("objectives")
    if not found or not found["fan"]:
        return None
    fan = [_point(f"{_weights(one)}", one) | {"front": one["non_dominated"]} for one in found["fan"] if _known(one)]
    return {
        "fan": sorted(fan, key=lambda point: point["delay_ms"]),
        "presets": [_point(name, one) for name, one in found["presets"].items() if _known(one)],
        "references": [_point(name, one) for name, one in found["references"].items() if _known(one)],
    }


def _point(name: str, one: Mapping[str, Any]) -> dict[str, Any]:
    point = {
        "name": name,
        "delay_ms": round(one["p95_queueing_delay_ms"], 2),
        "utilisation": round(METRICS["utilisation"].scale * one["utilisation"], 2),
        "challenge": METRICS["challenge"].display(one["challenge"]),
    }
    if "throughput" in one:
        point |= {
            "weights": _weights(one),
            "lean": round(one["throughput"] / (one["throughput"] + one["latency"]), 3),
        }
    return point


def _known(one: Mapping[str, Any]) -> bool:
    return all(one[metric] is not None for metric in TOLERANCES)


def _weights(one: Mapping[str, Any]) -> str:
    return " / ".join(f"{one[name]:g}" for name in WEIGHTS)


def _means(one: Mapping[str, Any]) -> list[str]:
    return [METRICS[metric].display(one[metric]) for metric in SHOWN]


def _steering(steering: Mapping[str, Any]) -> dict[str, Any] | None:
    total = steering["scenarios"]
    if not total:
        return None
    return {
        "right": round(steering["right"] * total),
        "total": total,
        "percent": f"{100 * steering['right']:.0f}",
        "moved": round(steering["moved"] * total),
        "tie_points": f"{100 * TOLERANCES['utilisation']:g}",
        "tie_ms": f"{TOLERANCES['p95_queueing_delay_ms']:g}",
    }


def _runs(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The presets, then the controllers that know none."""
    presets = [(name, True, _weights(one), one) for name, one in found["presets"].items()]
    others = [(name, False, "–", one) for name, one in found["references"].items()]
    return [
        {"name": name, "is_preset": is_preset, "weights": weights, "means": _means(one)}
        for name, is_preset, weights, one in (*presets, *others)
    ]


def _utilities(found: Mapping[str, Any]) -> dict[str, Any] | None:
    """What each objective makes of every preset's runs; nothing for summaries from before there was a utility."""
    rows_of = [*found["presets"].items(), *found["references"].items()]
    if not all("utility" in one for _, one in rows_of):
        return None
    metric = METRICS["utility"]
    best = {under: max((one["utility"][under] or 0.0) for one in found["presets"].values()) for under in LISTED}
    rows = [
        {
            "name": name,
            "is_preset": name in LISTED,
            "utilities": [
                (metric.display(one["utility"][under]), one["utility"][under] == best[under]) for under in LISTED
            ],
        }
        for name, one in rows_of
    ]
    return {"columns": [(name, _weights(found["presets"][name])) for name in LISTED], "rows": rows}


def _differences(found: Mapping[str, Any]) -> dict[str, Any]:
    """Between presets, a row a step. `right` is the share of scenarios on which a step goes the right way, of the
    measures that have one.
    """
    rows_of = {(row["a"], row["b"], row["metric"]): row for row in found["preset_differences"]}
    by_step = found["steering"]["by_step"]
    rows = []
    for a, b in PAIRS:
        cells = []
        for name in SHOWN:
            right = f"{100 * by_step[name][f'{a}-{b}']:.0f} %" if name in by_step else None
            cells.append({"right": right, "difference": _difference(METRICS[name], rows_of.get((a, b, name)))})
        rows.append({"step": f"{a} − {b}", "cells": cells})
    return {"with_right": [name in by_step for name in SHOWN], "rows": rows}


def _difference(metric: Metric, row: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if row is None:
        return None
    low, high = row["ci95"]
    judged = ""
    if metric.name in TOLERANCES and low is not None:
        judged = "good" if low > 0 else "bad" if high < 0 else "even"
    ends = too_few_text(row["independent"]) if low is None else interval((low, high), metric, of_difference=True)
    return {"metric": metric, "mean": row["mean"], "ends": ends, "judged": judged}


def _fan(fan: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    ordered = sorted(fan, key=lambda one: -(one["utilisation"] or 0))
    return [{"weights": _weights(one), "means": _means(one), "non_dominated": one["non_dominated"]} for one in ordered]


def _by_scenario(found: Mapping[str, Any]) -> dict[str, Any]:
    """The presets on each scenario, those first on which they move the wrong way."""
    wrong = set(found["steering"]["wrong"])
    columns = [(preset, METRICS[metric]) for metric in TOLERANCES for preset in ORDER]
    rows = [
        {
            "scenario": name,
            "cells": [metric.display(by_preset[preset][metric.name]) for preset, metric in columns],
            "right": name not in wrong,
        }
        for name, by_preset in sorted(found["preset_scenarios"].items(), key=lambda item: item[0] not in wrong)
    ]
    return {"columns": columns, "rows": rows}
