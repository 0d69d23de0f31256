"""Options that several commands of `weir experiment` share. Each has defaults of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ModelOption = Annotated[Path | None, typer.Option(metavar="FILE", help="ONNX model. Default: the one shipped.")]
CallTracesOption = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder with mahimahi/. Default: traces/ in the folder WEIR_SHARED names."),
]
SeedsOption = Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="Runs with the seeds 1 to N.")]
