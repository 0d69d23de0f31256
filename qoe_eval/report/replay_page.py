"""The report: one HTML file that opens without a network, made from a results folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from weir.qoe_eval.measures.metric_table import METRICS
from weir.qoe_eval.measures.statistics import sample_text, too_few_text
from weir.qoe_eval.measures.summary import REFERENCE, ordered_controllers
from weir.qoe_eval.report import html_parts as html
from weir.qoe_eval.report import objectives, tables
from weir.qoe_eval.report import viewer as report_viewer
from weir.qoe_eval.report.page_template import render_page
from weir.qoe_eval.report.series import chart_series
from weir.qoe_eval.runs.objectives import WEIGHTS
from weir.qoe_eval.runs.options import own_names
from weir.qoe_eval.runs.store import RunStore

# Lines of these are drawn at first; a click on the legend shows the others.
_SHOWN_AT_FIRST = ("weir", "gcc", "rule")


def render_report(store: RunStore, records: Sequence[Mapping[str, Any]], summary: Mapping[str, Any]) -> str:
    """The page as text. `records` are lines of `results.jsonl`, whose series `store` reads; `summary` is theirs.

    Raises:
        InputError: a file of series is damaged.
    """
    controllers = list(summary["controllers"])
    descriptions = summary["run"].get("scenarios", {})
    series = chart_series(store, records, {name: one.get("description", "") for name, one in descriptions.items()})
    own = own_names(controllers)
    shown = [name for name in (*own, *_SHOWN_AT_FIRST) if name in controllers] or controllers[:3]
    data = {
        "scatter": _scatter(summary, controllers, "p95_queueing_delay_ms", "utilisation"),
        "viewer": _scatter(summary, controllers, "frame_delay_ms_p95", "viewer_quality"),
        "objectives": objectives.chart(summary),
        "series": series,
        "hidden": [name for name in controllers if name not in shown],
    }
    parts = [
        html.own_colours(own),
        html.incomplete(summary["run"].get("failures", []), "run"),
        tables.headline(summary),
        report_viewer.section(summary),
        tables.paired(summary),
        _scatter_section(),
        objectives.section(summary),
        tables.per_scenario(summary),
        tables.worst_runs(records),
        _series_section(series),
        tables.guard(records),
        _what_was_run(records, summary),
    ]
    links = [
        ("headline", "Controllers"),
        ("viewer", "What a viewer would see"),
        ("paired", "Paired comparison"),
        ("delay-throughput", "Throughput and delay"),
    ]
    links += [
        ("objectives", "Objectives"),
        ("scenarios", "Scenarios"),
        ("worst", "Worst scenarios"),
        ("time-series", "Time series"),
        ("guard", "Guard"),
        ("run", "What was run"),
    ]
    return render_page("Weir: rate control on simulated paths", _lead(summary), parts, links, data, "report.js")


def _lead(summary: Mapping[str, Any]) -> str:
    scenarios, runs = len(summary["scenarios"]), summary["run"].get("runs", 0)
    controllers = html.count(len(summary["controllers"]), "controller")
    text = f"{html.count(runs, 'run')} of {controllers} on {html.count(scenarios, 'scenario')}."
    if weights := summary["run"].get("objective"):
        text += f" Objective: {', '.join(f'{w:g} {name}' for w, name in zip(weights, WEIGHTS, strict=True))}."
    rows = {(row["b"], row["metric"]): row for row in summary["paired"]}
    for other in ("gcc", "rule"):
        utility, challenge = rows.get((other, "utility")), rows.get((other, "challenge"))
        if utility and challenge:
            text += (
                f" {REFERENCE} − {other}: utility <b>{utility['mean']:+.1f}</b>{_interval(utility)}, challenge score "
                f"<b>{challenge['mean']:+.1f}</b>{_interval(challenge)}; more utility in {utility['wins']} of "
                f"{sample_text(utility['independent'], utility['n'])}."
            )
    return text


def _interval(row: Mapping[str, Any]) -> str:
    low, high = row["ci95"]
    return f" ({too_few_text(row['independent'])})" if low is None else f" (95 % interval {low:+.1f} to {high:+.1f})"


def _scatter(summary: Mapping[str, Any], controllers: Sequence[str], across: str, up: str) -> list[dict[str, Any]]:
    """Per controller one point per scenario, and its means, of two measures. Delays below 1 ms are drawn at 1 ms, the
    axis being logarithmic.
    """
    shown = METRICS[up]
    found = []
    for controller in controllers:
        points = [
            (name, by[controller][across], by[controller][up])
            for name, by in summary["scenarios"].items()
            if {across, up} <= by.get(controller, {}).keys()
        ]
        if not points:
            continue
        means = summary["controllers"][controller]
        found.append(
            {
                "controller": controller,
                "scenario": [point[0] for point in points],
                "delay_ms": [round(max(1.0, point[1]), 1) for point in points],
                "y": [round(shown.scale * point[2], 1) for point in points],
                "mean_delay_ms": round(max(1.0, means[across]["mean"]), 1),
                "mean_y": round(shown.scale * means[up]["mean"], 1),
            }
        )
    return found


def _scatter_section() -> str:
    note = (
        "Large marks are means over all runs, small ones the scenarios. Up and to the right is better. "
        "Queueing delay is on a logarithmic scale."
    )
    return html.section("delay-throughput", "Throughput and delay", note, '<div id="scatter" class="chart"></div>')


def _series_section(series: Sequence[Mapping[str, Any]]) -> str:
    if not series:
        return ""
    options = "".join(f"<option value={index}>{escape(entry['name'])}</option>" for index, entry in enumerate(series))
    body = (
        f"<div class=controls><label>Scenario <select id=scenario>{options}</select></label>"
        "<span><button class=link id=previous>← previous</button> &nbsp; "
        "<button class=link id=next>next →</button></span></div>"
        '<p class=note id="scenario-note"></p><div id="series" class="chart"></div>'
    )
    note = (
        "Capacity (grey), estimate, receive rate, one-way delay of packets (dotted: the path's own) and of frames, and "
        "lost packets, first seed. "
        "A click in the legend hides or shows a controller. Dashed lines are other traffic on the path."
    )
    return html.section("time-series", "Time series", note, body)


def _what_was_run(records: Sequence[Mapping[str, Any]], summary: Mapping[str, Any]) -> str:
    run = summary["run"]
    versions = sorted(
        {f"{name} {version}" for record in records for name, version in record.get("versions", {}).items()}
    )
    objectives = sorted(
        {", ".join(f"{w:g}" for w in record["objective"]) for record in records if record.get("objective")}
    )
    seeds = sorted({record["seed"] for record in records})
    entries = [
        ("Command", f"<code>{escape(run.get('command', ''))}</code>"),
        ("Finished", escape(run.get("finished", ""))),
        ("Objective", escape("; ".join(objectives)) + " (throughput, latency, loss)"),
        ("Seeds", escape(", ".join(map(str, seeds)))),
        ("Controllers", escape(", ".join(ordered_controllers(record["controller"] for record in records)))),
        *(
            (escape(name), escape(f"{one['source']}, SHA-256 {one['sha256']}"))
            for name, one in run.get("own_controllers", {}).items()
        ),
        ("Model", escape(_model(run.get("model")))),
        ("Versions", escape(", ".join(versions))),
        ("Runs", f"{run.get('runs', 0):,} complete of {run.get('planned', 0):,}"),
    ]
    body = "<dl>" + "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in entries) + "</dl>"
    return html.section(
        "run",
        "What was run",
        "Scenario, controller, objective and seed determine every run. A seed draws where in its trace a run begins, "
        "small differences of the path's own delay, the sender's clock, phase and sizes of frames, losses and jitter, "
        "the same for all controllers; seed 0 is the scenario as written.",
        body + _paths(records, summary),
    )


def _model(model: Mapping[str, Any] | None) -> str:
    return f"{model['name']}, SHA-256 {model['sha256']}" if model else "none was needed"


def _paths(records: Sequence[Mapping[str, Any]], summary: Mapping[str, Any]) -> str:
    described = summary["run"].get("scenarios", {})
    first: dict[str, Mapping[str, Any]] = {}
    for record in records:
        first.setdefault(record["scenario"], record)
    rows = []
    for name, record in first.items():
        path = record["path"]
        capacity, queue = path.get("mean_capacity_bps"), path.get("queue_bytes")
        flows = ", ".join(f"{flow['id']} ({flow['kind']})" for flow in record["flows"])
        rows.append(
            html.row(
                [
                    html.scenario_link(name),
                    f"{capacity / 1e3:,.0f}" if capacity else "unlimited",
                    f"{described.get(name, {}).get('one_way_delay_ms', path['one_way_delay_ms']):g}",
                    f"{queue / 1000:,.1f}" if queue else "–",
                    f"{record['duration_s']:g}",
                    f"<td class=text>{escape(flows)}</td>",
                    f"<td class=text>{escape(described.get(name, {}).get('source', ''))}</td>",
                ]
            )
        )
    head = ["Scenario", "Mean capacity<small>kbps</small>", "One-way delay<small>ms</small>", "Queue<small>kB</small>"]
    head += ["Duration<small>s</small>", "Flows", "Source"]
    return f"<details><summary>The scenarios</summary>{html.table(head, rows)}</details>"
