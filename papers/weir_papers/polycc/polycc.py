"""The command `weir paper polycc`."""

from __future__ import annotations

import os
import time
from dataclasses import asdict

import typer
from rich.progress import track

from weir_cli.console import error_console
from weir_cli.files.output import make_folder
from weir_eval.options.shared import JobsOption
from weir_eval.records.command_record import command_record
from weir_eval.runs.simulator import run_jobs
from weir_eval.runs.simulator_worker import SimulatorJob
from weir_papers.common import JsonOption, OutOption, SeedsOption, end_paper
from weir_papers.polycc.demonstrations import demonstrations
from weir_papers.polycc.polycc_report import polycc_markdown
from weir_papers.polycc.rows import polycc_results, polycc_rows
from weir_sim.executables import find_simulator

# Hundreds of times the duration of a run.
_TIME_LIMIT_S = 300.0


def polycc(out: OutOption, seeds: SeedsOption = 20, jobs: JobsOption = None, as_json: JsonOption = False) -> None:
    """PolyCC: BBR and CUBIC on one connection under jitter, BBR and Copa on a link that is halved, with ns-3's TCP."""
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
    except KeyboardInterrupt:
        console.print("weir: interrupted; nothing is written")
        raise typer.Exit(1) from None
    finally:
        runs.close()
    outcomes.sort(key=lambda outcome: lines.index(outcome.job))
    records = [outcome.record for outcome in outcomes if outcome.record is not None]
    results = polycc_results(records)
    rows = polycc_rows(results)
    run = command_record(started) | {
        "runs": len(records),
        "seeds": list(range(1, seeds + 1)),
        "versions": records[0].versions if records else {},
        "failures": [outcome.describe() for outcome in outcomes if outcome.record is None],
    }
    pages = {out / "polycc.md": polycc_markdown(rows, results, run)}
    end_paper("polycc", rows, run, {"results": asdict(results)}, pages, out, console, as_json=as_json)
