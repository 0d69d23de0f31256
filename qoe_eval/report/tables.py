"""The tables of the report, as HTML sections made from a summary and result records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from weir.qoe_eval.measures.metric_table import METRICS, Metric
from weir.qoe_eval.measures.statistics import sample_text, seeds_text, too_few_text
from weir.qoe_eval.measures.summary import REFERENCE
from weir.qoe_eval.report import html_parts as html
from weir.registry import knows_path

Summary = Mapping[str, Any]
Records = Sequence[Mapping[str, Any]]

HEADLINE = ("challenge", "utilisation", "p95_queueing_delay_ms", "loss_ratio", "seconds_above_400_ms")
COMPARED = (
    "utility", "challenge", "viewer_quality", "frozen_share", "frame_delay_ms_p95", "utilisation",
    "p95_queueing_delay_ms", "loss_ratio", "seconds_above_400_ms", "recoco",
)  # fmt: skip
HEATED = (
    "utility", "challenge", "viewer_quality", "frozen_share", "frame_delay_ms_p95", "utilisation",
    "p95_queueing_delay_ms", "loss_ratio", "convergence_time_s", "recoco",
)  # fmt: skip
WORST_ROWS = 10
WORST = (
    "utility", "challenge", "challenge_delay", "challenge_rate", "challenge_loss", "p95_queueing_delay_ms",
    "viewer_quality",
)  # fmt: skip


def headline(summary: Summary) -> str:
    """Every controller by its mean utility, with the interval, the challenge score and the other main measures."""
    # Results from before there was a utility have the challenge score alone.
    has_utility = any("utility" in values for values in summary["controllers"].values())
    leading = METRICS["utility" if has_utility else "challenge"]
    controllers = {name: values for name, values in summary["controllers"].items() if leading.name in values}
    ordered = sorted(controllers, key=lambda name: -controllers[name][leading.name]["mean"])
    ends = [
        end
        for name in ordered
        for end in (*controllers[name][leading.name]["ci95"], controllers[name][leading.name]["mean"])
    ]
    known = [end for end in ends if end is not None]
    domain = (max(0.0, 5 * (min(known) // 5)), min(100.0, 5 * (max(known) // 5 + 1))) if known else (0.0, 100.0)
    rows = []
    for name in ordered:
        values = controllers[name]
        score = values[leading.name]
        mark = html.interval_mark(score["mean"], tuple(score["ci95"]), domain, f"var(--c-{escape(name)}, var(--zero))")
        rows.append(
            html.row(
                [
                    html.controller_name(name),
                    f"<b>{leading.display(score['mean'])}</b>",
                    html.interval(leading, score["ci95"]),
                    f"<td>{mark}</td>",
                    leading.display(score["p5"]),
                    leading.display(score["worst"]),
                    *means(values, HEADLINE),
                ],
                name == REFERENCE,
            )
        )
    head = ["Controller", html.heading(leading), "95 % interval", html.scale(f"{domain[0]:g}", f"{domain[1]:g}")]
    head += ["p5<small>of runs</small>", "Worst<small>run</small>", *(html.heading(METRICS[name]) for name in HEADLINE)]
    note = (
        f"{_what_the_scores_are(summary)} Means over {_sample(summary)}, best first. The interval is a bootstrap over "
        "scenarios (BCa, of six or more): it tells how far the mean would move with other scenarios of the same kind. "
        "<b>oracle</b> "
        "knows the capacity and sends at it: about what could be had where a flow has the path to itself; <b>fixed</b> "
        "sends at half the mean capacity. Where several flows share a path, each is measured against the whole of it: "
        "there Jain’s index and TCP’s share tell what utility does not."
    )
    return html.section("headline", "Controllers", note, html.table(head, rows) + _all_measures(summary))


def _what_the_scores_are(summary: Summary) -> str:
    weights = summary["run"].get("objective")
    under = (
        "objective's weights"
        if not weights
        else "objective's weights, here {:g} of throughput, {:g} of latency and {:g} of loss,".format(*weights)
    )
    return (
        f"<b>Utility</b> is the measure of this run’s objective: the {under} times three parts of 0 to 100: the share "
        "used of what the path could carry, how far p95 delay stays below 400 ms, and the share of packets not lost; "
        "the <b>challenge score</b> (MMSys 2021) weighs the same parts 2 : 2 : 3 whatever the objective, so that under "
        "another one a controller may gain utility and lose score."
    )


def paired(summary: Summary, table: Mapping[str, Metric] = METRICS, compared: Sequence[str] = COMPARED) -> str:
    """The reference against every other controller, one of the `compared` metrics of a table at a time."""
    rows = summary["paired"]
    if not rows:
        return ""
    metrics = [table[name] for name in compared if any(row["metric"] == name for row in rows)]
    parts = []
    for index, metric in enumerate(metrics):
        some = [row for row in rows if row["metric"] == metric.name]
        ends = [abs(end) for row in some for end in (*row["ci95"], row["mean"]) if end is not None]
        reach = max([*ends, 1e-9]) * 1.05
        body = [_paired_row(metric, row, reach) for row in some]
        head = [
            f"{REFERENCE} against",
            f"{escape(metric.label)}<small>difference, {escape(metric.unit)}</small>",
            "95 % interval",
        ]
        head += [html.scale(f"−{metric.display(reach)}", f"+{metric.display(reach)}"), "Verdict", "Won"]
        head += ["Of how many<br>independent"]
        parts.append(html.metric_part("paired", metric, index == 0, html.table(head, body, "forest")))
    note = (
        f"Difference {REFERENCE} − other on the same scenario with the same seed, averaged over seeds and then over "
        "scenarios, which are what is independent; intervals by bootstrap over scenarios, of six or more. A verdict is "
        "given only where the interval leaves out 0. Won are scenarios whose mean over seeds is better with "
        f"{REFERENCE}."
    )
    return html.section(
        "paired",
        f"{REFERENCE} against the others, paired",
        note,
        html.selector("paired", "Measure", metrics) + "".join(parts),
    )


def per_scenario(summary: Summary) -> str:
    """Means over seeds, coloured from bad to good."""
    controllers = list(summary["controllers"])
    metrics = [m for name in HEATED if any((m := METRICS[name]).name in c for c in summary["controllers"].values())]
    parts = []
    for index, metric in enumerate(metrics):
        values = {
            name: [by_controller.get(controller, {}).get(metric.name) for controller in controllers]
            for name, by_controller in summary["scenarios"].items()
        }
        known = [value for row in values.values() for value in row if value is not None]
        if not known:
            continue
        low, high = (float(end) for end in np.percentile(known, [4, 96]))
        domain = (low, high) if metric.better == "higher" else (high, low)
        rows = [
            html.row([html.scenario_link(name), *_heat_row(metric, row, controllers, domain)])
            for name, row in values.items()
        ]
        head = [html.unit_of_cells("Scenario", metric), *(html.controller_name(name) for name in controllers)]
        parts.append(html.metric_part("scenarios", metric, index == 0, html.table(head, rows, "heatmap")))
    note = (
        "Means over seeds. The best controller of a row, the oracle apart, is bold. "
        "A scenario's name leads to its time series."
    )
    return html.section("scenarios", "Scenarios", note, html.selector("scenarios", "Measure", metrics) + "".join(parts))


def worst_runs(records: Records) -> str:
    """The runs of the reference (else of the first controller) with the lowest utility, one per scenario."""
    names = [record["controller"] for record in records]
    of = REFERENCE if REFERENCE in names else (names[0] if names else "")
    scored = [r for r in records if r["metrics"]["run"].get("utility") is not None]
    if not scored:
        return ""
    lowest: dict[str, Mapping[str, Any]] = {}
    for record in sorted((r for r in scored if r["controller"] == of), key=lambda r: r["metrics"]["run"]["utility"]):
        lowest.setdefault(record["scenario"], record)
    rows = [_worst_row(record, scored) for record in list(lowest.values())[:WORST_ROWS]]
    head = ["Scenario", "Seed", *(html.heading(METRICS[name]) for name in WORST), "Best other", "Against it"]
    note = (
        f"The scenarios on which {escape(of)} has the least utility, each with its worst seed; “best other” by "
        "utility on the same scenario and seed, the oracle left out."
    )
    return html.section("worst", f"Worst scenarios of {of}", note, html.table(head, rows))


def guard(records: Records) -> str:
    """How often each guard rule overruled its controller, and how often the fallback decided."""
    rows = []
    for name in dict.fromkeys(record["controller"] for record in records):
        counts: dict[str, int] = {}
        decisions = fallback = faults = 0
        for flow in (
            f
            for r in records
            if r["controller"] == name
            for f in r["flows"]
            if f.get("estimator") and f["controller"] == name
        ):
            decisions += flow["estimator"].get("decisions", 0)
            fallback += flow["estimator"].get("fallback_decisions", 0)
            faults += flow["estimator"].get("policy_faults", 0)
            for rule, count in (flow.get("guard") or {}).items():
                counts[rule] = counts.get(rule, 0) + count
        if decisions:
            by_rule = [f"{100 * counts.get(rule, 0) / decisions:.2f}" for rule in ("finite", "bounds", "slew", "stale")]
            total = f"<b>{100 * sum(counts.values()) / decisions:.2f}</b>"
            cells = [html.controller_name(name), f"{decisions:,}", *by_rule, total, f"{faults:,}", f"{fallback:,}"]
            rows.append(html.row(cells, name == REFERENCE))
    if not rows:
        return ""
    head = [
        "Controller",
        "Decisions",
        "finite",
        "bounds",
        "slew",
        "stale",
        "All rules",
        "Policy faults",
        "Decided by the fallback",
    ]
    note = "Interventions per 100 decisions, by rule. Controllers that decide at the sender have no guard."
    return html.section("guard", "Guard interventions", note, html.table(head, rows))


def _sample(summary: Summary) -> str:
    """Of how many independent scenarios the means are, of the controller that has most."""
    scores = [values["challenge"] for values in summary["controllers"].values() if "challenge" in values]
    most = max(scores, key=lambda score: score["n"], default={"independent": 0, "n": 0})
    return sample_text(most["independent"], most["n"])


def means(values: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Cells with the means of some measures of a controller, from a summary."""
    return [METRICS[name].display(values[name]["mean"]) if name in values else "–" for name in names]


def _all_measures(summary: Summary) -> str:
    controllers = summary["controllers"]
    rows = []
    for metric in METRICS.values():
        if not any(metric.name in values for values in controllers.values()):
            continue
        cells = [html.heading(metric)]
        for values in controllers.values():
            found = values.get(metric.name)
            tails = (
                f"<br><small>{metric.display(found['p5'])} … {metric.display(found['p95'])}</small>" if found else ""
            )
            cells.append(f"{metric.display(found['mean'])}{tails}" if found else "–")
        rows.append(html.row(cells))
    head = ["Measure", *(html.controller_name(name) for name in controllers)]
    meanings = "".join(f"<dt>{escape(m.label)}</dt><dd>{escape(m.meaning)}</dd>" for m in METRICS.values())
    return (
        "<details><summary>All measures: mean, and 5th to 95th percentile of runs</summary>"
        f"{html.table(head, rows)}</details>"
        f"<details><summary>What the measures mean</summary><dl>{meanings}</dl></details>"
    )


def _paired_row(metric: Metric, row: Mapping[str, Any], reach: float) -> str:
    low, high = row["ci95"]
    verdict, colour = "not told apart", "var(--zero)"
    if low is None:
        verdict = too_few_text(row["independent"]).replace(" for ", "<br>for ")
    elif low > 0 or high < 0:
        better = metric.difference_favours_first(row["mean"])
        verdict, colour = ("better", "var(--good)") if better else ("worse", "var(--bad)")
    css_class = {"better": "good", "worse": "bad"}.get(verdict, "even")
    mark = html.interval_mark(row["mean"], (low, high), (-reach, reach), colour, zero=True)
    return html.row(
        [
            html.controller_name(row["b"]),
            f"<b>{html.signed(metric, row['mean'])}</b>",
            html.interval(metric, row["ci95"], signed_ends=True),
            f"<td>{mark}</td>",
            f'<td class="{css_class}">{verdict}</td>',
            f"{row['wins']}",
            f"{html.count(row['independent'], 'scenario')}<br>"
            f"<small>{seeds_text(row['independent'], row['n'])}</small>",
        ]
    )


def _heat_row(
    metric: Metric, values: Sequence[float | None], controllers: Sequence[str], domain: tuple[float, float]
) -> list[str]:
    rivals = [
        value for value, name in zip(values, controllers, strict=True) if value is not None and not knows_path(name)
    ]
    best = metric.best(rivals) if rivals else None
    return [
        html.heat_cell(metric, value, domain, best is not None and value == best and not knows_path(name))
        for value, name in zip(values, controllers, strict=True)
    ]


def _worst_row(record: Mapping[str, Any], scored: Records) -> str:
    measures = record["metrics"]["run"]
    others = [
        r
        for r in scored
        if r["scenario"] == record["scenario"]
        and r["seed"] == record["seed"]
        and r["controller"] != record["controller"]
        and not knows_path(r["controller"])
    ]
    leading, *others_shown = WORST
    cells = [
        html.scenario_link(record["scenario"]),
        str(record["seed"]),
        f"<b>{METRICS[leading].display(measures[leading])}</b>",
        *(METRICS[name].display(measures.get(name)) for name in others_shown),
    ]
    if not others:
        return html.row([*cells, "–", "–"])
    best = max(others, key=lambda r: r["metrics"]["run"][leading])
    score = best["metrics"]["run"][leading]
    behind = score - measures[leading]
    css_class = "bad" if behind >= 0.05 else "good"
    text = f"behind by {behind:.1f}" if behind >= 0.05 else f"ahead by {max(0.0, -behind):.1f}"
    return html.row(
        [*cells, f"{html.controller_name(best['controller'])} {score:.1f}", f'<td class="{css_class}">{text}</td>']
    )
