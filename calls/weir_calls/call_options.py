"""The options of `weir call`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from weir_cli.options import ReferenceOption
from weir_eval.options.shared import (
    FIELD_TRIALS,
    POOL,
    DecisionDelayOption,
    ModelOption,
    ObjectiveOption,
    PathArguments,
    RequireOption,
    Size,
)
from weir_eval.runs.call_media import DEFAULT_MAX_BITRATE_BPS, ENDS, PlayoutMode
from weir_sim.controllers import AT_NATIVE_SENDER, CONTROLLERS, DEFAULT_PRESET, IN_CALLS, LIBWEBRTC_SENDERS

Codec = Literal["VP8", "VP9"]


def is_command(end: str) -> bool:
    """True if an end of a call is a shell command line of the user, which has a space or a slash."""
    return end not in ENDS and any(mark in end for mark in " /")


WITHOUT_MODEL: Final = ("nada", "rule")
"""Built-in controllers that weir-peer runs at the receiver as the only member of a pool, behind the guard."""

CALLED = tuple(dict.fromkeys((*IN_CALLS, *LIBWEBRTC_SENDERS, *AT_NATIVE_SENDER, *WITHOUT_MODEL)))
"""The built-in controllers of calls."""
_SUMMARIES = "; ".join(f"{name}: {CONTROLLERS[name].summary}" for name in CALLED)


@dataclass(frozen=True, kw_only=True)
class CallOptions(PathArguments):
    """The options of `weir call`; see their help texts."""

    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="SCENARIO...",
            help="As for replay: traces, scenario files, catalogue/NAME; catalogue/muses-cross-traffic is one for "
            "calls.",
        ),
    ]
    sender: Annotated[
        str,
        typer.Option(
            metavar="NAME|COMMAND",
            help="chromium: an unmodified browser; native: weir-peer; or a shell command line of another stack, with "
            "one for --receiver too.",
        ),
    ] = "chromium"
    receiver: Annotated[
        str,
        typer.Option(
            metavar="NAME|COMMAND",
            help="native: weir-peer; chromium: a browser, for --sender native with gcc, scream or weir-send; or a "
            "shell command line.",
        ),
    ] = "native"
    controller: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"{_SUMMARIES}; or a custom "
            f"controller instead of the policy: FILE.py:CLASS, ./LIBRARY.so, ./PROGRAM; or {FIELD_TRIALS}; or {POOL}. "
            "Repeatable: each makes the same calls, one after the other. Default: weir. With commands at the ends: a "
            "label, which they find as WEIR_CALL_LABEL.",
        ),
    ] = None
    compare: Annotated[
        bool,
        typer.Option("--compare", help="Also with gcc and scream, seed by seed."),
    ] = False
    objective: ObjectiveOption = DEFAULT_PRESET
    duration: Annotated[
        float | None,
        typer.Option(min=5, max=3600, metavar="S", help="Default: the scenario's; 60 s of one longer than 120 s."),
    ] = None
    seeds: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="Calls with the seeds 1 to N.")] = 1
    size: Annotated[Size, typer.Option(metavar="WxH", help="1280x720 or 640x360.")] = "1280x720"
    codec: Annotated[Codec, typer.Option(metavar="NAME", help="VP8 or VP9.")] = "VP8"
    max_bitrate: Annotated[str, typer.Option(metavar="RATE", help="Limit of the encoder, for example 2.5M.")] = (
        f"{DEFAULT_MAX_BITRATE_BPS}"
    )
    model: ModelOption = None
    decision_delay: DecisionDelayOption = 0.0
    lip_sync: Annotated[
        bool,
        typer.Option(
            "--lip-sync/--no-lip-sync",
            help="Video waits for the audio of the same time; or, with the two in separate streams, it is rendered up "
            "to a few hundred ms earlier.",
        ),
    ] = True
    playout: Annotated[
        PlayoutMode,
        typer.Option(
            help="A native receiver holds video for at most 150 ms, and audio for less: adaptive: in calls in which "
            "Weir decides; limited: in all; unlimited: in none.",
        ),
    ] = "adaptive"
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of results, recordings and report.")] = Path(
        "weir-calls"
    )
    reference: ReferenceOption = None
    require: RequireOption = None
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON, and no progress.")] = False
