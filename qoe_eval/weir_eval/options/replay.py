"""The options of `weir replay`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from weir_cli.errors import InputError
from weir_cli.options import HelpAllOption, ReferenceOption
from weir_eval.options.shared import (
    FIELD_TRIALS,
    POOL,
    SIZES,
    DecisionDelayOption,
    JobsOption,
    ModelOption,
    ObjectiveOption,
    PathArguments,
    RequireOption,
    Size,
)
from weir_eval.runs.call_media import CallMedia, Encoder, PlayoutMode
from weir_eval.runs.custom_controllers import DEFAULT_TIME_LIMIT_S
from weir_sim.controllers import COMPARED, DEFAULT_PRESET, SIMULATED
from weir_sim.executables import Stack
from weir_traces.bounds import DEFAULT_WINDOW_MS, MAX_DURATION_S, MediaKind


class SeriesKept(StrEnum):
    """The runs whose time series a replay keeps. The measures do not depend on it."""

    ALL = "all"
    FIRST = "first"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class ReplayOptions(PathArguments):
    """The options of `weir replay`; see their help texts."""

    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="TRACE_OR_SCENARIO...",
            help="Traces of any format that 'weir traces validate' reads, or scenario files; 'catalogue' for all "
            "bundled scenarios, 'catalogue/NAME' for one, 'catalogue/rfc8867' for the RFC 8867 cases, "
            "'catalogue/pantheon' for Pantheon's emulators.",
        ),
    ]
    controller: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"{', '.join(SIMULATED)}; custom: FILE.py:CLASS, ./LIBRARY.so, ./PROGRAM, FILE.onnx, "
            f"FILE.onnx:bare; {FIELD_TRIALS}; {POOL}. Repeatable. Default: those of "
            f"{', '.join(COMPARED)} that this simulator has.",
        ),
    ] = None
    controller_time_limit: Annotated[
        float,
        typer.Option(
            min=0.001,
            max=3600,
            metavar="S",
            help="Time limit of one decision of a custom controller; ten times as long for its start.",
        ),
    ] = DEFAULT_TIME_LIMIT_S
    stack: Annotated[
        Stack,
        typer.Option(
            help="Sender and receiver: the simulator's model, in milliseconds a run; or libwebrtc's own sender and "
            "receiver in simulated time (a virtual call), in seconds a run."
        ),
    ] = "model"
    encoder: Annotated[
        Encoder,
        typer.Option(help="The encoder of virtual calls; fake: VP8's sizes without pictures, ten times as fast."),
    ] = Encoder.VP8
    size: Annotated[Size, typer.Option(metavar="WxH", help="Video of virtual calls: 640x360 or 1280x720.")] = "640x360"
    vmaf: Annotated[
        bool,
        typer.Option(
            "--vmaf",
            help="Virtual calls also decode, and have VMAF of the rendered frames, ViSQOL and PLCMOS of the played "
            "speech; a minute of 640x360 needs 0.6 GB of temporary files meanwhile.",
        ),
    ] = False
    playout: Annotated[
        PlayoutMode,
        typer.Option(
            help="Limit for how long receivers of virtual calls hold audio and video: adaptive: in calls with Weir at "
            "one end; limited: in all; unlimited: in none.",
        ),
    ] = "adaptive"
    objective: ObjectiveOption = DEFAULT_PRESET
    seeds: Annotated[
        int,
        typer.Option(
            min=0,
            max=10_000,
            metavar="N",
            help="Runs with the seeds 1 to N, each with its own starting point, delay and clock; 0: one run of each "
            "scenario as it is written.",
        ),
    ] = 5
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where results, summary and report go.")] = Path(
        "weir-replay"
    )
    window: Annotated[
        int,
        typer.Option(
            "--mahimahi-window-ms",
            min=1,
            max=60_000,
            metavar="MS",
            help="Time over which the deliveries of a Mahimahi file are averaged.",
        ),
    ] = DEFAULT_WINDOW_MS
    media: Annotated[
        MediaKind | None,
        typer.Option(
            help="Media of the flows under test: video as in a call, or filler, which takes all that a link carries. "
            "Default: video; a scenario file's own.",
        ),
    ] = None
    max_bitrate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Limit of the video, such as 4M. Default: 2.5M; a file's own.")
    ] = None
    duration: Annotated[
        float | None, typer.Option(min=0.1, max=MAX_DURATION_S, metavar="S", help="Length of a run.")
    ] = None
    model: ModelOption = None
    decision_delay: DecisionDelayOption = 0.0
    objectives: Annotated[
        int,
        typer.Option(
            min=0,
            max=500,
            metavar="N",
            help="Also run weir under the presets and N other objectives (seed 1), for a section of the page; 0: none.",
        ),
    ] = 20
    families: Annotated[
        bool,
        typer.Option(
            "--families",
            help="Also run two scenarios of each family of impairments with video, and two with filler (seed 1), for "
            "sections of the page.",
        ),
    ] = False
    series: Annotated[
        SeriesKept,
        typer.Option(help="Runs whose time series are kept: all, those of the first seed, or none."),
    ] = SeriesKept.ALL
    csv: Annotated[
        bool, typer.Option("--csv", help="Also write results.csv, and series.csv.gz and frames.csv.gz of kept series.")
    ] = False
    repair: Annotated[bool, typer.Option("--repair", help="Accept traces with faults that can be repaired.")] = False
    reference: ReferenceOption = None
    require: RequireOption = None
    jobs: JobsOption = None
    address: Annotated[
        str | None,
        typer.Option(metavar="auto|HOST:PORT", help="Run on the machines of a Ray cluster. Default: on this one."),
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON, and no progress.")] = False
    help_all: HelpAllOption = False

    def call_media(self) -> CallMedia | None:
        """The media of virtual calls, without their files; None for the simulator's model.

        Raises:
            InputError: an option of virtual calls is set, but the simulator's model has neither encoder, pictures nor
                playout delay; or VMAF is requested without pictures.
        """
        if self.stack == "libwebrtc":
            return CallMedia(self.encoder, *SIZES[self.size], vmaf=self.vmaf, playout=self.playout)
        for name in ("encoder", "size", "vmaf", "playout"):
            if getattr(self, name) != getattr(ReplayOptions, name):
                raise InputError(f"--{name}: only virtual calls have it; use --stack libwebrtc")
        return None
