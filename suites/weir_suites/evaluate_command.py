"""`weir evaluate`: compares a model with the goals of suites."""

from __future__ import annotations

import hashlib
import os
import shlex
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from weir import Model
from weir_cli.console import error_console
from weir_cli.errors import InputError, unknown
from weir_cli.files.input import LARGEST_MODEL_BYTES, parse_json, printable, read_bytes, read_text
from weir_cli.options import loading
from weir_eval.options.shared import SIZES, JobsOption, Size, check_model, model_to_run, shared_traces
from weir_sim.executables import find_simulator
from weir_traces.bounds import TRACE_SETS

_FAMILIES = ("route", "clock", "loss", "jitter", "tcp", "policer", "slots", "reverse", "start", "mute", "content",
             "screens", "fault", "everything")  # fmt: skip
# The sets by suite, listed here because the suites take a second to load.
SETS = {
    "policy": ("catalogue", "random", *TRACE_SETS[::-1], "steady", "more random", "slow decisions", "start", "halved",
               "rfc8867", "compared", "video", "wide"),
    "opponents": ("bundled", *TRACE_SETS, "random", "impairments"),
    "impairments": (*_FAMILIES, "heavy loss", "queues of one packet", "sharing"),
    "natural": ("mixtures", "jitter alone", "clock alone", "round alone", "screen alone", "interrupted alone"),
    "safety": ("random", *_FAMILIES, *TRACE_SETS),
    "send-side": ("catalogue", "random", *TRACE_SETS, *_FAMILIES, "l4s", "muses calls", "mahimahi calls"),
    "virtual": ("bundled", "cellular", *TRACE_SETS, "mixtures", "impairments", "slow links", "deep queues with TCP",
                "l4s"),
    "repair": ("bundled", "random loss", "mixtures"),
    "calls": ("muses", "cellular", "impaired", "slow decisions"),
    "losses": ("random loss", "bursts", "policer", "short queue", "cellular"),
    "competition": ("gcc", "cubic", "bbr", "equal", "gcc called", "cubic called", "bbr called", "equal called"),
    "shared-queues": ("shared queues",),
    "layers": ("1 camera", "3 cameras", "6 cameras", "screen and 2 cameras"),
    "steering": ("bundled", *TRACE_SETS, "random", "mixtures", "bundled called"),
    "fidelity": ("chromium", "native"),
}  # fmt: skip
DOCUMENT = "evaluation.json"
PAGE = "evaluation.html"
MODELS = "models"


def evaluate(
    model: Annotated[Path | None, typer.Argument(help="ONNX model. Default: the one shipped.")] = None,
    suite: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help=f"{', '.join(SETS)}; repeatable. Default: those with goals that need no calls."
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help=f"Where {PAGE}, {DOCUMENT} and a folder for each suite go.")
    ] = Path("weir-evaluation"),
    traces: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder with opennetlab/ and mahimahi/. Default: traces/ in the folder that WEIR_SHARED names.",
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, max=1000, metavar="N", help="Runs with the seeds 1 to N. Default: the suite's.")
    ] = None,
    scenarios: Annotated[
        int | None, typer.Option(min=1, max=100_000, metavar="N", help="Random scenarios. Default: the suite's.")
    ] = None,
    chosen_sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME", help="Only this set of scenarios, such as a family; repeatable."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Only scenarios with names like this, such as '*-4M-video'; repeatable."),
    ] = None,
    calls: Annotated[
        bool,
        typer.Option(
            "--calls",
            help="Make the suites' real calls, too; implied by suites of calls alone, such as calls. Needs Chromium; "
            "takes hours.",
        ),
    ] = False,
    size: Annotated[
        Size | None, typer.Option(metavar="WxH", help=f"Only calls of this size: {', '.join(SIZES)}.")
    ] = None,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a record of results, which documents cite; of one suite.")
    ] = None,
    jobs: JobsOption = None,
    as_json: Annotated[bool, typer.Option("--json", help=f"Print {DOCUMENT}, and no progress.")] = False,
) -> None:
    """Measure a model against the goals of suites, in replays and real calls.

    Exit status 0 whether or not the goals are reached. The same command resumes an interrupted run.
    """
    started = time.monotonic()
    for name in suite or ():
        if name not in SETS:
            raise InputError(f"--suite '{printable(name)}': not known; {unknown(name, SETS)}")
    known = dict.fromkeys(one for name in suite or SETS for one in SETS[name])
    for name in chosen_sets or ():
        if name not in known:
            where = f"not a set of {' or '.join(suite)}" if suite else "not known"
            raise InputError(f"--set '{printable(name)}': {where}; {unknown(name, known)}")
    if record is not None:
        _check_record(record, suite or (), only or (), chosen_sets or (), scenarios)
    check_model(model, "MODEL")
    if model is not None:
        try:
            Model(model.read_bytes())
        except ValueError as error:
            raise InputError(f"MODEL '{printable(model)}': {error}; give one of 'weir export'") from None
    if traces is not None and not any((traces / name).is_dir() for name in TRACE_SETS):
        raise InputError(f"--traces '{traces}': no folder {' or '.join(f'{name}/' for name in TRACE_SETS)} in it")
    chosen_model = model_to_run(model)
    sha256 = hashlib.sha256(read_bytes(chosen_model, LARGEST_MODEL_BYTES)).hexdigest()
    find_simulator()
    with loading():
        from weir_eval.measurement import write_measurement
        from weir_eval.records.command_record import command_record
        from weir_eval.records.summary import RunAbout
        from weir_eval.runs.progress import finish
        from weir_eval.runs.scenario_sets import Settings
        from weir_suites.documents import evaluation_document, evaluation_measurement
        from weir_suites.evaluation_report import evaluation_page, print_evaluation
        from weir_suites.runner import evaluate_suite, plan_suites
        from weir_suites.suites import SUITES

    suites = [
        one
        for name, one in SUITES.items()
        if name in (suite or ()) or (not suite and one.goals and not one.only_named and (calls or not one.only_calls))
    ]
    traces = traces or shared_traces(*TRACE_SETS)
    calls = calls or (bool(suite) and all(one.only_calls for one in suites))
    models = (out / MODELS).absolute()
    settings = Settings(chosen_model, models, traces, scenarios, seeds, size, chosen_sets or (), only or (), calls)
    planned = plan_suites(suites, settings)
    console = error_console()
    about = RunAbout(**command_record(started))
    try:
        evaluated = [evaluate_suite(one, out / one.suite.name, jobs, console, about, quiet=as_json) for one in planned]
    except (InputError, typer.Exit):
        with suppress(OSError):
            out.rmdir()  # where it is empty
        raise
    run: dict[str, Any] = {
        **command_record(started),
        "runs": sum(len(one.records) for one in evaluated),
        "model": {"name": chosen_model.name, "sha256": sha256},
        "versions": next((record.versions for one in evaluated for record in one.records), {}),
        "failures": [failure for one in evaluated for failure in one.failures],
    }
    if record is not None:
        parts = [*(f"--set {shlex.quote(name)}" for name in chosen_sets or ()), *([f"--size {size}"] if size else [])]
        write_measurement(
            record, evaluation_measurement(evaluated[0], run, seeds or evaluated[0].planned.suite.seeds or 1, parts)
        )
    finish(
        evaluation_document(evaluated, run),
        out / DOCUMENT,
        {out / PAGE: evaluation_page(evaluated, run, out)},
        lambda: print_evaluation(evaluated),
        console,
        as_json=as_json,
    )


def _check_record(
    path: Path, suites: Sequence[str], only: Sequence[str], chosen_sets: Sequence[str], scenarios: int | None
) -> None:
    """Checks, before anything runs, that a record is of one whole suite, or of sets of calls, which take hours, and
    does not replace another kind of file.

    Raises:
        InputError: one of these does not hold.
    """
    shown = printable(path)
    if len(set(suites)) != 1:
        raise InputError(f"--record '{shown}': is of one suite; name it with --suite")
    if only or scenarios is not None or (chosen_sets and "calls" not in suites):
        raise InputError(
            f"--record '{shown}': is of a whole suite, or of sets of calls; omit --only and --scenarios, and --set of "
            "other suites"
        )
    if not path.parent.is_dir():
        raise InputError(f"--record '{shown}': there is no folder '{printable(path.parent)}'; make it first")
    if os.path.lexists(path) and not path.is_file():
        raise InputError(f"--record '{shown}': is no file; name another")
    if path.is_file():
        document = parse_json(read_text(path), f"--record '{shown}'")
        if not isinstance(document, dict) or not str(document.get("schema")).startswith("weir.measurement/"):
            raise InputError(f"--record '{shown}': this file is no record of results; name another")
