"""`weir experiment recoco`: ReCoCo's experiment again, its tables beside the paper's."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from weir.errors import InputError
from weir.files.input import parse_json, read_text
from weir.files.output import make_folder, write_text
from weir.qoe_eval.experiments.recoco.report import RecocoResults, overall_rows, recoco_document, recoco_markdown
from weir.qoe_eval.experiments.recoco.results import ModelTask, TraceResult, complete_model, gcc_results, read_result
from weir.qoe_eval.runs.options import given_command
from weir.qoe_eval.runs.progress import end_with_failures, error_console
from weir.qoe_eval.runs.simulator import SimulatorFailed, simulator_versions
from weir.qoe_eval.runs.task_processes import run_tasks
from weir.traces.formats.convert import to_scenario
from weir.traces.formats.importers import read_trace
from weir.traces.formats.plain_trace import DEFAULT_ONE_WAY_DELAY_MS, DEFAULT_QUEUE
from weir.traces.schema.scenario import Scenario
from weir.trainer.curriculum.settings import TraceValues
from weir.trainer.gym.process import find_simulator
from weir.trainer.learning.missing import require_training
from weir.trainer.recoco.experiment import (
    RecocoModel,
    models_of_all_traces,
    models_of_traces,
    order_of_model,
)
from weir.trainer.recoco.tables import ORDERS, PAPER_TRACES, Order

RECOCO_JSON = "recoco.json"
RECOCO_MARKDOWN = "recoco.md"
EXPERIMENT = "experiment.json"
MODELS = "models"
SCENARIOS = "scenarios"
LOCK = "lock"
DEFAULT_STEPS = 40_000
_INTERVAL_S = 1.0


def recoco(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where recoco.json, recoco.md and the models go.")],
    traces: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder with the nine OpenNetLab traces. Default: traces/opennetlab in the folder that WEIR_SHARED "
            "names.",
        ),
    ] = None,
    steps: Annotated[
        int, typer.Option(min=1, metavar="N", help="Training steps on each trace; a model for all gets nine times N.")
    ] = DEFAULT_STEPS,
    seeds: Annotated[int, typer.Option(min=1, max=100, metavar="N", help="Models with the seeds 1 to N.")] = 3,
    jobs: Annotated[
        int | None, typer.Option(min=1, max=1024, metavar="N", help="Models at once. Default: one per core.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print recoco.json, and no progress.")] = False,
) -> None:
    """Repeats ReCoCo's experiment: a model per trace, one model for all traces under each of three orders, and GCC.

    Ctrl-C keeps what is complete and a checkpoint of the rest: the same command goes on.
    """
    started = time.monotonic()
    require_training()
    scenarios = paper_scenarios(traces or _shared_traces())
    simulator = find_simulator()
    all_seeds = range(1, seeds + 1)
    versions = simulator_versions(simulator)
    files = _prepare(out, scenarios, {"steps": steps, "seeds": seeds, "simulator": versions})
    console = error_console()
    processes = jobs or len(os.sched_getaffinity(0))

    def tasks(models: Sequence[RecocoModel], *, on_all: bool) -> list[ModelTask]:
        return [
            ModelTask(model, files, tuple(files) if on_all else model.traces, out / MODELS / model.name, simulator)
            for model in models
        ]

    first = tasks(models_of_all_traces("random", steps, all_seeds), on_all=True)
    own = tasks(models_of_traces(steps, all_seeds), on_all=False)
    total = steps * len(files) * seeds * (1 + len(ORDERS))
    try:
        gcc = gcc_results(scenarios, simulator, processes)
        with _alone_in(out), _TaskProgress(console, total, quiet=as_json) as progress:
            # The long ones first: no core waits at the end for a long one that began last.
            progress.complete([*first, *own], processes)
            results = {task.name: read_result(task) or {} for task in [*first, *own]}
            by_trace = _by_trace(own, results)
            values = [
                TraceValues(
                    reward=_mean([run.mean_reward or 0.0 for run in by_trace[name]]),
                    score=_mean_score(by_trace[name]),
                    baseline=_mean_score(gcc[name]),
                )
                for name in files
            ]
            later: dict[Order, list[ModelTask]] = {
                order: tasks(models_of_all_traces(order, steps, all_seeds, values), on_all=True)
                for order in ORDERS
                if order != "random"
            }
            progress.complete([task for group in later.values() for task in group], processes)
    except SimulatorFailed as error:
        console.print(f"weir: {error}")
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        console.print(f"weir: interrupted; what is trained is kept in {out}: the same command goes on")
        raise typer.Exit(1) from None
    groups: dict[Order, list[ModelTask]] = {"random": first, **later}
    results |= {task.name: read_result(task) or {} for group in later.values() for task in group}
    measured = RecocoResults(
        own=by_trace,
        gcc=gcc,
        single={order: _by_trace(groups[order], results) for order in ORDERS},
        orders={order: order_of_model(group[0].model, files) for order, group in later.items()},
        configurations={task.model.traces[0]: task.model.configuration_words for task in own},
    )
    run: dict[str, Any] = {
        "command": given_command(),
        "finished": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "wall_s": round(time.monotonic() - started, 1),
        "steps": steps,
        "steps_all": steps * len(files),
        "seeds": list(all_seeds),
        "processes": processes,
        "versions": versions,
    }
    document = recoco_document(measured, run)
    text = json.dumps(document, indent=1, allow_nan=False)
    write_text(out / RECOCO_JSON, text + "\n")
    write_text(out / RECOCO_MARKDOWN, recoco_markdown(document))
    if as_json:
        typer.echo(text)
        return
    _print_table(document)
    typer.echo(f"\n{total:,} steps; this command took {run['wall_s']:.0f} s. Details: {out / RECOCO_MARKDOWN}")


def paper_scenarios(folder: Path) -> dict[str, Scenario]:
    """The nine traces by name, whole: 25 ms one way, a queue of 300 ms of the mean capacity, faults repaired.

    Raises:
        InputError: one is missing or cannot be used.
    """
    paths = {trace.name: folder / f"{trace.name}.json" for trace in PAPER_TRACES}
    missing = [path.name for path in paths.values() if not path.is_file()]
    if missing:
        raise InputError(f"--traces {folder}: has no {', '.join(missing)}; the experiment needs OpenNetLab's nine")
    return {
        name: to_scenario(
            read_trace(path, repair=True),
            name=name,
            one_way_delay_ms=DEFAULT_ONE_WAY_DELAY_MS,
            queue=DEFAULT_QUEUE,
        )
        for name, path in paths.items()
    }


class _TaskProgress:
    """A progress bar over the steps of all models, with rate and time left; on what is no terminal, a line a model."""

    def __init__(self, console: Console, total: int, *, quiet: bool) -> None:
        self._console = console
        self._total = total
        self._plain = not quiet and not console.is_terminal
        self._done: dict[str, int] = {}
        self._kept: dict[str, int] = {}
        self._started = time.monotonic()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:.1f} %"),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=quiet or self._plain,
            transient=True,
            speed_estimate_period=300.0,
        )
        self._task = self._bar.add_task("starting", total=total, rate="")

    def __enter__(self) -> _TaskProgress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def complete(self, tasks: Sequence[ModelTask], processes: int) -> None:
        """Completes those that are not complete yet.

        Raises:
            typer.Exit: status 1, after a message: a model failed; the others are complete.
        """
        missing = []
        for task in tasks:
            if read_result(task) is None:
                missing.append(task)
            else:
                self._done[task.name] = self._kept[task.name] = task.model.steps
        failures = run_tasks(missing, complete_model, processes, self._show, self._finish)
        end_with_failures([failure.describe() for failure in failures], self._console)

    def _show(self, task: ModelTask, steps: int) -> None:
        # What an earlier command has trained tells nothing about the rate of this one.
        self._kept.setdefault(task.name, max(0, steps - 1000))
        self._done[task.name] = min(steps, task.model.steps)
        self._bar.update(
            self._task, completed=sum(self._done.values()), description=task.name, rate=f"{self._rate():,.0f} steps/s"
        )

    def _finish(self, task: ModelTask) -> None:
        self._show(task, task.model.steps)
        if self._plain:
            done, rate = sum(self._done.values()), self._rate()
            left_min = (self._total - done) / rate / 60 if rate > 0 else float("nan")
            self._console.print(
                f"{task.name}: complete; {100 * done / self._total:.0f} % of all steps, {rate:,.0f} steps/s, "
                f"{left_min:.0f} min left"
            )

    def _rate(self) -> float:
        own = sum(self._done.values()) - sum(self._kept.values())
        return own / max(_INTERVAL_S, time.monotonic() - self._started)


def _prepare(out: Path, scenarios: Mapping[str, Scenario], settings: Mapping[str, Any]) -> dict[str, Path]:
    """Writes the scenarios and the settings into the folder; refuses a folder with an experiment of other settings."""
    documents = {name: scenario.to_dict() for name, scenario in scenarios.items()}
    digest = hashlib.sha256(json.dumps(documents, sort_keys=True).encode()).hexdigest()[:16]
    wanted = {**settings, "traces": digest}
    path = out / EXPERIMENT
    make_folder(out / SCENARIOS)
    found = parse_json(read_text(path), str(path)) if path.exists() else wanted
    other = [key for key in wanted if not isinstance(found, dict) or found.get(key) != wanted[key]]
    if other:
        raise InputError(
            f"--out {out}: holds an experiment with other {', '.join(other)}; give the same, or another folder"
        )
    files = {name: out / SCENARIOS / f"{name}.json" for name in scenarios}
    for name, scenario in scenarios.items():
        scenario.save(files[name])
    write_text(path, json.dumps(wanted, indent=1) + "\n")
    return {name: file.absolute() for name, file in files.items()}


@contextmanager
def _alone_in(out: Path) -> Iterator[None]:
    with (out / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"--out {out}: another command is at work there; wait for it or stop it") from None
        yield


def _shared_traces() -> Path:
    shared = os.environ.get("WEIR_SHARED")
    if not shared:
        raise InputError("--traces: name the folder with OpenNetLab's nine traces (WEIR_SHARED is not set)")
    return Path(shared) / "traces" / "opennetlab"


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
    head, rows = overall_rows(document)
    table = Table(box=None, header_style="dim", pad_edge=False)
    for index, name in enumerate(head):
        table.add_column(name, justify="right" if index else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console = Console(markup=False, highlight=False)
    # Into a file or a pipe no line is broken.
    console.width = console.width if console.is_terminal else 250
    console.print(table)
