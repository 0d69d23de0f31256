"""`weir experiment calls`: real calls against the goals set for them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from weir.executables import find_peer, find_simulator
from weir.qoe_eval.call.plan import DEFAULT_MAX_BITRATE_BPS
from weir.qoe_eval.call.run import run_calls
from weir.qoe_eval.experiments.call_plan import call_plan
from weir.qoe_eval.experiments.calls.encoder_lag import median_lag
from weir.qoe_eval.experiments.calls.experiment import call_sets, experiment_calls, experiment_rows
from weir.qoe_eval.experiments.ending import end_experiment
from weir.qoe_eval.experiments.options import (
    CallSeedsOption,
    CallTracesOption,
    ModelOption,
    RepeatDisturbedOption,
    SizeOption,
)
from weir.qoe_eval.measures.table import MEASURES
from weir.qoe_eval.report.goal_table import (
    Row,
    details_markdown,
    print_rows,
    reached_text,
    rows_document,
    rows_markdown,
)
from weir.qoe_eval.report.markdown_table import markdown_table
from weir.qoe_eval.requirements import check_requirements
from weir.qoe_eval.runs.command_record import command_record
from weir.qoe_eval.runs.inputs import shared_traces
from weir.qoe_eval.runs.jobs import ReplayPlan, model_description
from weir.qoe_eval.runs.options import check_model
from weir.qoe_eval.runs.progress import error_console, run_with_progress
from weir.qoe_eval.runs.shipped_model import model_to_run

CALLS_JSON = "calls.json"
CALLS_MARKDOWN = "calls.md"
REPLAY_FOLDER = "replay"
_METHOD = """\
- Chromium, unmodified, sends a video file over weir-sim link to weir-peer. Weir (balanced) steers it by REMB; GCC is
  the browser's own, over transport-cc. Encoder bound, size, codec and source are the same.
- Pairs are of one scenario and seed: the same starting point in the trace, the same small differences of delay. A
  pair counts only when neither call was disturbed: encoder short of CPU, source below 0.9 of its frame rate for a tenth
  of the call, link over 2 ms late (p95), processes over 20 ms late (p99).
- Network delay: 95th percentile of the queue's delay as the link logged it, and the path's own. Freezes are W3C's, of
  rendered frames. VMAF: every rendered frame against the source's frame of the same number.
- Link: bytes carried in intervals whose queue never emptied, over what the scenario's capacity carries in that time.
- Sim-to-real: Weir in the call against Weir in `weir replay` of the same scenario with a simulated encoder of the same
  bound, without audio, that puts out 0.85 to all of its target and follows it slowly; means over seeds.
"""


def calls(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where calls.json, calls.md and results.jsonl go.")],
    model: ModelOption = None,
    traces: CallTracesOption = None,
    seeds: CallSeedsOption = 3,
    size: SizeOption = "1280x720",
    repeat_disturbed: RepeatDisturbedOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print calls.json, and no progress.")] = False,
) -> None:
    """Measures real calls with Weir against Chromium's own GCC, goal by goal; about fifty minutes for three seeds.

    Exit status 0 whether or not the goals are reached. An interrupted run goes on when the same command is given again.
    """
    started = time.monotonic()
    check_model(model)
    chosen = model_to_run(model)
    base = call_plan(size, range(1, seeds + 1), chosen)
    sets = call_sets(traces or shared_traces("mahimahi"), DEFAULT_MAX_BITRATE_BPS)
    check_requirements("chromium")
    console = error_console()
    planned = experiment_calls(base, sets, out, [find_peer(), find_simulator()])
    outcome = run_calls(planned, out, console, quiet=as_json, repeat_disturbed=repeat_disturbed)
    replays = ReplayPlan(sets.replayed, ("weir",), base.objective, base.seeds, chosen, find_simulator(), "measured")
    replayed = run_with_progress([replays], out / REPLAY_FOLDER, None, console, quiet=as_json)
    rows = experiment_rows(sets, outcome.records, replayed.records, planned, chosen)
    run: dict[str, Any] = {
        **command_record(started),
        "calls": len(outcome.records),
        "disturbed": sum(bool(record["call"]["disturbed"]) for record in outcome.records),
        "seeds": list(base.seeds),
        "size": size,
        "model": model.model_dump() if (model := model_description(replays)) else None,
        "versions": outcome.records[0].get("versions", {}) if outcome.records else {},
        "encoder_lag": median_lag(
            [
                call.out
                for call in planned.values()
                if (call.scenario.name, call.controller) == (sets.muses.name, "weir")
            ],
            DEFAULT_MAX_BITRATE_BPS,
        ),
        "failures": outcome.failures + [failure.describe() for failure in replayed.failures],
    }
    end_experiment(
        rows_document("weir.calls/1", rows, run),
        out / CALLS_JSON,
        {out / CALLS_MARKDOWN: calls_markdown(rows, outcome.records, run)},
        lambda: print_rows(rows),
        console,
        as_json=as_json,
    )


def calls_markdown(rows: Sequence[Row], records: Sequence[Mapping[str, Any]], run: Mapping[str, Any]) -> str:
    """`calls.md`."""
    parts = [
        "# Calls against their goals\n",
        f"{run['calls']} calls ({run['disturbed']} of them disturbed), {run['size']}, seeds {run['seeds'][0]} to "
        f"{run['seeds'][-1]}, model {run['model']['name']} (SHA-256 {run['model']['sha256'][:12]}), {run['finished']}. "
        f"{reached_text(rows)}\n",
        rows_markdown(rows),
        details_markdown(rows),
        "## Calls\n\n" + markdown_table(*_calls_table(records)),
    ]
    if run["failures"]:
        parts.append(f"Did not complete: {'; '.join(run['failures'][:5])}\n")
    if lag := run["encoder_lag"]:
        parts.append(
            f"In Muses' scenario Chromium's encoder followed Weir's target with {lag['rise_time_constant_s']:.2f} s "
            f"upwards and {lag['fall_time_constant_s']:.2f} s downwards (time constants, medians of the calls; mean "
            f"error of the logarithm of its rate {lag['error']:.2f}, without a lag {lag['error_without_lag']:.2f}).\n"
        )
    parts.append("## How it is measured\n\n" + _METHOD)
    return "\n".join(parts)


_COLUMNS = (
    "received_bitrate_bps", "frames_per_second", "total_freezes_duration_s", "network_delay_ms_p95",
    "end_to_end_delay_ms_p95", "loss_ratio", "vmaf_mean", "vmaf_p5",
)  # fmt: skip


def _calls_table(records: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    rows = []
    for record in sorted(records, key=lambda one: (one["scenario"], one["seed"], one["controller"])):
        values = record["metrics"]["run"]
        cells = [MEASURES[name].display(values.get(name)) for name in _COLUMNS]
        disturbed = "; ".join(record["call"]["disturbed"])
        rows.append([record["scenario"], record["controller"], str(record["seed"]), *cells, disturbed])
    return ["Scenario", "Controller", "Seed", *(MEASURES[name].title for name in _COLUMNS), "Disturbed"], rows
