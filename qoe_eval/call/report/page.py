"""The report of calls: `summary.json` and one HTML file that opens without a network, beside the calls' folders."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from weir.files.output import write_text
from weir.qoe_eval.call.measures.metric_table import CALL_METRICS
from weir.qoe_eval.call.report import tables as call_tables
from weir.qoe_eval.call.report.record import read_record
from weir.qoe_eval.call.report.series import call_charts, folder_of
from weir.qoe_eval.call.report.summary import Call, read_calls, summarise_calls
from weir.qoe_eval.call.settings import CallResult
from weir.qoe_eval.measures.summary import REFERENCE, run_values
from weir.qoe_eval.report import html_parts as html
from weir.qoe_eval.report import tables as report_tables
from weir.qoe_eval.report.page_template import render_page
from weir.qoe_eval.runs.command_record import read_run
from weir.qoe_eval.runs.options import own_names
from weir.qoe_eval.runs.store import RunStore

SUMMARY = "summary.json"
REPORT = "report.html"
Record = Mapping[str, Any]


def write(
    results: Sequence[Record | CallResult], out: Path, run: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], Path]:
    """Writes `summary.json` and `report.html` into `out`.

    Args:
        results: records of calls, or their results; at least one.
        out: the folder that holds the calls' folders, itself or in `calls`; or that of the only call.
        run: what was run: `command`, `finished`, `wall_s`, `planned`, `failures` (a list of texts); none is needed.

    Returns:
        The summary, and the page's path.

    Raises:
        InputError: a log of a call cannot be read, or a file not be written.
    """
    records = [result.record if isinstance(result, CallResult) else result for result in results]
    calls = [(call, folder_of(call.record, out)) for call in read_calls(records)]
    about = {"planned": len(calls), "failures": []} | dict(run or {}) | {"runs": len(calls)}
    summary = summarise_calls([call for call, _ in calls], about)
    page = out / REPORT
    write_text(out / SUMMARY, json.dumps(summary, indent=1, allow_nan=False) + "\n")
    write_text(page, render(calls, summary, out))
    return summary, page


def rewrite(out: Path) -> tuple[dict[str, Any], Path] | None:
    """The report again, from `results.jsonl` or the `call.json` of an only call; nothing where there are no calls.

    Raises:
        InputError: a record or log is damaged.
    """
    records = [record for record in RunStore(out).read() if isinstance(record.get("call"), dict)]
    if not records:
        only = read_record(out)
        records = [only] if only is not None else []
    if not records:
        return None
    return write(records, out, read_run(out / SUMMARY))


def render(calls: Sequence[tuple[Call, Path]], summary: Mapping[str, Any], out: Path) -> str:
    """The page as text; links lead from `out` to the calls' folders.

    Raises:
        InputError: a log of a call cannot be read.
    """
    charts = call_charts(calls)
    parts = [
        html.own_colours(own_names(summary["controllers"])),
        html.incomplete([str(text)[:500] for text in summary["run"].get("failures") or []], "call"),
        call_tables.headline(summary),
        report_tables.paired(summary, CALL_METRICS, call_tables.COMPARED),
        call_tables.per_scenario(summary),
        _series_section(charts),
        call_tables.calls_table(calls, out),
        _what_was_run(calls, summary),
    ]
    links = [("headline", "Controllers"), ("paired", "Paired comparison"), ("scenarios", "Scenarios")]
    links += [("time-series", "Time series"), ("calls", "Calls"), ("run", "What was run")]
    return render_page("Weir: calls", _lead(calls, summary), parts, links, {"charts": charts}, "rows.js")


def _lead(calls: Sequence[tuple[Call, Path]], summary: Mapping[str, Any]) -> str:
    count, left_out = len(calls), len(summary["left_out"])
    scenarios = len({call.case for call, _ in calls})
    text = f"{html.count(count, 'real call')} through a link that replays {html.count(scenarios, 'scenario')}."
    if left_out:
        text += f" {html.count(left_out, 'call')} left out of every mean: disturbed, or too short."
    for other in summary["controllers"]:
        if other != REFERENCE:
            text += _against(calls, other)
    return text


def _against(calls: Sequence[tuple[Call, Path]], other: str) -> str:
    """The main measures of the reference and another controller over the pairs of calls that both have."""
    compared = [
        {"scenario": c.case, "controller": c.controller, "seed": c.record["seed"], "metrics": c.record["metrics"]}
        for c, _ in calls
        if not c.why_left_out
    ]

    def means(name: str) -> tuple[float, float] | None:
        a, b = (run_values(compared, controller, name) for controller in (REFERENCE, other))
        pairs = a.keys() & b.keys()
        return (statistics.fmean(a[p] for p in pairs), statistics.fmean(b[p] for p in pairs)) if pairs else None

    rates = means("received_bitrate_bps")
    if rates is None or rates[1] <= 0:
        return ""
    parts = [f" {REFERENCE} receives <b>{rates[0] / rates[1]:.2f} times</b> the bitrate of {escape(other)}"]
    for name, label in (("end_to_end_delay_ms_p95", "end-to-end delay (p95)"), ("frozen_share", "frozen")):
        both = means(name)
        if both:
            metric = CALL_METRICS[name]
            parts.append(f"{label} {metric.display(both[0])} against {metric.display(both[1])} {metric.unit}")
    return "; ".join(parts) + "."


def _series_section(charts: Sequence[Mapping[str, Any]]) -> str:
    if not charts:
        return ""
    options = "".join(f"<option value={index}>{escape(chart['name'])}</option>" for index, chart in enumerate(charts))
    step = '<button class=link data-step-of="call-choice" data-step="{}">{}</button>'
    buttons = step.format(-1, "← previous") + " &nbsp; " + step.format(1, "next →") if len(charts) > 1 else ""
    body = (
        f'<div class=controls><label>Call <select id="call-choice" data-chart-of="series">{options}</select></label>'
        f'<span>{buttons}</span></div><p class=note id="series-note"></p>'
        '<div id="series" class="chart calls" data-chart="0"></div>'
    )
    note = (
        "Grey: what the capacity leaves to the call, its cross traffic taken away. Estimate: of Weir what it told the "
        "sender, of GCC the sender's availableOutgoingBitrate. Delay: from capture to rendering, the largest of half a "
        "second; dotted: the link's queue. A click in the legend hides or shows a controller."
    )
    return html.section("time-series", "Time series", note, body)


def _what_was_run(calls: Sequence[tuple[Call, Path]], summary: Mapping[str, Any]) -> str:
    run, records = summary["run"], [call.record for call, _ in calls]
    about = [record["call"] for record in records]
    versions = sorted({f"{name} {version}" for r in records for name, version in r.get("versions", {}).items()})
    objectives = sorted({", ".join(f"{w:g}" for w in r["objective"]) for r in records if r.get("objective")})
    video = sorted({_video(call) for call in about})
    unread = sum((c.get("measured", {}).get("frames") or {}).get("without_number", 0) for c in about)
    problems = sorted({p for c in about for p in c.get("measured", {}).get("problems") or []})
    entries = [
        ("Command", f"<code>{escape(run.get('command', ''))}</code>"),
        ("Finished", escape(run.get("finished", ""))),
        ("Senders", escape(", ".join(sorted({c["sender"] for c in about})))),
        ("Video", escape("; ".join(video))),
        ("Duration", f"{statistics.median(r['duration_s'] for r in records):g} s a call"),
        ("Objective", escape("; ".join(objectives)) + " (throughput, latency, loss)" if objectives else ""),
        ("Seeds", escape(", ".join(map(str, sorted({r["seed"] for r in records}))))),
        ("Versions", escape(", ".join(versions))),
        ("Calls", f"{len(calls)} complete of {run.get('planned', len(calls))}"),
        ("Frames without a readable number", f"{unread:,}" if unread else ""),
        ("Not measured", escape("; ".join(problems))),
    ]
    body = "<dl>" + "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in entries if value) + "</dl>"
    note = f"Means and differences are over calls that nothing disturbed; {REFERENCE} and gcc saw the same link."
    return html.section("run", "What was run", note, body)


def _video(call: Mapping[str, Any]) -> str:
    size = f"{call['width']}x{call['height']} at {call['frames_per_second']:g}/s"
    return f"{size}, {call['codec']}, at most {call['max_bitrate_bps'] / 1e3:,.0f} kbps"
