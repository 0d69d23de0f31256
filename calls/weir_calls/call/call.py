"""Implements `weir call`: plans, makes and reports calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import typer

from weir_calls.call import call_report
from weir_calls.call.plan import CallPlan, plan_calls
from weir_calls.call.run import CallsOutcome, run_calls
from weir_calls.call_options import CallOptions, is_command
from weir_cli.console import counted, error_console
from weir_cli.errors import InputError
from weir_cli.files.input import printable_lines
from weir_eval.options.shared import SIZES, model_to_run
from weir_eval.records.command_record import command_record
from weir_eval.records.summary import RunAbout, Summary
from weir_eval.report.requirement import end_with_unmet, parse_requirements
from weir_eval.report.text import paired_sentences, print_means, print_paired
from weir_eval.runs.custom_controllers import CustomController
from weir_eval.runs.inputs import read_inputs
from weir_eval.runs.jobs import runs_policy
from weir_eval.runs.progress import end_with_failures
from weir_sim.controllers import uses_model
from weir_sim.executables import find_peer, find_simulator
from weir_sim.objectives import parse_objective
from weir_traces.formats.convert import parse_rate


def make_calls(
    options: CallOptions, names: Sequence[str], custom: Mapping[str, CustomController], started: float
) -> None:
    """Plans, makes and reports the calls; prints the summary. `names`: the controllers; `custom`: the custom ones.

    Raises:
        InputError: an option or a file cannot be used.
        MissingComponent: a component required for calls is missing.
        typer.Exit: interrupted, a call ended early, or a requirement is not met.
    """
    plan = _plan(options, names, custom)
    requirements = parse_requirements(options.require, plan.controllers, options.reference, "call")
    console = error_console()
    programs = [find_simulator()] if plan.by_commands else [find_peer(), find_simulator()]
    calls = plan_calls(plan, options.out, programs)
    outcome = run_calls(calls, options.out, console, quiet=options.as_json)
    run = RunAbout(
        **command_record(started), planned=len(calls), failures=outcome.failures, reference=options.reference or ""
    )
    summary, page = call_report.write([*outcome.records, *outcome.failed], options.out, run)
    if options.as_json:
        typer.echo(summary.text())
    else:
        _print(summary, outcome, f"Report: {page}")
    end_with_failures(outcome.failures, console, "call")
    end_with_unmet(requirements, summary, on_stderr=options.as_json)


def _plan(options: CallOptions, names: Sequence[str], custom: Mapping[str, CustomController]) -> CallPlan:
    if options.decision_delay and not any(runs_policy(name, custom.get(name)) for name in names):
        raise InputError(
            f"--decision-delay '{options.decision_delay:g}': requires a controller with a policy, such as weir"
        )
    width, height = SIZES[options.size]
    by_commands = is_command(options.receiver)
    needs_model = not by_commands and any(uses_model(name) and name not in custom for name in names)
    return CallPlan(
        scenarios=read_inputs(options.inputs, options.read(options.duration)),
        sender=options.sender,
        controllers=list(dict.fromkeys(names)),
        objective=parse_objective(options.objective),
        seeds=range(1, options.seeds + 1),
        width=width,
        height=height,
        codec=options.codec,
        max_bitrate_bps=_bitrate(options.max_bitrate),
        model=model_to_run(options.model) if needs_model else None,
        decision_delay_ms=options.decision_delay,
        lip_sync=options.lip_sync,
        playout=options.playout,
        duration_s=options.duration,
        custom=custom,
        receiver=options.receiver,
    )


def _print(summary: Summary, outcome: CallsOutcome, end: str) -> None:
    if outcome.records:
        print_means(summary, call_report.main_measures(summary))
        print_paired(paired_sentences(summary))
    for excluded in summary.left_out:
        reasons = printable_lines("; ".join(excluded.why))
        typer.echo(f"excluded: {excluded.scenario}, {excluded.controller}, seed {excluded.seed}: {reasons}")
    note = f" ({outcome.reused} of them from an earlier run)" if outcome.reused else ""
    typer.echo(f"\n{counted(len(outcome.records), 'call')}{note}. {end}")


def _bitrate(text: str) -> int:
    rate = parse_rate(text)
    if not 50e3 <= rate <= 50e6:
        raise InputError(f"--max-bitrate '{text}': must be between 50k and 50M")
    return round(rate)
