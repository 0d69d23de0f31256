"""Options that several commands of `weir experiment` share. Each has defaults of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ModelOption = Annotated[Path | None, typer.Option(metavar="FILE", help="ONNX model. Default: the one shipped.")]
HealthyModelOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Healthy model. Default: the one shipped.")
]
TracesOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder with opennetlab/ and mahimahi/. Default: traces/ in the folder that WEIR_SHARED names.",
    ),
]
CallTracesOption = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder with mahimahi/. Default: traces/ in the folder WEIR_SHARED names."),
]
SeedsOption = Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="Runs with the seeds 1 to N.")]
CallSeedsOption = Annotated[int, typer.Option(min=1, max=100, metavar="N", help="Calls with the seeds 1 to N.")]
RandomScenariosOption = Annotated[int, typer.Option(min=1, max=100_000, metavar="N", help="Random scenarios.")]
FullOption = Annotated[bool, typer.Option("--full", help="All scenarios of each family, not two of each.")]
SizeOption = Annotated[str, typer.Option(metavar="WxH", help="1280x720 or 640x360.")]
RepeatDisturbedOption = Annotated[
    bool, typer.Option("--repeat-disturbed", help="Make calls of an earlier run that were disturbed again.")
]
