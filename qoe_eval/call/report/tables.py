"""The tables of the call report, as HTML sections."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from weir.qoe_eval.call.logs import file_names
from weir.qoe_eval.call.measures.metric_table import CALL_METRICS
from weir.qoe_eval.call.report.summary import Call
from weir.qoe_eval.measures.metric_table import Metric
from weir.qoe_eval.measures.summary import REFERENCE, ordered_controllers
from weir.qoe_eval.report import html_parts as html

Summary = Mapping[str, Any]

HEADLINE = (
    "received_bitrate_bps", "utilisation", "frames_per_second", "frozen_share", "end_to_end_delay_ms_p50",
    "end_to_end_delay_ms_p95", "network_delay_ms_p95", "loss_ratio", "vmaf_mean", "vmaf_p5",
)  # fmt: skip
COMPARED = (
    "received_bitrate_bps", "frames_per_second", "frozen_share", "end_to_end_delay_ms_p95", "network_delay_ms_p95",
    "vmaf_mean", "vmaf_p5", "loss_ratio", "utilisation",
)  # fmt: skip
_OF_A_CALL = (
    "received_bitrate_bps", "frames_per_second", "frozen_share", "freeze_count", "end_to_end_delay_ms_p95",
    "network_delay_ms_p95", "loss_ratio", "vmaf_mean", "vmaf_p5",
)  # fmt: skip


def headline(summary: Summary) -> str:
    """Every controller with the means of the main measures."""
    controllers = summary["controllers"]
    if not any(controllers.values()):
        return ""
    rows = []
    for name, values in controllers.items():
        cells = [_mean(CALL_METRICS[metric], values) for metric in HEADLINE]
        count = max((found["n"] for found in values.values()), default=0)
        rows.append(html.row([html.controller_name(name), str(count), *cells], name == REFERENCE))
    head = ["Controller", "Calls", *(html.heading(CALL_METRICS[name]) for name in HEADLINE)]
    note = (
        "Means over calls, each measured whole: from its first frame to its end. Calls that were disturbed, or ended "
        "before their time, are left out."
    )
    return html.section("headline", "Controllers", note, html.table(head, rows) + _all_measures(controllers))


def calls_table(calls: Sequence[tuple[Call, Path]], out: Path) -> str:
    """Every call with its measures, its recording, and why it is left out of the means, if it is."""
    rows = []
    for call, folder in _in_order(calls):
        metrics = call.record["metrics"]["run"]
        cells = [
            escape(call.case),
            f"<td class=text>{html.controller_name(call.controller)}</td>",
            str(call.record["seed"]),
            *(CALL_METRICS[name].display(metrics.get(name)) for name in _OF_A_CALL),
            f"<td class=text>{_links(folder, out)}</td>",
            '<td class="bad">no</td>' if call.why_left_out else "yes",
        ]
        rows.append(html.row(cells, call.controller == REFERENCE))
    head = [
        "Scenario",
        "Controller",
        "Seed",
        *(html.heading(CALL_METRICS[name]) for name in _OF_A_CALL),
        "See",
        "In means",
    ]
    note = (
        "The recording is what the receiver saw, freezes too. Freezes by rendered frames after the definition of W3C "
        "webrtc-stats."
    )
    reasons = "".join(
        f"<li>{escape(call.case)}, {escape(call.controller)}, seed {call.record['seed']}: "
        f"{escape('; '.join(reason[:300] for reason in call.why_left_out))}</li>"
        for call, _ in _in_order(calls)
        if call.why_left_out
    )
    left_out = f"<h3>Left out of the means</h3><ul class=note>{reasons}</ul>" if reasons else ""
    return html.section("calls", "Calls", note, html.table(head, rows) + left_out)


def per_scenario(summary: Summary) -> str:
    """Means over seeds, controllers side by side."""
    scenarios, controllers = summary["scenarios"], list(summary["controllers"])
    metrics = [
        metric
        for name in COMPARED
        if any((metric := CALL_METRICS[name]).name in values for by in scenarios.values() for values in by.values())
    ]
    if len(controllers) < 2 or len(scenarios) < 2 or not metrics:
        return ""
    parts = []
    for index, metric in enumerate(metrics):
        rows = []
        for name, by in scenarios.items():
            values = [by.get(controller, {}).get(metric.name) for controller in controllers]
            known = [value for value in values if value is not None]
            best = metric.best(known) if known else None
            cells = [f"<b>{metric.display(v)}</b>" if v == best else metric.display(v) for v in values]
            rows.append(html.row([escape(name), *cells]))
        head = [html.unit_of_cells("Scenario", metric), *(html.controller_name(name) for name in controllers)]
        parts.append(html.metric_part("scenarios", metric, index == 0, html.table(head, rows)))
    body = html.selector("scenarios", "Measure", metrics) + "".join(parts)
    return html.section("scenarios", "Scenarios", "Means over seeds; the best of a row is bold.", body)


def _all_measures(controllers: Mapping[str, Any]) -> str:
    rows = []
    for metric in CALL_METRICS.values():
        if any(metric.name in values for values in controllers.values()):
            rows.append(html.row([html.heading(metric), *(_mean(metric, values) for values in controllers.values())]))
    head = ["Measure", *(html.controller_name(name) for name in controllers)]
    meanings = "".join(f"<dt>{escape(m.label)}</dt><dd>{escape(m.meaning)}</dd>" for m in CALL_METRICS.values())
    return (
        f"<details><summary>All measures</summary>{html.table(head, rows)}</details>"
        f"<details><summary>What the measures mean</summary><dl>{meanings}</dl></details>"
    )


def _mean(metric: Metric, values: Mapping[str, Any]) -> str:
    found = values.get(metric.name)
    return metric.display(found["mean"]) if found else "–"


def _in_order(calls: Sequence[tuple[Call, Path]]) -> list[tuple[Call, Path]]:
    controllers = ordered_controllers(call.controller for call, _ in calls)
    cases = list(dict.fromkeys(call.case for call, _ in calls))

    def place(one: tuple[Call, Path]) -> tuple[int, int, int]:
        return cases.index(one[0].case), one[0].record["seed"], controllers.index(one[0].controller)

    return sorted(calls, key=place)


def _links(folder: Path, out: Path) -> str:
    links = []
    for name, label in ((file_names.RECORDING, "recording"), (file_names.RECORD, "record")):
        if (folder / name).is_file():
            path = Path(os.path.relpath(folder / name, out)).as_posix()
            links.append(f'<a href="{escape(quote(path))}">{label}</a>')
    return " · ".join(links) or "–"
