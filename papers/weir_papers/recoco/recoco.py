"""The command `weir paper recoco`: ReCoCo's experiment again, its tables beside the paper's."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from weir_cli.console import error_console, output_console
from weir_cli.files.output import alone_in, write_text
from weir_cli.installation import require
from weir_eval.options.shared import JobsOption
from weir_eval.records.command_record import command_record
from weir_papers.common import JsonOption, OutOption
from weir_papers.recoco.heat_maps import figure_7
from weir_papers.recoco.inputs import paper_scenarios, prepare
from weir_papers.recoco.models import (
    DEFAULT_SEARCH_STEPS,
    DEFAULT_STEPS,
    DEFAULT_STEPS_ALL,
    Configuration,
    RecocoModel,
    TraceValues,
    models_of_all_traces,
    models_of_search,
    models_of_traces,
)
from weir_papers.recoco.recoco_report import RecocoResults, SearchRow, recoco_document, recoco_markdown, score_rows
from weir_papers.recoco.results import ModelTask, TaskProgress, TraceResult, gcc_results
from weir_papers.recoco.tables import ORDERS, PAPER_TRACES, Order
from weir_sim.executables import find_simulator
from weir_sim.versions import simulator_versions

RECOCO_JSON = "recoco.json"
RECOCO_MARKDOWN = "recoco.md"
FIGURE_7 = "figure-7.svg"
MODELS = "models"
# Configurations whose mean reward, in [-1, 1], is within this of the best are compared by QoE, as in section V-D.
SIMILAR_REWARD = 0.02


def recoco(
    out: OutOption,
    traces: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder with the nine OpenNetLab traces. Default: traces/opennetlab in the folder WEIR_SHARED names.",
        ),
    ] = None,
    steps: Annotated[
        int, typer.Option(min=1, metavar="N", help="Training steps of a model of one trace; the paper: 100000.")
    ] = DEFAULT_STEPS,
    steps_all: Annotated[
        int, typer.Option(min=1, metavar="N", help="Steps on each trace of a model of all; the paper: 300000.")
    ] = DEFAULT_STEPS_ALL,
    search_steps: Annotated[
        int, typer.Option(min=1, metavar="N", help="Steps of each model of the search; the paper: 100000.")
    ] = DEFAULT_SEARCH_STEPS,
    search_traces: Annotated[
        int,
        typer.Option(min=0, max=9, metavar="N", help="Search on N traces; others have the paper's configurations."),
    ] = 9,
    seeds: Annotated[int, typer.Option(min=1, max=100, metavar="N", help="Models with the seeds 1 to N.")] = 3,
    jobs: JobsOption = None,
    as_json: JsonOption = False,
) -> None:
    """ReCoCo: a search for the best configuration of each trace, a model per trace, tried on all, one model for all
    traces under each of three orders, and GCC.

    Ctrl-C keeps complete models and checkpoints of the others: the same command continues.
    """
    started = time.monotonic()
    require("weir-train[learning]")
    scenarios = paper_scenarios(traces)
    simulator = find_simulator()
    all_seeds = range(1, seeds + 1)
    versions = simulator_versions(simulator)
    settings: dict[str, Any] = {"steps": steps, "steps_all": steps_all, "search_steps": search_steps, "seeds": seeds}
    settings |= {"simulator": versions}
    files = prepare(out, scenarios, settings)
    console = error_console()
    processes = jobs or len(os.sched_getaffinity(0))

    def tasks(models: Sequence[RecocoModel], *, on_all: bool) -> list[ModelTask]:
        return [
            ModelTask(model, files, tuple(files) if on_all else model.traces, out / MODELS / model.name, simulator)
            for model in models
        ]

    searched = tasks(models_of_search(search_steps, search_traces), on_all=False)
    first = tasks(models_of_all_traces("random", steps_all, all_seeds), on_all=True)
    total = search_steps * len(searched) + (steps + steps_all * len(ORDERS)) * len(files) * seeds
    try:
        gcc, gcc_remb = (gcc_results(name, scenarios, simulator, processes) for name in ("gcc", "gcc-remb"))
        with alone_in(out), TaskProgress(console, total, quiet=as_json) as progress:
            found = progress.complete(searched, processes)
            search = [_search_row(task, found[task.name]) for task in searched]
            own = tasks(models_of_traces(steps, all_seeds, chosen_configurations(search)), on_all=True)
            # The long ones first, so that no core waits at the end for one that began last.
            results = progress.complete([*first, *own], processes)
            by_trace = _on_own(own, results)
            values = {
                name: TraceValues(
                    reward=_mean([run.mean_reward or 0.0 for run in by_trace[name]]),
                    score=_mean_score(by_trace[name]),
                    baseline=_mean_score(gcc[name]),
                )
                for name in files
            }
            later: dict[Order, list[ModelTask]] = {
                order: tasks(models_of_all_traces(order, steps_all, all_seeds, values), on_all=True)
                for order in ORDERS
                if order != "random"
            }
            results |= progress.complete([task for group in later.values() for task in group], processes)
    except KeyboardInterrupt:
        console.print(f"weir: interrupted; what is trained is kept in {out}: the same command continues")
        raise typer.Exit(1) from None
    groups: dict[Order, list[ModelTask]] = {"random": first, **later}
    measured = RecocoResults(
        own=by_trace,
        gcc=gcc,
        gcc_remb=gcc_remb,
        single={order: _by_trace(groups[order], results) for order in ORDERS},
        orders={order: group[0].model.traces for order, group in later.items()},
        configurations={task.model.traces[0]: task.model.configuration.words for task in own},
        search=search,
        cross={trace: _by_trace([task for task in own if task.model.traces == (trace,)], results) for trace in files},
    )
    run: dict[str, Any] = {
        **command_record(started),
        "steps": steps,
        "steps_all": steps_all * len(files),
        "search_steps": search_steps,
        "seeds": list(all_seeds),
        "processes": processes,
        "versions": versions,
    }
    document = recoco_document(measured, run)
    text = json.dumps(document, indent=1, allow_nan=False)
    write_text(out / RECOCO_JSON, text + "\n")
    write_text(out / RECOCO_MARKDOWN, recoco_markdown(document))
    write_text(out / FIGURE_7, figure_7(document))
    if as_json:
        typer.echo(text)
        return
    _print_table(document)
    typer.echo(f"\n{total:,} steps; this command took {run['wall_s']:.0f} s. Details: {out / RECOCO_MARKDOWN}")


def chosen_configurations(search: Sequence[SearchRow]) -> dict[str, Configuration]:
    """The configuration of each trace of a search: of those whose mean reward is about the best, the one with the best
    QoE.
    """
    chosen = {}
    for trace in dict.fromkeys(row.trace for row in search):
        rows = [row for row in search if row.trace == trace]
        best = max(row.mean_reward for row in rows)
        similar = [row for row in rows if row.mean_reward >= best - SIMILAR_REWARD]
        chosen[trace] = max(similar, key=lambda row: row.overall).configuration
    return chosen


def _search_row(task: ModelTask, results: Mapping[str, TraceResult]) -> SearchRow:
    (trace,) = task.model.traces
    reward = results[trace].mean_reward
    return SearchRow(trace, task.model.configuration, -1.0 if reward is None else reward, results[trace].scores.overall)


def _on_own(
    tasks: Sequence[ModelTask], results: Mapping[str, Mapping[str, TraceResult]]
) -> dict[str, list[TraceResult]]:
    """The results of models on the trace that they were trained on."""
    collected: dict[str, list[TraceResult]] = {trace.name: [] for trace in PAPER_TRACES}
    for task in tasks:
        (trace,) = task.model.traces
        collected[trace].append(results[task.name][trace])
    return collected


def _by_trace(
    tasks: Sequence[ModelTask], results: Mapping[str, Mapping[str, TraceResult]]
) -> dict[str, list[TraceResult]]:
    collected: dict[str, list[TraceResult]] = {trace.name: [] for trace in PAPER_TRACES}
    for task in tasks:
        for name, result in results[task.name].items():
            collected[name].append(result)
    return collected


def _mean_score(runs: Sequence[TraceResult]) -> float:
    return _mean([run.scores.overall for run in runs])


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def _print_table(document: Mapping[str, Any]) -> None:
    head, rows = score_rows(document)
    table = Table(box=None, header_style="dim", pad_edge=False)
    for index, name in enumerate(head):
        table.add_column(name, justify="right" if index else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    output_console().print(table)
