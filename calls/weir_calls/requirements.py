"""Checks that this machine meets all requirements of a link or a call before anything starts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

from weir_calls.link.namespaces import CallNamespaces
from weir_cli.errors import ComponentFailed, MissingComponent
from weir_cli.installation import how_to_get
from weir_sim.executables import find_peer, find_simulator

CHROMIUM = "/usr/bin/chromium"


def check_link_requirements() -> None:
    """Raises MissingComponent with everything that a link lacks."""
    _check("a link", _missing(find_link_devices, find_simulator))


def check_requirements(*ends: str) -> None:
    """Raises MissingComponent with all unmet requirements of a call between ends (`chromium`, `native`)."""
    _check("a call", missing_requirements(*ends))


def missing_requirements(*ends: str) -> list[str]:
    """The missing requirements of a call, each with its remedy."""
    missing = _missing(find_link_devices)
    if "chromium" in ends:
        if not os.access(CHROMIUM, os.X_OK):
            missing.append(f"{CHROMIUM}: apt-get install chromium; or call with --sender native")
        if shutil.which("setpriv") is None:
            missing.append("setpriv: apt-get install util-linux")
        if find_spec("playwright") is None:
            missing.append(f"playwright: {how_to_get('webrtc', 'playwright')}")
    return [*missing, *_missing(find_peer, find_simulator, find_ffmpeg)]


def find_link_devices() -> str:
    """The kind of devices that a link has here. Raises MissingComponent where this user may make none."""
    try:
        with CallNamespaces() as namespaces:
            return namespaces.devices
    except ComponentFailed as error:
        raise MissingComponent(str(error)) from None


def find_ffmpeg() -> Path:
    """The ffmpeg of imageio-ffmpeg. Raises MissingComponent if that is not installed."""
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return Path(get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        raise MissingComponent(f"ffmpeg with libvmaf: {how_to_get('webrtc', 'imageio-ffmpeg')}") from None


def _missing(*finds: Callable[[], object]) -> list[str]:
    """Calls the functions, and returns what each lacks, with its remedy."""
    missing = []
    for find in finds:
        try:
            find()
        except MissingComponent as error:
            missing.append(str(error))
    return missing


def _check(purpose: str, missing: Sequence[str]) -> None:
    """Raises MissingComponent that lists what is lacking for a link or call, if anything is."""
    if missing:
        listed = "\n".join(f"  - {requirement}" for requirement in missing)
        raise MissingComponent(f"{purpose} cannot be made here; missing:\n{listed}")
