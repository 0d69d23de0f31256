"""The section that tells what calls were made."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from weir.qoe_eval.call.report.summary import Call
from weir.qoe_eval.measures.summary import REFERENCE
from weir.qoe_eval.records import CallDetails, Summary
from weir.qoe_eval.report.page_template import Section
from weir.qoe_eval.report.sections.runs import objectives_of, versions_of


def what_was_run(calls: Sequence[tuple[Call, Path]], summary: Summary) -> Section:
    """Command, senders, video, versions, and what could not be measured."""
    run, records = summary.run, [call.record for call, _ in calls]
    about = [record.call for record in records]
    objectives = objectives_of(records)
    unread = sum((c.measured.frames or {}).get("without_number", 0) for c in about)
    problems = sorted({p for c in about for p in c.measured.problems})
    entries = [
        ("Finished", run.finished),
        ("Senders", ", ".join(sorted({c.sender for c in about}))),
        ("Video", "; ".join(sorted({_video(call) for call in about}))),
        ("Duration", f"{statistics.median(r.duration_s for r in records):g} s a call"),
        ("Objective", f"{objectives} (throughput, latency, loss)" if objectives else ""),
        ("Seeds", ", ".join(map(str, sorted({r.seed for r in records})))),
        ("Versions", versions_of(records)),
        ("Calls", f"{len(calls)} complete of {run.planned}"),
        ("Frames without a readable number", f"{unread:,}" if unread else ""),
        ("Not measured", "; ".join(problems)),
    ]
    view = {
        "reference": REFERENCE,
        "command": run.command,
        "entries": [(name, text) for name, text in entries if text],
    }
    return Section("run", "What was run", "call/what_was_run", view)


def _video(call: CallDetails) -> str:
    size = f"{call.width}x{call.height} at {call.frames_per_second:g}/s"
    return f"{size}, {call.codec}, at most {call.max_bitrate_bps / 1e3:,.0f} kbps"
