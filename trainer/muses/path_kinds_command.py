"""The command `weir experiment path-kinds`."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.table import Table

from weir.console import output_console
from weir.files.output import make_folder, write_text
from weir.installation import require_trees
from weir.trainer.configuration.scenarios import ScenarioSettings
from weir.trainer.learning.progress_bar import progress_bar
from weir.trainer.model.file import read_model
from weir.trainer.muses.command import HIGHEST_MEAN_BPS, teachers_specification

RESULT: Final = "path_kinds.json"


def path_kinds(
    teacher: Annotated[Path, typer.Argument(help="Model file (.onnx) that acts around the rule.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help=f"Where {RESULT} goes.")],
    flows: Annotated[int, typer.Option(min=128, help="Under the teacher, to learn from; 128 at once.")] = 1024,
    seed: Annotated[int, typer.Option(min=0, help="Of paths, objectives and clusters.")] = 1,
) -> None:
    """Measures whether students for kinds of path are nearer to a teacher than one student for all (Muses).

    Sizes, sums, classes, numbers of kinds and ways to choose among them, all from the same flows; a quarter of an hour.
    """
    started = time.monotonic()
    described = read_model(teacher)
    specification = teachers_specification(described)
    make_folder(out)
    require_trees()
    from weir.trainer.imitation.teachers import ModelTeacher
    from weir.trainer.muses.path_kinds import Judged, Plan, judge_path_kinds

    plan = Plan(flows=flows, seed=seed, scenarios=ScenarioSettings(maximum_mean_bps=HIGHEST_MEAN_BPS))
    told_by = ModelTeacher(teacher, specification)
    found: list[Judged] = []
    interrupted = False
    try:
        with progress_bar(plan.all_flows) as show:
            judged = judge_path_kinds(
                told_by, specification, plan, on_progress=lambda what, flown: show(what, flown, "")
            )
            for one in judged:
                found.append(one)
    except KeyboardInterrupt:
        interrupted = True
        typer.echo(f"weir: interrupted; {len(found)} sorts of students were judged", err=True)
    document = {
        "schema": "weir.path_kinds/1",
        "teacher": {"name": described.name, "version": described.version, "sha256": described.sha256},
        "flows": flows,
        "seed": seed,
        "interrupted": interrupted,
        "wall_s": round(time.monotonic() - started, 1),
        "variants": [asdict(one) for one in found],
    }
    write_text(out / RESULT, json.dumps(document, indent=1, allow_nan=False) + "\n")
    table = Table(box=None, header_style="dim", pad_edge=False)
    for name in ("students", "splits", "explained variance", "to one tree for all", "among two nearest"):
        table.add_column(name, justify="left" if name == "students" else "right")
    for one in found:
        gain = "" if one.gain is None else "{:+.3f} [{:+.3f}, {:+.3f}]".format(*one.gain)
        nearest = "" if one.among_two_nearest is None else f"{one.among_two_nearest:.1%}"
        table.add_row(one.name, f"{one.splits:,}", f"{one.explained:.3f}", gain, nearest)
    output_console().print(table)
    typer.echo(f"\nDetails: {out / RESULT}")
    if interrupted:
        raise typer.Exit(1)
