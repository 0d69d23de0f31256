"""The record of a call, `call.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from weir_calls.call import logs
from weir_calls.call.call_causes import call_episodes
from weir_calls.call.disturbance import disturbances, late_wake_ups
from weir_calls.call.measures import CallMeasures, measure
from weir_calls.call.media.progress import OnShare, ignore_share
from weir_calls.call.media.received_frames import RawFrames
from weir_calls.call.media.source_video import source_video_path
from weir_calls.call.plan import CallSettings
from weir_calls.link.child_process import Message, monotonic_us
from weir_calls.link.log import read_link_log
from weir_cli.errors import InputError
from weir_cli.files.input import open_file
from weir_cli.files.output import make_folder, write_text
from weir_eval.records.call_record import CallDetails, CallMeasurement, CallRecord
from weir_eval.records.record import Metrics, PathRecord
from weir_eval.records.results_file import LARGEST_RECORD_BYTES
from weir_eval.webrtc_stats import read_stats_log

INTERRUPTED = "interrupted before it was measured"
"""The failure in the record of a call that was cancelled; its logs are complete up to that time."""


@dataclass
class CallProgress:
    """Events and times of a call.

    `failure`: why the call ended early; empty if it did not. `stopped`: the user ended it early. `started_us`: None if
    it never began. `happened`: notes and orders with their times. `ready`: the `ready` message of each part.
    `wake_up_lag_ms_p99`: None if unknown.
    """

    failure: str = ""
    stopped: bool = False
    started_us: int | None = None
    ended_us: int = 0
    happened: list[dict[str, Any]] = field(default_factory=list)
    ready: dict[str, Message] = field(default_factory=dict)
    wake_up_lag_ms_p99: float | None = None


def conclude(
    settings: CallSettings,
    progress: CallProgress,
    frames: RawFrames | None = None,
    on_share: OnShare = ignore_share,
) -> CallRecord:
    """Measures a call that has ended, writes its record (`call.json`) and recording, and deletes the raw frames.

    `on_share` receives the progress, 0 to 1, on any thread.

    Raises:
        InputError: a log cannot be read, or the record cannot be written.
        MissingComponent: ffmpeg is not installed.
    """
    folder = settings.out
    sender = read_stats_log(folder / logs.SENDER_STATS)
    sends_source = progress.started_us is not None and not settings.by_commands
    measures = measure(
        folder,
        progress.started_us,
        progress.ended_us,
        source_video_path(settings.width, settings.height) if sends_source else None,
        settings.scenario.forward.one_way_delay_ms,
        frames.path if frames else None,
        sender,
        logs_frames=not settings.by_commands,
        quality=settings.quality,
        on_share=on_share,
    )
    if frames:
        # They may have filled the disk: free space for the record.
        frames.close()
    disturbed, more = [], {}
    if progress.started_us is not None:
        link = read_link_log(folder / logs.LINK_LOG, "forward")
        disturbed = disturbances(sender, link, settings.frames_per_second, measures.start_us, measures.end_us)
        disturbed += late_wake_ups(progress.wake_up_lag_ms_p99)
        more = {"episodes": call_episodes(settings, sender, link, progress.started_us, progress.ended_us)}
    record = make_record(settings, progress, measures, disturbed).model_copy(update=more)
    (folder / logs.FRAMES).unlink(missing_ok=True)
    _write(record, folder)
    return record


def write_interrupted(settings: CallSettings, progress: CallProgress) -> None:
    """Writes the record of a call that was cancelled, without measures, and deletes the raw frames.

    Raises:
        InputError: the record cannot be written.
    """
    (settings.out / logs.FRAMES).unlink(missing_ok=True)
    _write_unmeasured(settings, replace(progress, failure=progress.failure or INTERRUPTED))


def write_never_begun(settings: CallSettings) -> None:
    """Writes the record and the scenario of a call that the user stopped before it began.

    Raises:
        InputError: one of them cannot be written.
    """
    make_folder(settings.out)
    settings.scenario.save(settings.out / logs.SCENARIO)
    _write_unmeasured(settings, CallProgress(stopped=True, ended_us=monotonic_us()))


def _write_unmeasured(settings: CallSettings, progress: CallProgress) -> None:
    unknown = CallMeasures({}, progress.started_us or 0, progress.ended_us, {}, [])
    _write(make_record(settings, progress, unknown, []), settings.out)


def _write(record: CallRecord, folder: Path) -> None:
    write_text(folder / logs.RECORD, json.dumps(record.to_json(), indent=1, allow_nan=False) + "\n")


def make_record(
    settings: CallSettings, progress: CallProgress, measures: CallMeasures, disturbed: list[str]
) -> CallRecord:
    """Returns the record of a call."""
    return CallRecord(
        scenario=settings.scenario.name,
        controller=settings.controller,
        objective=settings.objective if settings.follows_objective else None,
        seed=settings.seed,
        variation=settings.variation,
        duration_s=settings.duration_s,
        versions=_versions(progress.ready),
        path=PathRecord(one_way_delay_ms=settings.scenario.forward.mean_one_way_delay_ms(settings.duration_s)),
        flows=[],
        metrics=Metrics(run=dict(measures.metrics)),
        call=CallDetails(
            folder=settings.out.name,
            sender=settings.sender,
            receiver=settings.receiver,
            codec=settings.codec,
            audio_codec=settings.audio_codec,
            width=settings.width,
            height=settings.height,
            frames_per_second=settings.frames_per_second,
            max_bitrate_bps=settings.max_bitrate_bps,
            decision_delay_ms=settings.decision_delay_ms,
            lip_sync=settings.lip_sync,
            playout=settings.playout,
            transport_cc=settings.transport_cc,
            description=settings.scenario.description,
            disturbed=disturbed,
            failure=progress.failure,
            stopped=progress.stopped,
            started_us=progress.started_us,
            ended_us=progress.ended_us,
            happened=progress.happened,
            wake_up_lag_ms_p99=progress.wake_up_lag_ms_p99,
            measured=CallMeasurement(
                media_start_us=measures.start_us,
                end_us=measures.end_us,
                frames=dict(measures.frames),
                problems=measures.problems,
            ),
        ),
    )


def read_record(folder: Path) -> CallRecord | None:
    """Reads the record of the call in a folder; None if there is none.

    Raises:
        InputError: it is damaged.
    """
    path = folder / logs.RECORD
    try:
        with open_file(path) as file:
            return CallRecord.model_validate_json(file.read(LARGEST_RECORD_BYTES))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        raise InputError(f"{path}: not a record of a call; delete it, or make the call again") from None


def _versions(ready: Mapping[str, Message]) -> dict[str, str]:
    versions: dict[str, str] = {}
    for message in ready.values():
        found = message.get("versions")
        if isinstance(found, Mapping):
            versions |= {str(name): str(version)[:200] for name, version in found.items()}
    return versions
