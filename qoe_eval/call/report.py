"""The report of calls: `summary.json` and one HTML file that opens without a network."""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from weir.files.output import write_text
from weir.qoe_eval.call import logs as call_logs
from weir.qoe_eval.call.charts import call_charts, folder_of
from weir.qoe_eval.call.metric_table import CALL_METRICS
from weir.qoe_eval.call.plan import CallResult
from weir.qoe_eval.call.record import read_record
from weir.qoe_eval.call.summary import Call, read_calls, summarise_calls
from weir.qoe_eval.measures.metric_table import Metric
from weir.qoe_eval.measures.summary import REFERENCE, ordered_controllers, run_values
from weir.qoe_eval.report.page_template import Section, render_page
from weir.qoe_eval.report.sections.failures import failures
from weir.qoe_eval.report.sections.headline import all_measures
from weir.qoe_eval.report.sections.paired import paired
from weir.qoe_eval.report.sections.what_was_run import objectives_of, versions_of
from weir.qoe_eval.runs.command_record import read_run
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
    sections = [
        failures([str(text)[:500] for text in summary["run"].get("failures") or []], "call"),
        headline(summary),
        paired(summary, CALL_METRICS, COMPARED),
        per_scenario(summary),
        _time_series(charts),
        calls_table(calls, out),
        what_was_run(calls, summary),
    ]
    lead = _lead(calls, summary)
    return render_page(
        "call/page.html", "Weir: calls", lead, sections, {"charts": charts}, "rows.js", list(summary["controllers"])
    )


def _lead(calls: Sequence[tuple[Call, Path]], summary: Mapping[str, Any]) -> dict[str, Any]:
    comparisons = (_against(calls, other) for other in summary["controllers"] if other != REFERENCE)
    return {
        "calls": len(calls),
        "left_out": len(summary["left_out"]),
        "scenarios": len({call.case for call, _ in calls}),
        "comparisons": [one for one in comparisons if one is not None],
    }


def _against(calls: Sequence[tuple[Call, Path]], other: str) -> dict[str, Any] | None:
    """The main measures of the reference and another controller over the pairs of calls that both have."""
    compared = [
        {"scenario": c.case, "controller": c.controller, "seed": c.record["seed"], "metrics": c.record["metrics"]}
        for c, _ in calls
        if not c.why_left_out
    ]

    def means_of_pairs(name: str) -> tuple[float, float] | None:
        a, b = (run_values(compared, controller, name) for controller in (REFERENCE, other))
        pairs = a.keys() & b.keys()
        return (statistics.fmean(a[p] for p in pairs), statistics.fmean(b[p] for p in pairs)) if pairs else None

    rates = means_of_pairs("received_bitrate_bps")
    if rates is None or rates[1] <= 0:
        return None
    others = []
    for name, label in (("end_to_end_delay_ms_p95", "end-to-end delay (p95)"), ("frozen_share", "frozen")):
        both = means_of_pairs(name)
        if both:
            metric = CALL_METRICS[name]
            others.append(f"{label} {metric.display(both[0])} against {metric.display(both[1])} {metric.unit}")
    return {"reference": REFERENCE, "other": other, "rate_ratio": f"{rates[0] / rates[1]:.2f}", "others": others}


def _time_series(charts: Sequence[Mapping[str, Any]]) -> Section | None:
    if not charts:
        return None
    names = [chart["name"] for chart in charts]
    return Section("time-series", "Time series", "call/time_series.html", {"names": names})


Summary = Mapping[str, Any]

HEADLINE = (
    "received_bitrate_bps", "utilisation", "frames_per_second", "frozen_share", "end_to_end_delay_ms_p50",
    "end_to_end_delay_ms_p95", "network_delay_ms_p95", "loss_ratio", "vmaf_mean", "vmaf_p5",
)  # fmt: skip
COMPARED = (
    "received_bitrate_bps", "frames_per_second", "frozen_share", "end_to_end_delay_ms_p95", "network_delay_ms_p95",
    "vmaf_mean", "vmaf_p5", "loss_ratio", "utilisation",
)  # fmt: skip


def headline(summary: Summary) -> Section | None:
    """Every controller with the means of the main measures; nothing where no call counts."""
    controllers = summary["controllers"]
    if not any(controllers.values()):
        return None
    metrics = [CALL_METRICS[name] for name in HEADLINE]
    rows = [
        {
            "controller": name,
            "is_reference": name == REFERENCE,
            "calls": max((found["n"] for found in values.values()), default=0),
            "means": [m.display(values[m.name]["mean"]) if m.name in values else "–" for m in metrics],
        }
        for name, values in controllers.items()
    ]
    view = {"metrics": metrics, "rows": rows, "all_measures": all_measures(controllers, CALL_METRICS)}
    return Section("headline", "Controllers", "call/headline.html", view)


def per_scenario(summary: Summary) -> Section | None:
    """Means over seeds, controllers side by side; nothing where there is nothing to compare."""
    scenarios, controllers = summary["scenarios"], list(summary["controllers"])
    metrics = [
        CALL_METRICS[name]
        for name in COMPARED
        if any(name in values for by_controller in scenarios.values() for values in by_controller.values())
    ]
    if len(controllers) < 2 or len(scenarios) < 2 or not metrics:
        return None
    parts = []
    for metric in metrics:
        rows = [
            (name, _marked(metric, [by_controller.get(one, {}).get(metric.name) for one in controllers]))
            for name, by_controller in scenarios.items()
        ]
        parts.append({"metric": metric, "rows": rows})
    return Section("scenarios", "Scenarios", "call/scenarios.html", {"controllers": controllers, "parts": parts})


def _marked(metric: Metric, values: Sequence[float | None]) -> list[tuple[str, bool]]:
    """The values as texts, and whether each is the best."""
    known = [value for value in values if value is not None]
    best = metric.best(known) if known else None
    return [(metric.display(value), value is not None and value == best) for value in values]


_OF_A_CALL = (
    "received_bitrate_bps", "frames_per_second", "frozen_share", "freeze_count", "end_to_end_delay_ms_p95",
    "network_delay_ms_p95", "loss_ratio", "vmaf_mean", "vmaf_p5",
)  # fmt: skip
_LONGEST_REASON = 300


def calls_table(calls: Sequence[tuple[Call, Path]], out: Path) -> Section:
    """Every call with its folder, in the order of cases, seeds and controllers; links lead from `out`."""
    rows = []
    for call, folder in _in_order(calls):
        measures = call.record["metrics"]["run"]
        rows.append(
            {
                "case": call.case,
                "controller": call.controller,
                "is_reference": call.controller == REFERENCE,
                "seed": call.record["seed"],
                "measures": [CALL_METRICS[name].display(measures.get(name)) for name in _OF_A_CALL],
                "links": _links(folder, out),
                "why_left_out": "; ".join(reason[:_LONGEST_REASON] for reason in call.why_left_out),
            }
        )
    view = {"metrics": [CALL_METRICS[name] for name in _OF_A_CALL], "rows": rows}
    return Section("calls", "Calls", "call/calls.html", view)


def _in_order(calls: Sequence[tuple[Call, Path]]) -> list[tuple[Call, Path]]:
    controllers = ordered_controllers(call.controller for call, _ in calls)
    cases = list(dict.fromkeys(call.case for call, _ in calls))

    def place(one: tuple[Call, Path]) -> tuple[int, int, int]:
        return cases.index(one[0].case), one[0].record["seed"], controllers.index(one[0].controller)

    return sorted(calls, key=place)


def _links(folder: Path, out: Path) -> list[tuple[str, str]]:
    """Where its recording and its record are, and what the links are called."""
    return [
        (quote(Path(os.path.relpath(folder / name, out)).as_posix()), label)
        for name, label in ((call_logs.RECORDING, "recording"), (call_logs.RECORD, "record"))
        if (folder / name).is_file()
    ]


def what_was_run(calls: Sequence[tuple[Call, Path]], summary: Mapping[str, Any]) -> Section:
    """Command, senders, video, versions, and what could not be measured."""
    run, records = summary["run"], [call.record for call, _ in calls]
    about = [record["call"] for record in records]
    objectives = objectives_of(records)
    unread = sum((c.get("measured", {}).get("frames") or {}).get("without_number", 0) for c in about)
    problems = sorted({p for c in about for p in c.get("measured", {}).get("problems") or []})
    entries = [
        ("Finished", run.get("finished", "")),
        ("Senders", ", ".join(sorted({c["sender"] for c in about}))),
        ("Video", "; ".join(sorted({_video(call) for call in about}))),
        ("Duration", f"{statistics.median(r['duration_s'] for r in records):g} s a call"),
        ("Objective", f"{objectives} (throughput, latency, loss)" if objectives else ""),
        ("Seeds", ", ".join(map(str, sorted({r["seed"] for r in records})))),
        ("Versions", versions_of(records)),
        ("Calls", f"{len(calls)} complete of {run.get('planned', len(calls))}"),
        ("Frames without a readable number", f"{unread:,}" if unread else ""),
        ("Not measured", "; ".join(problems)),
    ]
    view = {
        "reference": REFERENCE,
        "command": run.get("command", ""),
        "entries": [(name, text) for name, text in entries if text],
    }
    return Section("run", "What was run", "call/what_was_run.html", view)


def _video(call: Mapping[str, Any]) -> str:
    size = f"{call['width']}x{call['height']} at {call['frames_per_second']:g}/s"
    return f"{size}, {call['codec']}, at most {call['max_bitrate_bps'] / 1e3:,.0f} kbps"
