"""Where the videos that calls send are kept: made once a size, in the user's cache."""

from __future__ import annotations

import os
from pathlib import Path

from weir.qoe_eval.call.media import source_video


def source_video_path(width: int, height: int) -> Path:
    """The video of a size; made now (some seconds) unless it is there.

    Raises:
        InputError: it cannot be made, or not written.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return source_video.make(cache / "weir", width, height)
