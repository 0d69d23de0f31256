"""`weir whatif`: shows the targets of other controllers on a recorded call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir_cli.errors import InputError
from weir_cli.files.input import check_exists, printable
from weir_cli.options import loading
from weir_eval.options.shared import (
    FIELD_TRIALS,
    ModelOption,
    ObjectiveOption,
    check_controllers,
    check_model,
    model_to_run,
)
from weir_sim.controllers import DEFAULT_PRESET, SIMULATED, knows_path
from weir_sim.executables import find_virtual_call
from weir_sim.objectives import parse_objective

if TYPE_CHECKING:
    from weir_logs.event_logs.whatif import Recording


def whatif(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="An RTC event log (chrome://webrtc-internals, or StartRtcEventLog); a log of a connection that Weir "
            "observed, with its packets; or RTP as rtpdump, pcap or pcapng, as the receiver recorded it.",
        ),
    ],
    controller: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"{', '.join(name for name in SIMULATED if not knows_path(name))}; {FIELD_TRIALS}. Those at the "
            "sender need packets sent with their feedback, those at the receiver packets received, or what feedback "
            "names of those sent; in closed loop, all work on packets sent. Repeatable. Default: gcc, weir-send and "
            "scream; without packets sent weir, gcc-remb and rule; in closed loop weir, gcc and scream.",
        ),
    ] = None,
    model: ModelOption = None,
    objective: ObjectiveOption = DEFAULT_PRESET,
    extension: Annotated[
        int | None,
        typer.Option(
            "--abs-send-time-id", min=1, max=255, metavar="ID",
            help="The header extension that is abs-send-time, for rtpdump and captures. Default: found by its values.",
        ),
    ] = None,
    closed_loop: Annotated[
        bool,
        typer.Option(
            "--closed-loop",
            help="Estimate the path from the log, and make a virtual call under each controller on it (make webrtc). "
            "The estimate has an error, which is printed.",
        ),
    ] = False,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the page goes.")] = Path("weir-whatif"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
) -> None:  # fmt: skip
    """Run controllers on the packets and the feedback of a recorded call, in open loop: the packets do not depend on
    the decisions of a controller. Writes a page with their targets and the logged one. With --closed-loop, makes
    virtual calls on an estimate of the path instead.
    """
    check_exists(file)
    if not file.is_file():
        kind = "a folder" if file.is_dir() else "no file"
        raise InputError(f"{printable(file)}: is {kind}; give an event log, an rtpdump or a capture")
    with loading():
        from weir_eval.runs.simulator import say_left_out
        from weir_logs.event_logs.open_loop import OpenLoop, logged_targets
        from weir_logs.event_logs.whatif import AT_RECEIVER, AT_SENDER, read_recording, run_whatif, write_whatif
        from weir_logs.observations.observation_log import is_observation_log
        from weir_logs.observations.observed_events import read_observed_recording
        from weir_sim.executables import find_simulator
        from weir_sim.versions import unavailable_controllers

    weights = parse_objective(objective)
    check_model(model)
    chosen = _checked(controller or [])
    recording = read_observed_recording(file) if is_observation_log(file) else read_recording(file, extension)
    if closed_loop:
        _closed_loop(recording, chosen, model_to_run(model), weights, out, as_json=as_json)
        return
    logged = logged_targets(recording.log)
    if not chosen:
        usual = AT_SENDER if len(recording.log.of("sent", "id")[0]) else AT_RECEIVER
        missing = unavailable_controllers(find_simulator())
        say_left_out(usual, missing)
        chosen = [name for name in usual if name not in missing]
    settings = OpenLoop.like(logged, model_to_run(model), objective)
    described, page = write_whatif(recording, run_whatif(recording, chosen, settings), out)
    typer.echo(json.dumps({"report": str(page), **described}, indent=1) if as_json else _text(described, page))


def _closed_loop(
    recording: Recording,
    chosen: list[str],
    model: Path,
    weights: tuple[float, float, float],
    out: Path,
    *,
    as_json: bool,
) -> None:
    from weir_logs.event_logs import closed_loop as calls
    from weir_logs.event_logs.path_estimate import estimate_path

    estimate = estimate_path(recording.log, recording.name)
    plan = calls.call_plan([estimate.scenario], chosen or calls.CONTROLLERS, weights, model, find_virtual_call())
    records = calls.run_closed_loop(plan, out, quiet=as_json)
    described, page = calls.write_closed_loop(recording, estimate, records, out)
    found = {"report": str(page), **described}
    typer.echo(json.dumps(found, indent=1) if as_json else calls.closed_loop_text(described, page))


def _checked(chosen: list[str]) -> list[str]:
    """The distinct names; empty if none are given."""
    if not chosen:
        return []
    names, custom = check_controllers(chosen, known=[name for name in SIMULATED if not knows_path(name)])
    if custom:
        raise InputError(f"--controller '{printable(next(iter(custom)))}': custom controllers do not run on recordings")
    return names


def _text(described: dict[str, Any], page: Path) -> str:
    lines = []
    for row in described["controllers"]:
        text = f"{row['controller']}: {row['mean_kbps']:,.0f} kbps"
        if "median_percent" in row:
            text += f"; from the logged target {row['median_percent']:.1f} % (median), {row['p95_percent']:.1f} % (p95)"
        lines.append(text)
    return "\n".join([*lines, str(page)])
