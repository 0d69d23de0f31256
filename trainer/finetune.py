"""The command `weir finetune`."""

from __future__ import annotations

import hashlib
import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from weir.errors import InputError
from weir.files.input import printable, read_bytes
from weir.files.output import make_folder, write_text
from weir.installation import require_training
from weir.trainer.adapt import DEFAULT_CONFIGURATION
from weir.trainer.configuration.training import load_configuration


def finetune(
    model: Annotated[Path, typer.Argument(help="Model file (.onnx), training folder, or checkpoint in one.")],
    data_sets: Annotated[
        list[Path], typer.Argument(metavar="DATASET...", help="Folders of `weir call --record-transitions`.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the result, for `weir export`.")],
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Seed of resamples and learning.")] = 1,
) -> None:
    """Experimental: learn from recorded calls which of their decisions were better than others.

    The reward needs no known capacity: log throughput, log delay and loss, by the objective in force. An estimate of
    what is gained, from calls that were not learned from, is printed; it cannot see where the new policy would lead.
    """
    if os.path.lexists(out) and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"--out '{printable(out)}': is not an empty folder; choose another")
    require_training()
    typer.echo("weir: loading torch", err=True)
    from weir.trainer.learning.checkpoint import policy_arrays, write_checkpoint
    from weir.trainer.learning.run_record import CHECKPOINT, CONFIGURATION, RunRecord
    from weir.trainer.learning.starting_point import read_starting_point
    from weir.trainer.offline.finetune import EXPERIMENTAL
    from weir.trainer.offline.finetune import finetune as learn
    from weir.trainer.offline.reader import LARGEST_BYTES, read_data_set
    from weir.trainer.offline.transitions import DATA

    start = read_starting_point(model, load_configuration(DEFAULT_CONFIGURATION))
    specification = start.configuration.environment.specification()
    trajectories = [one for folder in data_sets for one in read_data_set(folder, specification)]
    found = learn(start, trajectories, seed=seed)
    report = found.report() | {
        "seed": seed,
        "data": [hashlib.sha256(read_bytes(folder / DATA, LARGEST_BYTES)).hexdigest() for folder in data_sets],
    }
    make_folder(out)
    write_text(out / CONFIGURATION, found.configuration.model_dump_json(indent=1) + "\n")
    command = shlex.join(["weir", "finetune", str(model), *map(str, data_sets), "--out", str(out), "--seed", str(seed)])
    provenance = start.provenance | {"experimental": EXPERIMENTAL, "finetuning": report}
    RunRecord(steps=found.steps, interrupted=False, commands=[printable(command)], provenance=provenance).save(out)
    write_checkpoint(out / CHECKPOINT, "ppo", found.steps, policy_arrays(found.policy.state_dict()))
    estimate = found.estimate
    typer.echo(
        f"{out}: experimental, from {found.steps:,} decisions of {found.calls} calls\n"
        f"estimate on every fourth call: reward {estimate.difference:+.4f} an interval against the model, 95 % of "
        f"resamples {estimate.low:+.4f} to {estimate.high:+.4f}\n"
        f"actions move by {found.deviation:.3f} (root mean square), those recorded differ by {found.recorded:.3f}\n"
        "It sees only states of the recorded calls, with a linear critic, and nothing that the reward lacks: compare "
        f"both in calls before use; weir export {out} --out finetuned.onnx"
    )
    if estimate.high < 0.0:
        typer.echo("weir: the estimate is below the model", err=True)
