"""`weir experiment pool-calls`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from weir.executables import find_peer, find_simulator
from weir.files.output import make_folder, write_bytes
from weir.qoe_eval.call import report as call_report
from weir.qoe_eval.call.plan import DEFAULT_MAX_BITRATE_BPS
from weir.qoe_eval.call.run import run_calls
from weir.qoe_eval.experiments.call_plan import call_plan
from weir.qoe_eval.experiments.calls.experiment import call_sets
from weir.qoe_eval.experiments.ending import end_experiment
from weir.qoe_eval.experiments.options import (
    CallSeedsOption,
    CallTracesOption,
    ModelOption,
    RepeatDisturbedOption,
    SizeOption,
)
from weir.qoe_eval.experiments.pool_calls.broken_pilot import after_break
from weir.qoe_eval.experiments.pool_calls.experiment import BROKEN_AT_S, BY_TRUST, WITH_GCC, pool_calls
from weir.qoe_eval.experiments.pool_calls.rows import pool_call_rows
from weir.qoe_eval.experiments.trust.broken_models import MAX_BPS, constant
from weir.qoe_eval.report.goal_table import (
    Row,
    details_markdown,
    print_rows,
    reached_text,
    rows_document,
    rows_markdown,
)
from weir.qoe_eval.requirements import check_requirements
from weir.qoe_eval.runs.command_record import command_record
from weir.qoe_eval.runs.inputs import shared_traces
from weir.qoe_eval.runs.options import check_model
from weir.qoe_eval.runs.progress import error_console
from weir.qoe_eval.runs.shipped_model import model_to_run

POOL_CALLS_JSON = "pool_calls.json"
POOL_CALLS_MARKDOWN = "pool_calls.md"
BROKEN_MODEL = "maximum.onnx"
_METHOD = f"""\
- Chromium, unmodified, sends; link, encoder and video are those of `weir experiment calls`, on whose scenarios all four
  controllers are called one after the other. A call that the machine disturbed is in no mean, and none without the
  other controllers' calls of its seed. Of several seeds means; of the scenarios the worst decides.
- `{WITH_GCC}`: transport-cc stays in the answer, and the browser takes the smaller of REMB and its own GCC.
- `{BY_TRUST}`: {BROKEN_AT_S:g} s after the beginning the model is replaced by one that always asks for its maximum.
"""


def pool_calls_command(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where pool_calls.md, report.html and results.jsonl go.")],
    model: ModelOption = None,
    traces: CallTracesOption = None,
    seeds: CallSeedsOption = 3,
    size: SizeOption = "640x360",
    repeat_disturbed: RepeatDisturbedOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print pool_calls.json, and no progress.")] = False,
) -> None:
    """Measures pools in real calls against Weir alone and Chromium's own GCC; about 25 minutes a seed. Needs root.

    Exit status 0 whether or not the goals are reached. An interrupted run goes on when the same command is given again.
    """
    started = time.monotonic()
    check_model(model)
    sets = call_sets(traces or shared_traces("mahimahi"), DEFAULT_MAX_BITRATE_BPS)
    base = call_plan(size, (), model_to_run(model), sets.compared)
    check_requirements("chromium")
    make_folder(out)
    broken = (out / BROKEN_MODEL).absolute()
    write_bytes(broken, constant(MAX_BPS).SerializeToString(deterministic=True))
    console = error_console()
    planned = pool_calls(base, range(1, seeds + 1), broken, out, [find_peer(), find_simulator()])
    outcome = run_calls(planned, out, console, quiet=as_json, repeat_disturbed=repeat_disturbed)
    after = {record["key"]: after_break(record, planned[record["key"]].out) for record in outcome.records}
    rows = pool_call_rows([one.name for one in sets.compared], outcome.records, after)
    run: dict[str, Any] = {
        **command_record(started),
        "planned": len(planned),
        "calls": len(outcome.records),
        "disturbed": sum(bool(record["call"]["disturbed"]) for record in outcome.records),
        "seeds": seeds,
        "size": size,
        "no_traces": sets.no_traces,
        "failures": outcome.failures,
    }
    if made := [*outcome.records, *outcome.failed]:
        call_report.write(made, out, run)
    end_experiment(
        rows_document("weir.pool_calls/1", rows, run),
        out / POOL_CALLS_JSON,
        {out / POOL_CALLS_MARKDOWN: _markdown(rows, run)},
        lambda: print_rows(rows),
        console,
        as_json=as_json,
    )


def _markdown(rows: Sequence[Row], run: Mapping[str, Any]) -> str:
    missing = f"Without the Mahimahi traces: {run['no_traces']}.\n" if run["no_traces"] else ""
    return (
        f"# Pools in calls\n\n{run['calls']} of {run['planned']} calls, {run['disturbed']} of them disturbed, "
        f"{run['size']}, seeds 1 to {run['seeds']}, {run['finished']}. {reached_text(rows)}\n{missing}\n"
        f"{rows_markdown(rows)}\n{details_markdown(rows)}\n## How it is measured\n\n`{run['command']}`\n\n{_METHOD}"
    )
