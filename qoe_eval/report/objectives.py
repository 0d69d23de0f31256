"""The objective page of the report: what the presets trade, and the front of a fan of objectives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weir.qoe_eval.measures.metric_table import METRICS, Metric
from weir.qoe_eval.measures.statistics import too_few_text
from weir.qoe_eval.measures.steering import ORDER, PAIRS, TOLERANCES
from weir.qoe_eval.report import html_parts as html
from weir.qoe_eval.runs.objectives import SHOWN
from weir.registry import WEIGHTS

Summary = Mapping[str, Any]


def section(summary: Summary) -> str:
    """Nothing for a summary without objectives."""
    found = summary.get("objectives")
    if not found:
        return ""
    count = len(found["scenarios"])
    note = (
        "The same network under other weights of throughput, latency and loss, which an application may set at any "
        f"time in a call. Means over {count} scenario{'' if count == 1 else 's'}, seed {found['seed']}; "
        "gcc and rule, which have no weights, on the same runs."
    )
    fan = found["fan"]
    parts = [_steering_sentence(found["steering"]), _presets(found), _utilities(found)]
    parts += ["<h3>Between presets</h3>", _differences(found)]
    if fan:
        on_front = sum(point["non_dominated"] for point in fan)
        title = f"{len(fan)} objective{'' if len(fan) == 1 else 's'} from one model"
        text = (
            f"Filled marks, joined by the line, are not dominated: {on_front} of {len(fan)} objectives have no other "
            "with at least their utilisation and at most their delay. Colour is the weight of throughput against that "
            "of latency; diamonds are the presets."
        )
        parts.append(f'<h3>{title}</h3><p class="note">{text}</p><div id="front" class="chart"></div>{_fan(fan)}')
    parts.append(_scenarios(found))
    return html.section("objectives", "One model, many objectives", note, "".join(parts))


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


def _steering_sentence(steering: Mapping[str, Any]) -> str:
    if not steering["scenarios"]:
        return ""
    total, right = steering["scenarios"], round(steering["right"] * steering["scenarios"])
    moved = round(steering["moved"] * total)
    return (
        f"<p><b>On {right} of {total} scenarios ({100 * steering['right']:.0f} %)</b> utilisation and p95 queueing "
        "delay both move the right way from preset to preset: neither rises from throughput to balanced, nor from "
        f"balanced to latency. A tie within {100 * TOLERANCES['utilisation']:g} points of utilisation and "
        f"{TOLERANCES['p95_queueing_delay_ms']:g} ms counts as right; on {moved} of them the presets differ by more."
        "</p>"
    )


def _presets(found: Mapping[str, Any]) -> str:
    head = ["Preset", "Weights<small>throughput / latency / loss</small>", *(html.heading(METRICS[m]) for m in SHOWN)]
    rows = [
        html.row([name, _weights(one), *_values(one)], name == "balanced") for name, one in found["presets"].items()
    ]
    rows += [html.row([html.controller_name(name), "–", *_values(one)]) for name, one in found["references"].items()]
    return html.table(head, rows)


def _utilities(found: Mapping[str, Any]) -> str:
    """What each objective makes of every preset's runs; nothing for summaries from before there was a utility."""
    rows_of = [*found["presets"].items(), *found["references"].items()]
    if not all("utility" in one for _, one in rows_of):
        return ""
    metric = METRICS["utility"]
    best = {name: max((one["utility"][name] or 0.0) for one in found["presets"].values()) for name in ORDER}
    rows = []
    for who, one in rows_of:
        cells = [
            f"<b>{metric.display(value)}</b>" if value == best[name] else metric.display(value)
            for name, value in ((name, one["utility"][name]) for name in ORDER)
        ]
        rows.append(html.row([who if who in ORDER else html.controller_name(who), *cells]))
    head = ["Runs of", *(f"{name}<small>{_weights(found['presets'][name])}</small>" for name in ORDER)]
    note = (
        "Utility of the same runs under each preset’s weights (throughput / latency / loss): where steering pays, the "
        "best of a column, in bold, is the preset that it belongs to."
    )
    return f'<h3>Utility under each objective</h3><p class="note">{note}</p>{html.table(head, rows)}'


def _values(one: Mapping[str, Any]) -> list[str]:
    return [METRICS[metric].display(one[metric]) for metric in SHOWN]


def _differences(found: Mapping[str, Any]) -> str:
    rows_of = {(row["a"], row["b"], row["metric"]): row for row in found["preset_differences"]}
    by_step = found["steering"]["by_step"]
    head = ["Difference"]
    for name in SHOWN:
        metric = METRICS[name]
        head.append(f"{metric.label}<small>{metric.unit}</small>")
        if name in by_step:
            head.append("Right way<small>of scenarios</small>")
    rows = []
    for a, b in PAIRS:
        cells = [f"{a} − {b}"]
        for name in SHOWN:
            cells.append(_difference(METRICS[name], rows_of.get((a, b, name)), name in TOLERANCES))
            if name in by_step:
                cells.append(f"{100 * by_step[name][f'{a}-{b}']:.0f} %")
        rows.append(html.row(cells))
    note = (
        "Paired by scenario, with 95 % intervals (BCa bootstrap over scenarios, of six or more). Utilisation and delay "
        "are expected to fall from row to row of the presets: green where the interval says so, red where it says the "
        "opposite."
    )
    return f'<p class="note">{note}</p>{html.table(head, rows)}'


def _difference(metric: Metric, row: Mapping[str, Any] | None, expected_positive: bool) -> str:
    if row is None:
        return "–"
    low, high = row["ci95"]
    css_class = ""
    if expected_positive and low is not None:
        css_class = "good" if low > 0 else "bad" if high < 0 else "even"
    ends = too_few_text(row["independent"]) if low is None else html.interval(metric, (low, high), signed_ends=True)
    return f'<td class="{css_class}"><b>{html.signed(metric, row["mean"])}</b><br><small>{ends}</small></td>'


def _fan(fan: Sequence[Mapping[str, Any]]) -> str:
    head = ["Weights<small>throughput / latency / loss</small>", *(html.heading(METRICS[m]) for m in SHOWN), "Front"]
    ordered = sorted(fan, key=lambda one: -(one["utilisation"] or 0))
    rows = [
        html.row([_weights(one), *_values(one), "not dominated" if one["non_dominated"] else "–"]) for one in ordered
    ]
    return f"<details><summary>The objectives as a table</summary>{html.table(head, rows)}</details>"


def _scenarios(found: Mapping[str, Any]) -> str:
    wrong = set(found["steering"]["wrong"])
    head = ["Scenario"]
    head += [
        f"{preset}<small>{METRICS[m].label.lower()}, {METRICS[m].unit}</small>" for m in TOLERANCES for preset in ORDER
    ]
    head.append("Right way")
    rows = []
    for name, by_preset in sorted(found["preset_scenarios"].items(), key=lambda item: item[0] not in wrong):
        cells = [METRICS[m].display(by_preset[preset][m]) for m in TOLERANCES for preset in ORDER]
        verdict = '<td class="bad">no</td>' if name in wrong else '<td class="good">yes</td>'
        rows.append(html.row([html.scenario_link(name), *cells, verdict]))
    return f"<details><summary>The presets on each scenario</summary>{html.table(head, rows)}</details>"
