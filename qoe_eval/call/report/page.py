"""The report of calls: `summary.json` and one HTML file that opens without a network, beside the calls' folders."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from weir.files.output import write_text
from weir.qoe_eval.call.report import means
from weir.qoe_eval.call.report.calls_table import calls_table
from weir.qoe_eval.call.report.record import read_record
from weir.qoe_eval.call.report.series import call_charts, folder_of
from weir.qoe_eval.call.report.summary import Call, compared_records, read_calls, summarise_calls
from weir.qoe_eval.call.report.what_was_run import what_was_run
from weir.qoe_eval.call.settings import CallResult
from weir.qoe_eval.measures.summary import REFERENCE, run_values
from weir.qoe_eval.measures.table import MEASURES
from weir.qoe_eval.records import CallRecord, RunAbout, Summary, holds_calls, read_run
from weir.qoe_eval.report.page_template import Section, View, render_page
from weir.qoe_eval.report.sections.controllers import paired
from weir.qoe_eval.report.sections.runs import failures
from weir.qoe_eval.runs.store import CallStore

SUMMARY = "summary.json"
REPORT = "report.html"


def write(results: Sequence[CallRecord | CallResult], out: Path, run: RunAbout | None = None) -> tuple[Summary, Path]:
    """Writes `summary.json` and `report.html` into `out`.

    Args:
        results: records of calls, or their results; at least one.
        out: the folder that holds the calls' folders, itself or in `calls`; or that of the only call.
        run: what was run, and what failed.

    Returns:
        The summary, and the page's path.

    Raises:
        InputError: a log of a call cannot be read, or a file not be written.
    """
    records = [result.record if isinstance(result, CallResult) else result for result in results]
    calls = [(call, folder_of(call.record, out)) for call in read_calls(records)]
    about = run or RunAbout(failures=[])
    planned = about.planned if "planned" in about.model_fields_set else len(calls)
    about = about.model_copy(update={"planned": planned, "runs": len(calls)})
    summary = summarise_calls([call for call, _ in calls], about)
    page = out / REPORT
    write_text(out / SUMMARY, summary.text() + "\n")
    write_text(page, render(calls, summary, out))
    return summary, page


def rewrite(out: Path) -> tuple[Summary, Path] | None:
    """The report again, from `results.jsonl` or the `call.json` of an only call; nothing where there are no calls.

    Raises:
        InputError: a record or log is damaged.
    """
    store = CallStore(out)
    records = store.read() if holds_calls(store.results_path) else []
    if not records:
        only = read_record(out)
        records = [only] if only is not None else []
    if not records:
        return None
    return write(records, out, read_run(out / SUMMARY))


def render(calls: Sequence[tuple[Call, Path]], summary: Summary, out: Path) -> str:
    """The page as text; links lead from `out` to the calls' folders.

    Raises:
        InputError: a log of a call cannot be read.
    """
    charts = call_charts(calls)
    sections = [
        failures([str(text)[:500] for text in summary.run.failures], "call"),
        means.headline(summary),
        paired(summary, means.COMPARED),
        means.per_scenario(summary),
        _time_series(charts),
        calls_table(calls, out),
        what_was_run(calls, summary),
    ]
    lead = _lead(calls, summary)
    return render_page("call", "Weir: calls", lead, sections, {"charts": charts}, "rows.js", list(summary.controllers))


def _lead(calls: Sequence[tuple[Call, Path]], summary: Summary) -> View:
    comparisons = (_against(calls, other) for other in summary.controllers if other != REFERENCE)
    return {
        "calls": len(calls),
        "left_out": len(summary.left_out),
        "scenarios": len({call.case for call, _ in calls}),
        "comparisons": [one for one in comparisons if one is not None],
    }


def _against(calls: Sequence[tuple[Call, Path]], other: str) -> View | None:
    """The main measures of the reference and another controller over the pairs of calls that both have."""
    compared = compared_records(call for call, _ in calls)

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
            metric = MEASURES[name]
            others.append(f"{label} {metric.display(both[0])} against {metric.display(both[1])} {metric.unit}")
    return {"reference": REFERENCE, "other": other, "rate_ratio": f"{rates[0] / rates[1]:.2f}", "others": others}


def _time_series(charts: Sequence[View]) -> Section | None:
    if not charts:
        return None
    names = [chart["name"] for chart in charts]
    return Section("time-series", "Time series", "call/time_series", {"names": names})
