"""Training in parts: the stages of a configuration, or up to a number of steps; and exporting the policy so far."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from weir_cli.files.output import write_bytes
from weir_sim.executables import find_stack
from weir_train.configuration.training import TrainingConfiguration
from weir_train.learning.algorithms import load_policy
from weir_train.learning.checkpoint import read_checkpoint
from weir_train.learning.learner import TrainingProgress, learner_of
from weir_train.learning.provenance import provenance_of_run
from weir_train.learning.run_record import load_run_configuration
from weir_train.learning.train import TrainingResult, train
from weir_train.model.export import export
from weir_train.model.file import CHECKPOINT, trained_policy
from weir_train.policies.recurrent import RecurrentPolicy


def train_in_stages(
    configuration: TrainingConfiguration,
    out: Path,
    *,
    resume: bool = False,
    command: str | None = None,
    **arguments: Any,
) -> TrainingResult:
    """Trains the stages of a configuration in order, each from the checkpoint of the previous one. The policy at the
    end of each stage except the last is kept as `stage_file`.

    Args:
        configuration: with or without stages.
        out: folder of all stages.
        resume: continue in the stage of the checkpoint in `out`.
        command: for the record.
        arguments: other arguments of `train`.

    Raises:
        InputError, ComponentFailed, MissingComponent, ClusterError: as `train`.
    """
    *earlier, last = stages = configuration.in_stages()
    if earlier and arguments.get("simulator") is None:
        # Fails before hours of training, not after them.
        for stage in stages:
            find_stack(stage.environment.stack)
    for number, stage in enumerate(earlier, 1):
        result = train(stage, out, resume=resume, command=command, **arguments)
        if result.interrupted:
            return result
        if not result.was_complete:
            write_bytes(out / stage_file(number), trained_policy(out).read_bytes())
        resume, command = True, command if result.was_complete else None
    return train(last, out, resume=resume, command=command, **arguments)


def stage_file(number: int) -> str:
    """Returns the file in a training folder for the policy at the end of stage `number` (from 1), for `weir export`."""
    return f"stage-{number}.zip"


def train_until(
    configuration: TrainingConfiguration, folder: Path, steps: int, on_progress: Callable[[TrainingProgress], None]
) -> None:
    """Trains until `steps` of the configuration's steps are done, from the checkpoint in the folder if there is one.
    Schedules span the whole training.

    Raises:
        InputError, ComponentFailed: as `train`.
        KeyboardInterrupt: Ctrl-C, or from `on_progress`; a checkpoint is kept.
    """
    checkpoint = folder / CHECKPOINT
    done = read_checkpoint(checkpoint).steps if checkpoint.is_file() else 0
    if done >= steps:
        return

    def stop_at_end(state: TrainingProgress) -> None:
        on_progress(state)
        if steps <= state.steps < configuration.steps:
            raise KeyboardInterrupt

    result = train(configuration, folder, resume=done > 0, on_progress=stop_at_end)
    if result.steps < steps:
        raise KeyboardInterrupt


def export_run(
    run: Path,
    out: Path,
    checkpoint: Path | None = None,
    on_stage: Callable[[str], None] = lambda stage: None,
) -> None:
    """Writes a policy of a training folder as an ONNX file. `checkpoint` is by default `trained_policy`.

    Raises:
        InputError: the folder has no policy, or as `export`.
    """
    checkpoint = checkpoint or trained_policy(run)
    policy, settings = load_policy(checkpoint), load_run_configuration(run)
    provenance = provenance_of_run(run, checkpoint)
    on_stage(f"{checkpoint}: {provenance['algorithm']}")
    specification = (
        policy.specification if isinstance(policy, RecurrentPolicy) else settings.environment.specification()
    )
    write = getattr(learner_of(settings), "export", export)
    write(
        policy,
        specification,
        out,
        name=settings.name,
        version=settings.version,
        provenance=provenance,
        on_stage=on_stage,
    )
