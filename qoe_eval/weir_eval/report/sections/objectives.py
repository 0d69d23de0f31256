"""The section of one model under many objectives: what the presets trade, and the front of a fan of objectives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from weir_cli.console import counted
from weir_eval.measures.steering import LISTED, ORDER, PAIRS, TOLERANCES
from weir_eval.measures.table import MEASURES, Measure
from weir_eval.records.comparisons import PairedRow
from weir_eval.records.objectives import ObjectiveMeans, ObjectivesSummary, Steering
from weir_eval.records.summary import Summary
from weir_eval.report.display import dated
from weir_eval.report.page_blocks import Figure, Folded, Heading, Section, Span, Text, note
from weir_eval.report.page_table import (
    Block,
    Cell,
    Cells,
    Row,
    Table,
    controller_cell,
    difference_cell,
    measure_heads,
)
from weir_eval.report.sections.controllers import axes
from weir_eval.report.text import libwebrtc_of
from weir_eval.runs.objectives import SHOWN


def objectives(summary: Summary) -> Section | None:
    """Nothing for a summary without objectives."""
    found = summary.objectives
    if not found:
        return None
    references = dated(" and ".join(found.references), libwebrtc_of(summary))
    without = f"; without weights, on the same scenarios: {references}" if references else ""
    about = note(
        "The same network under other weights of throughput, latency and loss, which an application may set at any "
        f"time in a call. Means over {counted(len(found.scenarios), 'scenario')}, seed {found.seed}{without}."
    )
    blocks = [
        about,
        _steering(found.steering),
        _runs(found),
        *_utilities(found),
        *_differences(found),
        *(_front(found) if found.fan else []),
        Folded("The presets on each scenario", [_by_scenario(found)]),
    ]
    return Section("objectives", "Objectives", blocks, "One model, many objectives")


def _front(found: ObjectivesSummary) -> list[Block]:
    """The fan of objectives: which of them no other dominates."""
    number = len(found.fan)
    about = note(
        "Filled marks, joined by the line, are not dominated: "
        f"{sum(point.non_dominated for point in found.fan)} of {number} objectives have no other with at least their "
        "utilisation and at most their delay. Colour is the weight of throughput against that of latency; diamonds are "
        "the presets."
    )
    title = f"{counted(number, 'objective')} from one model"
    table = Folded("The objectives as a table", [_fan(found.fan)])
    return [Heading(title), about, Figure("front", _points(found)), table]


def _points(found: ObjectivesSummary) -> dict[str, Any]:
    """Points of the chart: p95 queueing delay in ms, utilisation in %, lean (0: latency alone counts, 1: throughput
    alone).
    """
    fan = sorted(found.fan, key=lambda point: round(point.p95_queueing_delay_ms or 0.0, 2))
    return {
        "axes": axes("p95_queueing_delay_ms", "utilisation"),
        "fan": [point | {"front": means.non_dominated} for means in fan if (point := _point(_weights(means), means))],
        "presets": [point for name, means in found.presets.items() if (point := _point(name, means))],
        "references": [point for name, means in found.references.items() if (point := _point(name, means))],
    }


def _point(name: str, means: ObjectiveMeans) -> dict[str, Any] | None:
    if means.p95_queueing_delay_ms is None or means.utilisation is None:
        return None
    point: dict[str, Any] = {
        "name": name,
        "delay_ms": round(means.p95_queueing_delay_ms, 2),
        "utilisation": round(MEASURES["utilisation"].scale * means.utilisation, 2),
        "challenge": MEASURES["challenge"].display(means.challenge),
    }
    if means.throughput is not None and means.latency is not None:
        point |= {"weights": _weights(means), "lean": round(means.throughput / (means.throughput + means.latency), 3)}
    return point


def _weights(means: ObjectiveMeans) -> str:
    return " / ".join(f"{weight:g}" for weight in (means.throughput, means.latency, means.loss))


def _means(means: ObjectiveMeans) -> list[str]:
    return [MEASURES[metric].display(means.measure(metric)) for metric in SHOWN]


def _steering(steering: Steering) -> Text | None:
    total = steering.scenarios
    if not total or steering.right is None or steering.moved is None:
        return None
    right = Span(f"On {round(steering.right * total)} of {total} scenarios ({100 * steering.right:.0f} %)")
    points, delay_ms = (f"{100 * TOLERANCES['utilisation']:g}", f"{TOLERANCES['p95_queueing_delay_ms']:g}")
    meaning = (
        " utilisation and p95 queueing delay both move the right way from preset to preset: neither rises from "
        f"throughput to balanced, nor from balanced to latency. A tie within {points} points of utilisation and "
        f"{delay_ms} ms counts as right; on {round(steering.moved * total)} of them the presets differ by more."
    )
    return Text([right, meaning])


def _head_of_weights() -> Cell:
    return Cell("Weights", "throughput / latency / loss")


def _heads() -> list[Cell]:
    return measure_heads([MEASURES[name] for name in SHOWN])


def _runs(found: ObjectivesSummary) -> Table:
    """The presets, then the controllers that know none."""
    rows = [Row([name, _weights(means), *_means(means)], name == "balanced") for name, means in found.presets.items()]
    rows += [Row([controller_cell(name), "–", *_means(means)]) for name, means in found.references.items()]
    return Table(["Preset", _head_of_weights(), *_heads()], rows)


def _utilities(found: ObjectivesSummary) -> list[Block]:
    """The utility of every preset's runs under each objective; nothing for summaries of older versions without it."""
    everyone = found.presets | found.references
    rows_of = [(name, means.utility) for name, means in everyone.items() if means.utility]
    if len(rows_of) < len(everyone):
        return []
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
    about = note(
        "Utility of the same runs under each preset’s weights (throughput / latency / loss): where steering pays, the "
        "best of a column is the preset that it belongs to."
    )
    heads: Cells = ["Runs of", *(Cell(name, _weights(found.presets[name])) for name in LISTED)]
    return [Heading("Utility under each objective"), about, Table(heads, rows)]


def _differences(found: ObjectivesSummary) -> list[Block]:
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
    colours = (
        ": green where the 95 % interval (BCa bootstrap over scenarios, of six or more) confirms it, red where it "
        "shows the opposite"
        if any(row.ci95[0] is not None for row in found.preset_differences)
        else ""
    )
    about = note(
        f"Paired by scenario. Utilisation and delay are expected to fall from row to row of the presets{colours}."
    )
    return [Heading("Between presets"), about, Table(heads, rows)]


def _difference(measure: Measure, row: PairedRow | None) -> Cell:
    cell = difference_cell(row, measure)
    if row is None or measure.name not in TOLERANCES:
        return replace(cell, kind="")
    # Utilisation and delay are expected to fall from preset to preset.
    return cell if cell.kind == "even" else replace(cell, kind="good" if row.mean > 0 else "bad")


def _fan(fan: Sequence[ObjectiveMeans]) -> Table:
    ordered = sorted(fan, key=lambda point: -(point.utilisation or 0))
    rows = [
        Row([_weights(point), *_means(point), "not dominated" if point.non_dominated else "–"]) for point in ordered
    ]
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
