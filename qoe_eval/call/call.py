"""`weir call`: real calls through a link that replays scenarios."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, cast, get_args

import typer

from weir.console import error_console
from weir.errors import InputError
from weir.files.input import printable_lines
from weir.qoe_eval.call import call_report
from weir.qoe_eval.call.plan import (
    CODECS,
    DEFAULT_MAX_BITRATE_BPS,
    SIZES,
    WITHOUT_MODEL,
    CallPlan,
    ReceiverKind,
    SenderKind,
    plan_calls,
)
from weir.qoe_eval.call.run import run_calls
from weir.qoe_eval.records import RunAbout, command_record
from weir.qoe_eval.report.requirement import end_with_unmet, parse_requirements
from weir.qoe_eval.report.text import print_means, print_paired
from weir.qoe_eval.requirements import check_requirements
from weir.qoe_eval.runs.inputs import PathOptions, read_inputs
from weir.qoe_eval.runs.jobs import runs_policy
from weir.qoe_eval.runs.options import (
    FIELD_TRIALS,
    POOL,
    LossOption,
    OneWayDelayOption,
    QueueOption,
    ReferenceOption,
    RequireOption,
    ReverseOption,
    check_controllers,
    check_model,
    model_to_run,
    parse_objective,
)
from weir.registry import (
    AT_NATIVE_SENDER,
    CONTROLLERS,
    DEFAULT_PRESET,
    IN_CALLS,
    LIBWEBRTC_SENDERS,
    PRESETS,
    uses_model,
    without_field_trials,
)
from weir.simulator import MAX_DECISION_DELAY_MS
from weir.simulator.executables import find_peer, find_simulator
from weir.traces.formats.convert import parse_queue, parse_rate
from weir.traces.formats.importers import read_trace

_CONTROLLERS = tuple(dict.fromkeys((*IN_CALLS, *LIBWEBRTC_SENDERS, *AT_NATIVE_SENDER, *WITHOUT_MODEL)))
# Controllers that run at the sender and work with any receiver.
_AT_SENDER = (*LIBWEBRTC_SENDERS, *AT_NATIVE_SENDER)


def call(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="SCENARIO...",
            help="As for replay: traces, scenario files, catalogue/NAME; catalogue/muses-cross-traffic is one for "
            "calls.",
        ),
    ],
    sender: Annotated[
        str, typer.Option(metavar="NAME", help="chromium: an unmodified browser; native: weir-peer.")
    ] = "chromium",
    receiver: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="native: weir-peer; chromium: a browser, for --sender native with gcc, scream or weir-send.",
        ),
    ] = "native",
    controller: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"{'; '.join(f'{name}: {CONTROLLERS[name].summary}' for name in _CONTROLLERS)}; or a custom "
            f"controller instead of the policy: FILE.py:CLASS, ./LIBRARY.so, ./PROGRAM; or {FIELD_TRIALS}; or {POOL}. "
            "Repeatable: each makes the same calls, one after the other. Default: weir.",
        ),
    ] = None,
    compare: Annotated[
        bool,
        typer.Option("--compare", help="Also with gcc and scream, seed by seed."),
    ] = False,
    objective: Annotated[
        str,
        typer.Option(metavar="T,L,P", help=f"Weights of throughput, latency and loss; or {', '.join(PRESETS)}."),
    ] = DEFAULT_PRESET,
    duration: Annotated[
        float | None,
        typer.Option(min=5, max=3600, metavar="S", help="Default: the scenario's; 60 s of one longer than 120 s."),
    ] = None,
    one_way_delay: OneWayDelayOption = None,
    queue: QueueOption = None,
    loss: LossOption = None,
    reverse: ReverseOption = None,
    seeds: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="Calls with the seeds 1 to N.")] = 1,
    size: Annotated[str, typer.Option(metavar="WxH", help="1280x720 or 640x360.")] = "1280x720",
    codec: Annotated[str, typer.Option(metavar="NAME", help="VP8 or VP9.")] = "VP8",
    max_bitrate: Annotated[
        str, typer.Option(metavar="RATE", help="Limit of the encoder, for example 2.5M.")
    ] = f"{DEFAULT_MAX_BITRATE_BPS}",
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="ONNX model of weir. Default: the shipped one.")
    ] = None,
    decision_delay: Annotated[
        float,
        typer.Option(
            min=0, max=MAX_DECISION_DELAY_MS, metavar="MS", help="The policy's answers are used so much later."
        ),
    ] = 0.0,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of results, recordings and report.")] = Path(
        "weir-calls"
    ),
    repeat_disturbed: Annotated[
        bool, typer.Option("--repeat-disturbed", help="Repeat disturbed calls of an earlier run.")
    ] = False,
    reference: ReferenceOption = None,
    require: RequireOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON, and no progress.")] = False,
) -> None:
    """Makes real calls through a link that replays a scenario, and measures them at the receiver.

    Writes results.jsonl, summary.json, report.html, and a folder with logs and recording for each call. The same
    command again makes the calls that were interrupted or failed. Needs root, for network namespaces.
    """
    started = time.monotonic()
    kind = cast(SenderKind, _one_of("--sender", sender, get_args(SenderKind)))
    names, own = check_controllers(controller or ["weir"], known=_CONTROLLERS)
    for custom in own.values():
        if custom.model:
            raise InputError(f"--controller {custom.source}: in calls, --model sets the model of the controller weir")
    _one_of("--size", size, SIZES)
    receiver_kind = cast(ReceiverKind, _one_of("--receiver", receiver, get_args(ReceiverKind)))
    at_sender = [name for name in names if name in AT_NATIVE_SENDER]
    if at_sender and kind != "native":
        raise InputError(f"--controller {at_sender[0]}: runs at the sender; add --sender native")
    if receiver_kind == "chromium" and (
        kind != "native" or not {without_field_trials(name) for name in names} <= set(_AT_SENDER)
    ):
        raise InputError(f"--receiver chromium: requires --sender native and --controller {' or '.join(_AT_SENDER)}")
    if decision_delay and not any(runs_policy(name, own.get(name)) for name in names):
        raise InputError(f"--decision-delay {decision_delay:g}: requires a controller with a policy, such as weir")
    if compare:
        names += LIBWEBRTC_SENDERS
    check_model(model)
    path = PathOptions(
        one_way_delay, parse_queue(queue) if queue else None, loss, duration, read_trace(reverse) if reverse else None
    )
    scenarios = read_inputs(inputs, path)
    weights = parse_objective(objective)
    check_requirements(kind, receiver_kind)
    width, height = SIZES[size]
    plan = CallPlan(
        scenarios=scenarios,
        sender=kind,
        controllers=list(dict.fromkeys(names)),
        objective=weights,
        seeds=range(1, seeds + 1),
        width=width,
        height=height,
        codec=_one_of("--codec", codec, CODECS),
        max_bitrate_bps=_bitrate(max_bitrate),
        model=model_to_run(model) if any(uses_model(name) and name not in own for name in names) else None,
        decision_delay_ms=decision_delay,
        duration_s=duration,
        own=own,
        receiver=receiver_kind,
    )
    requirements = parse_requirements(require, plan.controllers, reference, "call")
    console = error_console()
    calls = plan_calls(plan, out, [find_peer(), find_simulator()])
    outcome = run_calls(calls, out, console, quiet=as_json, repeat_disturbed=repeat_disturbed)
    run = RunAbout(**command_record(started), planned=len(calls), failures=outcome.failures, reference=reference or "")
    summary, page = call_report.write([*outcome.records, *outcome.failed], out, run)
    if as_json:
        typer.echo(summary.text())
    else:
        print_means(summary, call_report.SHOWN)
        print_paired(summary)
        for one in summary.left_out:
            why = printable_lines("; ".join(one.why))
            typer.echo(f"excluded: {one.scenario}, {one.controller}, seed {one.seed}: {why}")
        note = f" ({outcome.reused} of them from an earlier run)" if outcome.reused else ""
        count = len(outcome.records)
        typer.echo(f"\n{count} call{'s' * (count != 1)}{note}. Report: {page}")
    if outcome.failures:
        shown = "\n".join(f"  {failure}" for failure in outcome.failures[:5])
        console.print(f"weir: calls that ended early: {len(outcome.failures)}\n{shown}")
        raise typer.Exit(1)
    end_with_unmet(requirements, summary, on_stderr=as_json)


def _one_of(option: str, value: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    if value not in known:
        raise InputError(f"{option} {value}: use {', '.join(known)}")
    return value


def _bitrate(text: str) -> int:
    rate = parse_rate(text)
    if not 50e3 <= rate <= 50e6:
        raise InputError(f"--max-bitrate {text}: must be between 50k and 50M")
    return round(rate)
