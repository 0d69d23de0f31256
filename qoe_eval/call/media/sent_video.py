"""The video that virtual calls send."""

from __future__ import annotations

from dataclasses import replace

from weir.qoe_eval.call.media.source_video import source_video_path
from weir.qoe_eval.runs.call_media import CallMedia, Encoder


def with_source_video(media: CallMedia) -> CallMedia:
    """The media with the video of `weir call`, which is made where it is missing.

    Raises:
        InputError: the size cannot be made, or the file not written.
    """
    if media.encoder is Encoder.FAKE:
        return media
    return replace(media, video=source_video_path(media.width, media.height))
