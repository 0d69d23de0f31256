"""Shared by the commands of papers: options, one flow alone on a path, rows of goals, and the end of a measurement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from weir_cli.files.output import make_folder
from weir_eval.records.command_record import command_record
from weir_eval.records.run_record import RunRecord
from weir_eval.report.display import dated
from weir_eval.report.goal_table import Bound, GoalRow, print_rows, rows_document
from weir_eval.runs.jobs import ReplayPlan, model_description
from weir_eval.runs.progress import finish
from weir_eval.runs.run_plans import ReplayOutcome
from weir_sim.executables import find_simulator
from weir_sim.versions import simulator_versions
from weir_traces.schema.scenario import Scenario

OutOption = Annotated[Path, typer.Option(metavar="DIR", help="Folder for everything that the command writes.")]
SeedsOption = Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="Run with the seeds 1 to N.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the JSON document, and no progress.")]


@dataclass(frozen=True)
class Case:
    """One flow alone on one network: shares are 0 to 1.

    Unlike the metric of replays, utilisation is of the whole capacity: what TCP queues in an outage counts.
    """

    utilisation: float
    p95_queueing_delay_ms: float
    loss_ratio: float
    mean_queueing_delay_ms: float = 0.0


@dataclass(frozen=True)
class Mean:
    """Mean of `n` runs and half of its 95 % interval by Student's t; no interval of fewer than two."""

    mean: float
    half_interval: float | None
    n: int

    def show(self, decimals: int, scale: float = 1.0) -> str:
        """For tables: 1.82 ± 0.10."""
        text = f"{self.mean * scale:.{decimals}f}"
        return text if self.half_interval is None else f"{text} ± {self.half_interval * scale:.{decimals}f}"


def mean_of(values: Sequence[float]) -> Mean:
    """The mean over seeds; at least one value."""
    # Takes seconds to import.
    from scipy import stats

    n = len(values)
    if n < 2:
        return Mean(float(values[0]), None, n)
    half = stats.t.ppf(0.975, n - 1) * np.std(values, ddof=1) / np.sqrt(n)
    return Mean(float(np.mean(values)), float(half), n)


def save_scenarios(scenarios: Iterable[Scenario], folder: Path) -> list[Path]:
    """Writes scenarios into a folder, which is made, and returns their absolute paths."""
    make_folder(folder)
    files = []
    for scenario in scenarios:
        files.append((folder / f"{scenario.name}.json").absolute())
        scenario.save(files[-1])
    return files


def case_of(record: RunRecord) -> Case | None:
    """The record's only flow; None: nothing arrived."""
    flow = record.flows[0]
    delay_ms, capacity_bps = flow.one_way_delay_ms, record.path.mean_capacity_bps
    if not delay_ms or not capacity_bps:
        return None
    return Case(
        8 * flow.bytes_received / (capacity_bps * record.duration_s),
        max(0.0, delay_ms["p95"] - flow.base_one_way_delay_ms),
        flow.packets_lost / flow.packets_sent,
        max(0.0, delay_ms["mean"] - flow.base_one_way_delay_ms),
    )


def mean_case(cases: Sequence[Case]) -> Case:
    """The mean of at least one."""
    return Case(
        mean(case.utilisation for case in cases),
        mean(case.p95_queueing_delay_ms for case in cases),
        mean(case.loss_ratio for case in cases),
        mean(case.mean_queueing_delay_ms for case in cases),
    )


def with_tcp(scenario: Scenario, control: str) -> Scenario:
    """The same network, each RTP flow replaced by one of TCP at the same times."""
    document = scenario.to_dict()
    flows = [
        {"kind": "tcp", "congestion_control": control, **{key: flow[key] for key in ("id", "start_s", "stop_s")}}
        for flow in document["flows"]
    ]
    return Scenario.from_dict(document | {"name": f"{scenario.name}-{control}", "flows": flows})


def goal_row(
    name: str,
    description: str,
    goal: Bound,
    value: float | None,
    detail: str = "",
    reason: str = "no run completed",
    **figures: Any,
) -> GoalRow:
    """The row of a goal; without a value it is not measured, for the given reason."""
    if value is None:
        return GoalRow(name, description, goal, reason=reason)
    return GoalRow(name, description, goal, value, goal.show(value), goal.met(value), detail=detail, figures=figures)


def replay_record(
    started_s: float, plan: ReplayPlan, outcome: ReplayOutcome, failures: Sequence[str]
) -> dict[str, Any]:
    """A document's `run`: the command (`command_record`), how many runs, their seeds, model and versions, and failures.
    `plan` is any of the command's with its seeds and its model; `outcome` is of all plans.
    """
    model = model_description(plan)
    return {
        **command_record(started_s),
        "runs": len(outcome.records),
        "seeds": list(plan.seeds),
        "model": model.model_dump() if model else {},
        "versions": outcome.records[0].versions if outcome.records else {},
        "failures": list(failures),
    }


def end_paper(
    name: str,
    rows: Sequence[GoalRow],
    run: Mapping[str, Any],
    figures: Mapping[str, Any],
    pages: Mapping[Path, str],
    out: Path,
    console: Console,
    *,
    as_json: bool,
) -> None:
    """Writes `NAME.json` and the pages, prints the rows, and ends with status 1 when runs did not complete. `figures`
    are further entries of the document. Names of libwebrtc's controllers have its date where it is an old one.
    """
    libwebrtc = simulator_versions(find_simulator()).get("libwebrtc", "")
    rows = [replace(row, what=dated(row.what, libwebrtc), detail=dated(row.detail, libwebrtc)) for row in rows]
    pages = {path: dated(text, libwebrtc) for path, text in pages.items()}
    document = {**rows_document(f"weir.{name}/1", rows, run), **figures}
    finish(document, out / f"{name}.json", pages, lambda: print_rows(rows), console, as_json=as_json)
