"""The result record of a call: what `weir replay` writes of a run, and a part `call` beside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weir.errors import InputError
from weir.files.output import write_text
from weir.qoe_eval.call.logs import file_names
from weir.qoe_eval.call.logs.link_log import read_link_log
from weir.qoe_eval.call.logs.webrtc_stats import read_stats_log
from weir.qoe_eval.call.measures.disturbance import disturbances, late_wake_ups
from weir.qoe_eval.call.measures.metrics import CallMeasures, measure
from weir.qoe_eval.call.media.raw_frames import RawFrames
from weir.qoe_eval.call.media.source_videos import source_video_path
from weir.qoe_eval.call.settings import CallSettings
from weir.qoe_eval.records import (
    LARGEST_RECORD_BYTES,
    CallDetails,
    CallMeasurement,
    CallRecord,
    Metrics,
    PathRecord,
)


def conclude(
    settings: CallSettings, about: Mapping[str, Any], frames: RawFrames | None = None
) -> tuple[CallRecord, list[str]]:
    """Measures a call that has ended, and writes its record (`call.json`) and recording. The raw frames, gigabytes, are
    deleted then.

    Args:
        settings: the call.
        about: `failure` (text, empty when it ended at its time), `started_us` (None: it never began), `ended_us`,
            `happened` (notes and orders, with times), `ready` (the `ready` message of each part), `wake_up_lag_ms_p99`
            (how late processes came to run; None: not known).

    Returns:
        The record, and what disturbed the call.

    Raises:
        InputError: a log cannot be read, or the record not written.
        MissingComponent: ffmpeg is not installed.
    """
    folder = settings.out
    measures = measure(
        folder,
        source_video_path(settings.width, settings.height) if about["started_us"] is not None else None,
        settings.scenario.forward.one_way_delay_ms,
        about["started_us"],
        about["ended_us"],
        raw_frames=frames.path if frames else None,
    )
    if frames:
        # The record has room even where they filled the disk.
        frames.close()
    disturbed = []
    if about["started_us"] is not None:
        disturbed = _disturbances(settings, measures) + late_wake_ups(about.get("wake_up_lag_ms_p99"))
    record = make_record(settings, about, measures, disturbed)
    (folder / file_names.FRAMES).unlink(missing_ok=True)
    write_record(folder, record)
    return record, disturbed


def make_record(
    settings: CallSettings, about: Mapping[str, Any], measures: CallMeasures, disturbed: list[str]
) -> CallRecord:
    """The record. Its `call.folder` is the name of the call's folder; `call.measured` is from when to when was measured
    and what became of the frames. Without a controller of ours, `objective` is null.
    """
    return CallRecord(
        scenario=settings.scenario.name,
        controller=settings.controller,
        objective=settings.objective if settings.follows_objective else None,
        seed=settings.seed,
        variation=settings.variation,
        duration_s=settings.duration_s,
        versions=_versions(about.get("ready") or {}),
        path=PathRecord(one_way_delay_ms=settings.scenario.forward.mean_one_way_delay_ms(settings.duration_s)),
        flows=[],
        metrics=Metrics(run=dict(measures.metrics)),
        call=CallDetails(
            folder=settings.out.name,
            sender=settings.sender,
            receiver=settings.receiver,
            codec=settings.codec,
            width=settings.width,
            height=settings.height,
            frames_per_second=settings.frames_per_second,
            max_bitrate_bps=settings.max_bitrate_bps,
            description=settings.scenario.description,
            disturbed=disturbed,
            failure=about.get("failure", ""),
            started_us=about.get("started_us"),
            ended_us=about.get("ended_us"),
            happened=list(about.get("happened") or []),
            wake_up_lag_ms_p99=about.get("wake_up_lag_ms_p99"),
            measured=CallMeasurement(**measures.about),
        ),
    )


def write_record(folder: Path, record: CallRecord) -> None:
    """Writes `call.json`, whole or not at all.

    Raises:
        InputError: it cannot be written.
    """
    path = folder / file_names.RECORD
    write_text(path, json.dumps(record.to_json(), indent=1, allow_nan=False) + "\n")


def read_record(folder: Path) -> CallRecord | None:
    """The record of the call in a folder; None where there is none.

    Raises:
        InputError: it is damaged.
    """
    path = folder / file_names.RECORD
    try:
        with path.open("rb") as file:
            return CallRecord.model_validate_json(file.read(LARGEST_RECORD_BYTES))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        raise InputError(f"{path}: no record of a call; delete it, or make the call again") from None


def _disturbances(settings: CallSettings, measures: CallMeasures) -> list[str]:
    folder = settings.out
    return disturbances(
        read_stats_log(folder / file_names.SENDER_STATS),
        read_link_log(folder / file_names.LINK_LOG, "forward"),
        settings.frames_per_second,
        measures.about["media_start_us"],
        measures.about["end_us"],
    )


def _versions(ready: Mapping[str, Any]) -> dict[str, str]:
    versions: dict[str, str] = {}
    for message in ready.values():
        found = message.get("versions") if isinstance(message, Mapping) else None
        if isinstance(found, Mapping):
            versions |= {str(name): str(version)[:200] for name, version in found.items()}
    return versions
