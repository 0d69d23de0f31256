"""The section of one model under many objectives: what the presets trade, and the front of a fan of objectives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weir.qoe_eval.measures.steering import LISTED, ORDER, PAIRS, TOLERANCES
from weir.qoe_eval.measures.table import MEASURES, Measure
from weir.qoe_eval.records.comparisons import PairedRow
from weir.qoe_eval.records.objectives import ObjectiveMeans, ObjectivesSummary, Steering
from weir.qoe_eval.records.summary import Summary
from weir.qoe_eval.report.page_table import Cell, Row, Table, controller_cell, difference_cell, measure_heads
from weir.qoe_eval.report.page_template import Section, View
from weir.qoe_eval.runs.objectives import SHOWN


def objectives(summary: Summary) -> Section | None:
    """Nothing for a summary without objectives."""
    found = summary.objectives
    if not found:
        return None
    view = {
        "scenarios": len(found.scenarios),
        "seed": found.seed,
        "steering": _steering(found.steering),
        "runs": _runs(found),
        "utilities": _utilities(found),
        "differences": _differences(found),
        "has_intervals": any(row.ci95[0] is not None for row in found.preset_differences),
        "objectives": len(found.fan),
        "fan": _fan(found.fan),
        "on_front": sum(point.non_dominated for point in found.fan),
        "by_scenario": _by_scenario(found),
    }
    return Section("objectives", "Objectives", "replay/objectives", view, "One model, many objectives")


def chart(summary: Summary) -> View | None:
    """Points of the chart: p95 queueing delay in ms, utilisation in %, lean (0: latency alone counts, 1: throughput
    alone).
    """
    found = summary.objectives
    if not found or not found.fan:
        return None
    fan = sorted(found.fan, key=lambda one: round(one.p95_queueing_delay_ms or 0.0, 2))
    return {
        "fan": [point | {"front": one.non_dominated} for one in fan if (point := _point(_weights(one), one))],
        "presets": [point for name, one in found.presets.items() if (point := _point(name, one))],
        "references": [point for name, one in found.references.items() if (point := _point(name, one))],
    }


def _point(name: str, one: ObjectiveMeans) -> View | None:
    if one.p95_queueing_delay_ms is None or one.utilisation is None:
        return None
    point: View = {
        "name": name,
        "delay_ms": round(one.p95_queueing_delay_ms, 2),
        "utilisation": round(MEASURES["utilisation"].scale * one.utilisation, 2),
        "challenge": MEASURES["challenge"].display(one.challenge),
    }
    if one.throughput is not None and one.latency is not None:
        point |= {"weights": _weights(one), "lean": round(one.throughput / (one.throughput + one.latency), 3)}
    return point


def _weights(one: ObjectiveMeans) -> str:
    return " / ".join(f"{weight:g}" for weight in (one.throughput, one.latency, one.loss))


def _means(one: ObjectiveMeans) -> list[str]:
    return [MEASURES[metric].display(one.measure(metric)) for metric in SHOWN]


def _steering(steering: Steering) -> View | None:
    total = steering.scenarios
    if not total or steering.right is None or steering.moved is None:
        return None
    return {
        "right": round(steering.right * total),
        "total": total,
        "percent": f"{100 * steering.right:.0f}",
        "moved": round(steering.moved * total),
        "tie_points": f"{100 * TOLERANCES['utilisation']:g}",
        "tie_ms": f"{TOLERANCES['p95_queueing_delay_ms']:g}",
    }


def _head_of_weights() -> Cell:
    return Cell("Weights", "throughput / latency / loss")


def _heads() -> list[Cell]:
    return measure_heads([MEASURES[name] for name in SHOWN])


def _runs(found: ObjectivesSummary) -> Table:
    """The presets, then the controllers that know none."""
    rows = [Row([name, _weights(one), *_means(one)], name == "balanced") for name, one in found.presets.items()]
    rows += [Row([controller_cell(name), "–", *_means(one)]) for name, one in found.references.items()]
    return Table(["Preset", _head_of_weights(), *_heads()], rows)


def _utilities(found: ObjectivesSummary) -> Table | None:
    """The utility of every preset's runs under each objective; None for summaries of older versions without it."""
    everyone = found.presets | found.references
    rows_of = [(name, one.utility) for name, one in everyone.items() if one.utility]
    if len(rows_of) < len(everyone):
        return None
    measure = MEASURES["utility"]
    rows = [
        Row(
            [
                name if name in LISTED else controller_cell(name),
                *(measure.display(utility[under]) for under in LISTED),
            ]
        )
        for name, utility in rows_of
    ]
    return Table(["Runs of", *(Cell(name, _weights(found.presets[name])) for name in LISTED)], rows)


def _differences(found: ObjectivesSummary) -> Table:
    """Between presets, a row a step, with the share of scenarios on which a measure goes the right way where it has
    one.
    """
    rows_of = {(row.a, row.b, row.metric): row for row in found.preset_differences}
    by_step = found.steering.by_step
    heads: list[Cell | str] = ["Difference"]
    for name in SHOWN:
        heads.append(Cell(MEASURES[name].label, MEASURES[name].unit))
        heads += [Cell("Right way", "of scenarios")] if name in by_step else []
    rows = []
    for a, b in PAIRS:
        cells: list[Cell | str] = [f"{a} − {b}"]
        for name in SHOWN:
            cells.append(_difference(MEASURES[name], rows_of.get((a, b, name))))
            cells += [f"{100 * by_step[name][f'{a}-{b}']:.0f} %"] if name in by_step else []
        rows.append(Row(cells))
    return Table(heads, rows)


def _difference(measure: Measure, row: PairedRow | None) -> Cell:
    cell = difference_cell(row, measure)
    if row is None or measure.name not in TOLERANCES:
        return replace(cell, kind="")
    # Utilisation and delay are expected to fall from preset to preset.
    return cell if cell.kind == "even" else replace(cell, kind="good" if row.mean > 0 else "bad")


def _fan(fan: Sequence[ObjectiveMeans]) -> Table:
    ordered = sorted(fan, key=lambda one: -(one.utilisation or 0))
    rows = [Row([_weights(one), *_means(one), "not dominated" if one.non_dominated else "–"]) for one in ordered]
    return Table([_head_of_weights(), *_heads(), "Front"], rows)


def _by_scenario(found: ObjectivesSummary) -> Table:
    """The presets on each scenario, those first on which they move the wrong way."""
    wrong = set(found.steering.wrong)
    columns = [(preset, MEASURES[metric]) for metric in TOLERANCES for preset in ORDER]
    rows = [
        Row(
            [
                Cell(name, scenario=True),
                *(metric.display(by_preset[preset][metric.name]) for preset, metric in columns),
                "no" if name in wrong else "yes",
            ]
        )
        for name, by_preset in sorted(found.preset_scenarios.items(), key=lambda item: item[0] not in wrong)
    ]
    heads = [Cell(preset, f"{metric.label.lower()}, {metric.unit}") for preset, metric in columns]
    return Table(["Scenario", *heads, "Right way"], rows)
