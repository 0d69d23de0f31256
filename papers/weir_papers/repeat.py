"""The command `weir paper all`: repeats every paper, and writes the record of what came out."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from weir_cli.errors import InputError
from weir_cli.files.input import parse_json, read_text, sha256_of_file
from weir_cli.files.output import make_folder, write_text
from weir_eval.measurement import (
    Measurement,
    Origin,
    Value,
    commit,
    origin_of,
    read_measurement,
    today,
    write_measurement,
)
from weir_papers.claims import Repetition, print_claims, value_of
from weir_papers.common import OutOption
from weir_papers.mocc.claims import REPETITION as MOCC
from weir_papers.muses.claims import REPETITION as MUSES
from weir_papers.mvfst.claims import REPETITION as MVFST
from weir_papers.polycc.claims import REPETITION as POLYCC
from weir_papers.recoco.claims import REPETITION as RECOCO

# The quickest first.
REPETITIONS: Final = (POLYCC, MVFST, RECOCO, MUSES, MOCC)
PAPERS_JSON: Final = "papers.json"
VALUES: Final = "values.json"
# Not in the recorded commands, which are for any folder.
_FOLDER: Final = "OUT"
_WEIR: Final = (sys.executable, "-c", "from weir_cli.main import main; main()")


def repeat(
    out: OutOption,
    small: Annotated[bool, typer.Option("--small", help="Minutes that show that everything works.")] = False,
    only: Annotated[list[str] | None, typer.Option(metavar="NAME", help="These papers, of all five.")] = None,
    record: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the record of the full size here as well; it keeps other papers."),
    ] = None,
    options: Annotated[
        str, typer.Option(metavar="TEXT", help="More options of the one paper's command, such as fewer seeds.")
    ] = "",
) -> None:
    """Repeat all five papers in OUT, and write OUT/papers.json: values with intervals, beside those of the papers.

    A paper that is complete is not repeated, and the others continue where they were. The record keeps the values
    of claims that a command with other options does not measure.
    """
    if small and record is not None:
        raise InputError("--record: is for values of the full size; omit --small")
    if options and len(only or ()) != 1:
        raise InputError(f"--options {options}: are for one paper; give one --only")
    names = [repetition.name for repetition in REPETITIONS]
    if unknown := [name for name in only or () if name not in names]:
        raise InputError(f"--only {unknown[0]}: one of {', '.join(names)}")
    make_folder(out)
    results = []
    for repetition in REPETITIONS:
        folder = out / repetition.name
        # The record has those that were complete before, too.
        if not only or repetition.name in only or (folder / VALUES).exists():
            more = shlex.split(options) if only and repetition.name in only else []
            results.append((repetition, _repeated(repetition, folder, small, more)))
    earlier = read_measurement(record) if record is not None and record.exists() else None
    measured = measurement(results, small, earlier)
    for file in [out / PAPERS_JSON, *([record] if record else [])]:
        write_measurement(file, measured)
    print_claims(
        [claim for repetition, _ in results for claim in repetition.claims],
        {key: values for _, found in results for key, values in found["samples"].items()},
    )


def _repeated(repetition: Repetition, folder: Path, small: bool, options: Sequence[str]) -> dict[str, Any]:
    """The values of a paper by its commands with more options, and their origin, from its folder where they are
    complete.

    Raises:
        typer.Exit: with the status of a command that failed.
    """
    path, size = folder / VALUES, "small" if small else "full"
    if path.exists():
        found = parse_json(read_text(path), str(path))
        if found.get("size") != size:
            raise InputError(f"{folder}: holds the {found.get('size')} size; give another folder")
        return dict(found)
    make_folder(folder)
    commands = [[*command, *options] for command in repetition.commands(folder, small)]
    for command in commands:
        typer.echo(f"weir {shlex.join(command)}", err=True)
        if status := run_weir(command):
            raise typer.Exit(status)
    model = repetition.model(folder)
    samples = {key: list(values) for key, values in repetition.measured(folder).items() if values}
    found = {
        "size": size,
        "command": " && ".join(
            shlex.join(["weir", *(_FOLDER if word == str(folder) else word for word in command)])
            for command in commands
        ),
        "model_sha256": "" if model is None else sha256_of_file(model),
        "commit": commit(),
        "date": today(),
        "samples": samples,
    }
    write_text(path, json.dumps(found, indent=1, allow_nan=False) + "\n")
    return found


def run_weir(command: Sequence[str]) -> int:
    """Runs `weir` with these arguments; its exit status."""
    return subprocess.run([*_WEIR, *command], check=False).returncode


def measurement(
    results: Sequence[tuple[Repetition, dict[str, Any]]], small: bool, earlier: Measurement | None = None
) -> Measurement:
    """The record: values by key, each paper's origin, and the published values. What has no result here is that of an
    earlier record: papers, and claims of a paper that has others, each with its origin.
    """
    samples_by_name = {repetition.name: found for repetition, found in results}
    values: dict[str, Value] = {}
    origins: dict[str, Origin] = {}
    for repetition in REPETITIONS:
        name, keys = repetition.name, [claim.key for claim in repetition.claims]
        if name in samples_by_name:
            found = samples_by_name[name]
            origins[name] = Origin(
                command=found["command"],
                model_sha256=found["model_sha256"],
                commit=found["commit"],
                date=found["date"],
            )
            values |= {key: value_of(samples) for key in keys if (samples := found["samples"].get(key))}
            for key in keys:
                if earlier is not None and key in earlier.values and key not in values:
                    values[key], origins[key] = earlier.values[key], origin_of(earlier, key)
        elif earlier is not None and name in earlier.origins:
            values |= {key: earlier.values[key] for key in keys if key in earlier.values}
            origins |= {key: earlier.origins[key] for key in (name, *keys) if key in earlier.origins}
    claims = [claim for repetition in REPETITIONS for claim in repetition.claims if claim.key in values]
    published = {claim.key: claim.published for claim in claims if claim.published is not None}
    about = f"Papers: {', '.join(name for name in origins if '/' not in name)}."
    if small:
        about = "Small sizes, which show that everything works and measure nothing."
    return Measurement(
        measured="papers",
        about=f"{about} Intervals: 95 % over seeds.",
        command=f"make papers{' SMALL=1' if small else ''}",
        date=today(),
        commit=commit(),
        origins=origins,
        published=published,
        values=values,
    )
