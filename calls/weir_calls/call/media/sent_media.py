"""The media of virtual calls: the video and the speech of `weir call`. See `weir_eval.runs.call_media`."""

from __future__ import annotations

from dataclasses import replace

from weir_calls.call.media.plcmos import check_plcmos
from weir_calls.call.media.rendered_media import run_and_measure
from weir_calls.call.media.source_speech import source_speech_path
from weir_calls.call.media.source_video import source_video_path
from weir_calls.call.media.visqol import check_visqol
from weir_calls.requirements import find_ffmpeg
from weir_eval.runs.call_media import CallMedia


def with_sources(media: CallMedia) -> CallMedia:
    """The media with their files: the video, and with `vmaf` the speech. Makes missing files.

    Raises:
        InputError: the size is not supported, or a file cannot be written.
        MissingComponent: a program that makes the speech or measures rendered media is not installed.
    """
    sent = replace(media, video=source_video_path(media.width, media.height))
    if not media.vmaf:
        return sent
    find_ffmpeg()
    check_visqol()
    check_plcmos()
    return replace(sent, speech=source_speech_path(), run=run_and_measure)
