"""Checks that this machine meets all requirements of a call before anything starts."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

from weir.errors import MissingComponent
from weir.installation import how_to_get
from weir.qoe_eval.link.link_requirements import check, find_link_devices, missing
from weir.simulator.executables import find_peer, find_simulator

CHROMIUM = "/usr/bin/chromium"


def check_requirements(*ends: str) -> None:
    """Raises MissingComponent with all unmet requirements of a call between ends (`chromium`, `native`)."""
    check("a call", missing_requirements(*ends))


def missing_requirements(*ends: str) -> list[str]:
    """The missing requirements of a call, each with its remedy."""
    lacking = missing(find_link_devices)
    if "chromium" in ends:
        if not os.access(CHROMIUM, os.X_OK):
            lacking.append(f"{CHROMIUM}: apt-get install chromium; or call with --sender native")
        if shutil.which("setpriv") is None:
            lacking.append("setpriv: apt-get install util-linux")
        if find_spec("playwright") is None:
            lacking.append(f"playwright: {how_to_get('webrtc', 'playwright')}")
    return [*lacking, *missing(find_peer, find_simulator, find_ffmpeg)]


def find_ffmpeg() -> Path:
    """The ffmpeg of imageio-ffmpeg. Raises MissingComponent if that is not installed."""
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return Path(get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        raise MissingComponent(f"ffmpeg with libvmaf: {how_to_get('webrtc', 'imageio-ffmpeg')}") from None
