"""The report of calls: `summary.json` and one HTML file that opens without a network, beside the calls' folders."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weir.files.output import write_text
from weir.qoe_eval.call.measures.metric_table import CALL_METRICS
from weir.qoe_eval.call.report import means
from weir.qoe_eval.call.report.calls_table import calls_table
from weir.qoe_eval.call.report.record import read_record
from weir.qoe_eval.call.report.series import call_charts, folder_of
from weir.qoe_eval.call.report.summary import Call, read_calls, summarise_calls
from weir.qoe_eval.call.report.what_was_run import what_was_run
from weir.qoe_eval.call.settings import CallResult
from weir.qoe_eval.measures.summary import REFERENCE, run_values
from weir.qoe_eval.report.page_template import Section, render_page
from weir.qoe_eval.report.sections.failures import failures
from weir.qoe_eval.report.sections.paired import paired
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
        means.headline(summary),
        paired(summary, CALL_METRICS, means.COMPARED),
        means.per_scenario(summary),
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
