"""`weir experiment send-side-calls`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from weir.qoe_eval.call.plan import DEFAULT_MAX_BITRATE_BPS
from weir.qoe_eval.experiments.calls.experiment import call_sets
from weir.qoe_eval.experiments.calls.goals import undisturbed
from weir.qoe_eval.experiments.ending import end_experiment
from weir.qoe_eval.experiments.options import CallSeedsOption, CallTracesOption, ModelOption, RepeatDisturbedOption
from weir.qoe_eval.experiments.send_side.calls import call_rows, make_calls
from weir.qoe_eval.report.goal_table import print_rows, rows_document
from weir.qoe_eval.requirements import check_requirements
from weir.qoe_eval.runs.command_record import command_record
from weir.qoe_eval.runs.inputs import shared_traces
from weir.qoe_eval.runs.options import check_model
from weir.qoe_eval.runs.progress import error_console
from weir.qoe_eval.runs.shipped_model import model_to_run

SEND_SIDE_CALLS_JSON = "send_side_calls.json"


def send_side_calls(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where send_side_calls.json and the calls go.")],
    model: ModelOption = None,
    traces: CallTracesOption = None,
    seeds: CallSeedsOption = 1,
    repeat_disturbed: RepeatDisturbedOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print send_side_calls.json, and no progress.")] = False,
) -> None:
    """Measures calls from weir-peer to Chromium, Weir at the sender against libwebrtc's GCC; half an hour a seed.

    With none, 5 % and 20 % of the feedback lost. Needs root. An interrupted run goes on when the same command is given
    again.
    """
    started = time.monotonic()
    check_model(model)
    sets = call_sets(traces or shared_traces("mahimahi"), DEFAULT_MAX_BITRATE_BPS)
    check_requirements("native", "chromium")
    console = error_console()
    numbers = range(1, seeds + 1)
    outcome = make_calls(
        sets, numbers, model_to_run(model), out, console, quiet=as_json, repeat_disturbed=repeat_disturbed
    )
    rows = call_rows(sets, outcome.records)
    run: dict[str, Any] = {
        **command_record(started),
        "calls": len(outcome.records),
        "disturbed": len(outcome.records) - len(undisturbed(outcome.records)),
        "seeds": list(numbers),
        "failures": outcome.failures,
    }
    end_experiment(
        rows_document("weir.send_side_calls/1", rows, run),
        out / SEND_SIDE_CALLS_JSON,
        {},
        lambda: print_rows(rows, details=True),
        console,
        as_json=as_json,
    )
