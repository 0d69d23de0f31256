"""Media that receivers of a virtual call render and play: the simulator writes it, it is measured and deleted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from weir_calls.call.media.quality import concealment_quality, picture_quality, speech_quality
from weir_calls.call.media.received_frames import read_index
from weir_calls.call.media.y4m import Y4m
from weir_calls.link.leftovers import ScratchFolder
from weir_cli.errors import ComponentFailed, InputError, MissingComponent
from weir_eval.records.run_record import RunRecord
from weir_eval.runs.jobs import ReplayJob
from weir_eval.runs.simulator_worker import JobOutcome, SimulatorWorker


def run_and_measure(
    worker: SimulatorWorker[ReplayJob], job: ReplayJob, time_limit_s: float
) -> tuple[JobOutcome[ReplayJob], bool]:
    """Runs a virtual call with `SimulatorWorker.run`, and adds the measures of rendered media (`rendered`) to each flow
    under test of the record. A run whose media cannot be measured fails.

    The raw pictures, 0.6 GB for a minute of 640x360, are in a temporary folder meanwhile.
    """
    with ScratchFolder() as folder:
        outcome, died = worker.run(_writing_into(folder, job), time_limit_s)
        outcome = replace(outcome, job=job)
        if outcome.record is None:
            return outcome, died
        try:
            return replace(outcome, record=_with_measures(outcome.record, job, folder)), died
        except (InputError, MissingComponent, ComponentFailed) as error:
            return JobOutcome(job, error=f"rendered media: {error}"), died


def _writing_into(folder: Path, job: ReplayJob) -> ReplayJob:
    call = job.request["call"]
    assert isinstance(call, dict)
    return replace(job, request={**job.request, "call": {**call, "received": str(folder)}})


def _with_measures(record: RunRecord, job: ReplayJob, folder: Path) -> RunRecord:
    source = job.call.video if job.call else None
    # The record has the flows in the order of the scenario; the files are named after their indexes.
    flows = [
        flow.model_copy(update={"rendered": {**(flow.rendered or {}), **_measures(folder / str(place), source)}})
        if flow.id in job.media
        else flow
        for place, flow in enumerate(record.flows)
    ]
    return record.model_copy(update={"flows": flows})


def _measures(files: Path, source: Path | None) -> dict[str, float]:
    found: dict[str, float] = {}
    frames = read_index(files.with_suffix(".y4m.jsonl"))
    if frames and source:
        with Y4m(files.with_suffix(".y4m")) as received:
            pictures = picture_quality(received, source, frames)
        found |= pictures.metrics if pictures else {}
    audio = files.with_suffix(".wav")
    return found | speech_quality(audio) | concealment_quality(audio) if audio.is_file() else found
