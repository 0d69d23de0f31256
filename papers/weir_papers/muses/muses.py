"""The command `weir paper muses`: extracts trees from a teacher, and measures what the paper measured."""

from __future__ import annotations

import shlex
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from weir_cli.console import error_console
from weir_cli.errors import InputError
from weir_cli.files.output import make_folder
from weir_cli.installation import require
from weir_eval.model_file import ModelFile, read_model
from weir_eval.options.shared import JobsOption, check_model, model_to_run, shared_traces
from weir_eval.runs.progress import run_with_progress
from weir_papers.common import JsonOption, OutOption, SeedsOption, end_paper, replay_record
from weir_papers.muses.flow_rows import flow_rows
from weir_papers.muses.muses_runs import (
    FOLDERS,
    GLOBAL_TREE,
    MUSES,
    TEACHER,
    muses_plans,
    muses_results,
    plans_beside,
)
from weir_papers.muses.nearest_kind import nearest_row, nearest_share
from weir_papers.muses.network_rows import network_rows
from weir_papers.muses.page import muses_markdown, networks_document
from weir_papers.muses.sets import LTE_TRACES, muses_sets
from weir_sim.executables import find_simulator
from weir_train.gym.specification import ActionSpecification, EnvironmentSpecification
from weir_train.learning.progress_bar import progress_bar

AUTO: Final = "auto"
MOST_KINDS: Final = 100
# With 14 kinds and the tree of all, 500 leaves each are 60 kB.
MOST_AUTO_KINDS: Final = 14


def muses(
    out: OutOption,
    teachers: Annotated[
        list[Path] | None,
        typer.Argument(metavar="TEACHER", help="Extract trees from this model file; from the mean of several."),
    ] = None,
    flows: Annotated[int, typer.Option(min=2, help="Flows under the teacher, each of --duration.")] = 5000,
    duration: Annotated[float, typer.Option(min=1.0, max=600.0, metavar="S", help="Duration of a flow.")] = 40.0,
    kinds: Annotated[
        str, typer.Option(metavar="K|auto", help=f"Kinds of path; auto: the best silhouette of 2 to {MOST_AUTO_KINDS}.")
    ] = AUTO,
    trees: Annotated[int, typer.Option(min=1, max=100, help="Trees of a kind, whose answers are summed.")] = 1,
    leaves: Annotated[int, typer.Option(min=2, max=20_000, help="Leaves of a tree, at most.")] = 500,
    interval: Annotated[float, typer.Option(min=0.2, metavar="S", help="Time between two choices of a kind.")] = 10.0,
    lines: Annotated[int, typer.Option(min=0, max=100, help="Sums of the whole history among the trees' inputs.")] = 24,
    rounds: Annotated[int, typer.Option(min=0, max=20, help="Rounds of dataset aggregation under the trees.")] = 2,
    teach: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="STEPS",
            help="The paper's experiment: a teacher of so many decisions on its Table II, its trees, their tests.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the extraction.")] = 1,
    environments: Annotated[int, typer.Option(min=2, help="Simulator processes of the extraction; even.")] = 256,
    extract_only: Annotated[bool, typer.Option("--extract-only", help="Write the model, and measure nothing.")] = False,
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Measure this model. Default: the trees, or the shipped model.")
    ] = None,
    global_model: Annotated[
        Path | None, typer.Option("--global", metavar="FILE", help="One tree for all kinds of path, to compare with.")
    ] = None,
    traces: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder with mahimahi/. Default: traces/ in the folder WEIR_SHARED names."),
    ] = None,
    networks: Annotated[
        int, typer.Option(min=3, max=10_000, metavar="N", help="Networks of each kind of Table III; the paper: 1000.")
    ] = 100,
    imitated: Annotated[
        int,
        typer.Option(min=1, max=10_000, metavar="N", help="With --teach: flows of each test of Figure 1b."),
    ] = 20,
    seeds: SeedsOption = 5,
    jobs: JobsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Muses: with --teach the paper's own experiment. Without: extract trees from TEACHER into OUT/muses.onnx unless it
    is there, and measure a model of Weir as the paper did.

    An interrupted measurement continues when the same command is given again. Goals whose traces or models are missing
    are "not measured".
    """
    started = time.monotonic()
    teachers = teachers or []
    if teach is not None:
        if teachers or model or global_model or extract_only:
            raise InputError("--teach: omit TEACHER, --model, --global and --extract-only: it makes its own models")
        require("weir-train[learning]")
        from weir_papers.muses.repetition import repeat_paper

        repeat_paper(
            out,
            traces or shared_traces(LTE_TRACES),
            decisions=teach,
            flows=flows,
            rounds=rounds,
            kinds=None if kinds == AUTO else _several(kinds),
            tested=imitated,
            networks=networks,
            seeds=range(1, seeds + 1),
            jobs=jobs,
            as_json=as_json,
        )
        return
    files_by_name = {MUSES: model, GLOBAL_TREE: global_model, TEACHER: teachers[0] if teachers else None}
    for option, file in (("--model", model), ("--global", global_model), *(("TEACHER", file) for file in teachers)):
        check_model(file, option)
        if file:
            read_model(file)  # before anything runs
    make_folder(out)
    if teachers and model is None:
        files_by_name[MUSES] = model = out / "muses.onnx"
        options = {"duration_s": duration, "interval_s": interval, "trees": trees, "leaves": leaves}
        options |= {"flows": flows, "lines": lines, "rounds": rounds, "seed": seed, "environments": environments}
        if not model.exists():
            _extract(teachers, model, kinds, options)
    if extract_only:
        return
    chosen, simulator = model_to_run(model), find_simulator()
    sets = muses_sets(traces or shared_traces(LTE_TRACES), networks)
    plans = muses_plans(sets, range(1, seeds + 1), chosen, simulator)
    console = error_console()
    outcome = run_with_progress(list(plans.values()), out, jobs, console, quiet=as_json)
    failures = [failure.describe() for failure in outcome.failures]
    other_models = []
    for controller, folder in FOLDERS.items():
        if other := files_by_name[controller]:
            replaced = plans_beside(sets, controller, other, simulator)
            other_outcome = run_with_progress(list(replaced.values()), out / folder, jobs, console, quiet=as_json)
            failures += [failure.describe() for failure in other_outcome.failures]
            other_models.append((replaced, other_outcome))
    results = muses_results(sets, plans, outcome, out, other_models)
    files = {controller: file for controller, file in files_by_name.items() if file}
    rows = [*network_rows(results), *flow_rows(results), nearest_row(nearest_share(chosen))]
    run = replay_record(started, next(iter(plans.values())), outcome, failures) | {
        "seeds": list(range(1, seeds + 1)),
        "networks": networks,
        "files": {controller: file.name for controller, file in files.items()},
    }
    pages = {out / "muses.md": muses_markdown(results, rows, run)}
    figures = {"networks": networks_document(results)}
    end_paper("muses", rows, run, figures, pages, out, console, as_json=as_json)


def _extract(teachers: list[Path], file: Path, kinds: str, options: dict[str, Any]) -> None:
    if options["environments"] % 2:
        raise InputError(f"--environments {options['environments']}: must be even, since flows come in pairs")
    tried = _kinds(kinds)
    described = [read_model(teacher) for teacher in teachers]
    specification = _teachers_specification(described[0])
    require("weir-train[learning]")
    from weir_papers.imitation.teachers import make_teacher
    from weir_papers.muses.extraction import HIGHEST_MEAN_BPS, Plan, describe_kinds, extract
    from weir_papers.muses.onnx_model import export

    plan = Plan(kinds=tried, **options)
    steps = round(plan.duration_s * 1000 / specification.interval_ms)
    try:
        with progress_bar(plan.all_flows * steps) as show:
            found = extract(
                make_teacher(teachers, specification),
                specification,
                plan,
                on_progress=lambda stage, complete: show(stage, complete * steps, ""),
            )
    except KeyboardInterrupt:
        typer.echo("weir: interrupted; nothing is written", err=True)
        raise typer.Exit(1) from None
    words = [
        "weir",
        "paper",
        "muses",
        *map(str, teachers),
        "--extract-only",
        "--out",
        str(file.parent),
        "--kinds",
        kinds,
    ]
    words += [word for name, value in options.items() for word in (f"--{name.removesuffix('_s')}", f"{value:g}")]
    networks = f"random domain (weir_traces.generate), mean capacity at most {HIGHEST_MEAN_BPS / 1e6:g} Mbps"
    silhouettes = {} if found.decomposition is None else found.decomposition.silhouettes
    provenance = {
        "algorithm": f"Muses: students {len(found.mixture.students)}, regression trees of each {plan.trees}, leaves at "
        f"most {plan.leaves}, rounds of dataset aggregation {plan.rounds}",
        "teachers": [
            {"name": teacher.name, "version": teacher.version, "sha256": teacher.sha256} for teacher in described
        ],
        "data": f"{networks}, split train, {plan.flows:,} flows of {plan.duration_s:g} s under the teacher",
        "objectives": "balanced, and random on the same paths",
        "action": asdict(specification.action),
        "muses": {
            "duration_s": plan.duration_s,
            "interval_s": plan.interval_s,
            "silhouettes": _rounded(silhouettes),
            "tree_bytes": 8 * found.mixture.splits,
            "fewest_samples": found.fewest_samples,
            "held_out": _rounded(found.measures),
            "kinds": describe_kinds(found.mixture, found.held_out),
        },
        "command": shlex.join(words),
    }
    export(found.mixture, file, provenance=provenance)
    trees = len(found.mixture.students) * plan.trees
    typer.echo(f"{file}: {trees} trees, {8 * found.mixture.splits:,} bytes of splits", err=True)


def _several(text: str) -> tuple[int, ...]:
    """The kinds of the paper's experiment, which has one tree beside them."""
    found = _kinds(text)
    if found == (1,):
        raise InputError("--kinds 1: with --teach at least 2; one tree for all paths is measured anyway")
    return found


def _kinds(text: str) -> tuple[int, ...]:
    if text == AUTO:
        return tuple(range(2, MOST_AUTO_KINDS + 1))
    if not text.isdecimal() or not 1 <= int(text) <= MOST_KINDS:
        raise InputError(f"--kinds {text}: must be auto, or 1 (one student for all paths) to {MOST_KINDS}")
    return (int(text),)


def _teachers_specification(model: ModelFile) -> EnvironmentSpecification:
    """The environment in which the teacher was trained; the guard is on, as in a call."""
    action = model.provenance.get("action") if isinstance(model.provenance, dict) else None
    if not isinstance(action, dict) or action.get("kind") != "around_rule":
        raise InputError(f"{model.path}: its provenance has no action around the rule; use a model that has one")
    return EnvironmentSpecification(
        model.interval_ms, tuple(model.features), model.history, ActionSpecification(**action), guard=True
    )


def _rounded(values: dict[Any, float]) -> dict[str, float]:
    return {str(key): round(float(value), 4) for key, value in values.items()}
