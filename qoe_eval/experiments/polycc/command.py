"""`weir experiment polycc`."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import track

from weir.executables import find_simulator
from weir.files.output import make_folder
from weir.qoe_eval.experiments.ending import end_experiment
from weir.qoe_eval.experiments.options import SeedsOption
from weir.qoe_eval.experiments.polycc.demonstrations import demonstrations
from weir.qoe_eval.experiments.polycc.report import polycc_document, polycc_markdown, polycc_page
from weir.qoe_eval.experiments.polycc.rows import polycc_results, polycc_rows
from weir.qoe_eval.report.goal_table import print_rows
from weir.qoe_eval.runs.command_record import command_record
from weir.qoe_eval.runs.options import JobsOption
from weir.qoe_eval.runs.progress import error_console
from weir.qoe_eval.runs.simulator import run_jobs
from weir.qoe_eval.runs.simulator_worker import SimulatorFailed, SimulatorJob

POLYCC_JSON = "polycc.json"
POLYCC_MARKDOWN = "polycc.md"
POLYCC_PAGE = "polycc.html"
# Hundreds of times what a run needs.
_TIME_LIMIT_S = 300.0


def polycc(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where polycc.json, polycc.md and polycc.html go.")],
    seeds: SeedsOption = 5,
    jobs: JobsOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print polycc.json, and no progress.")] = False,
) -> None:
    """Repeats PolyCC's two demonstrations with ns-3's TCP: BBR with CUBIC under jitter, BBR with Copa on a link that is
    halved.
    """
    started = time.monotonic()
    make_folder(out)
    lines = [
        SimulatorJob(
            f"{scenario.name}, seed {seed}",
            # The controller is for RTP flows; there are none.
            {"scenario": scenario.to_dict(), "controller": "rule", "seed": seed, "series": True},
        )
        for seed in range(1, seeds + 1)
        for scenario in demonstrations()
    ]
    console = error_console()
    runs = run_jobs(find_simulator(), lines, jobs or os.cpu_count() or 1, _TIME_LIMIT_S)
    try:
        hidden = as_json or not console.is_terminal
        outcomes = list(track(runs, "running", len(lines), console=console, transient=True, disable=hidden))
    except SimulatorFailed as error:
        console.print(f"weir: {error}")
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        console.print("weir: interrupted; nothing is written")
        raise typer.Exit(1) from None
    finally:
        runs.close()
    outcomes.sort(key=lambda outcome: lines.index(outcome.job))
    records = [outcome.record for outcome in outcomes if outcome.record is not None]
    failures = [outcome.describe() for outcome in outcomes if outcome.record is None]
    results = polycc_results(records)
    rows = polycc_rows(results)
    run: dict[str, Any] = {
        **command_record(started),
        "runs": len(records),
        "seeds": list(range(1, seeds + 1)),
        "versions": records[0].versions if records else {},
        "failures": failures,
    }
    end_experiment(
        polycc_document(rows, results, run),
        out / POLYCC_JSON,
        {
            out / POLYCC_MARKDOWN: polycc_markdown(rows, results, run),
            out / POLYCC_PAGE: polycc_page(results, records),
        },
        lambda: print_rows(rows),
        console,
        as_json=as_json,
    )
