"""Checks that this machine has everything that a link or a call needs, before anything starts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

from weir.errors import MissingComponent
from weir.installation import how_to_get
from weir.qoe_eval.link.namespaces import CallNamespaces, NamespacesFailed
from weir.simulator.executables import find_peer, find_simulator

CHROMIUM = "/usr/bin/chromium"


def check_link_requirements() -> None:
    """Raises MissingComponent with everything that a link lacks."""
    _check("a link", [*_missing(find_link_devices), *_missing(find_simulator)])


def check_requirements(*ends: str) -> None:
    """Raises MissingComponent with everything that a call between ends (`chromium`, `native`) lacks."""
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
    return [*missing, *(one for find in (find_peer, find_simulator, find_ffmpeg) for one in _missing(find))]


def find_ffmpeg() -> Path:
    """The ffmpeg of imageio-ffmpeg. Raises MissingComponent where that is not installed."""
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return Path(get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        raise MissingComponent(f"ffmpeg with libvmaf: {how_to_get('webrtc', 'imageio-ffmpeg')}") from None


def find_link_devices() -> str:
    """The kind of devices that a link has here. Raises MissingComponent where this user may make none."""
    try:
        with CallNamespaces() as namespaces:
            return namespaces.devices
    except NamespacesFailed as error:
        raise MissingComponent(str(error)) from None


def _missing(find: Callable[[], object]) -> list[str]:
    try:
        find()
    except MissingComponent as error:
        return [str(error)]
    return []


def _check(what: str, missing: Sequence[str]) -> None:
    if missing:
        listed = "\n".join(f"  - {one}" for one in missing)
        raise MissingComponent(f"{what} cannot be made here; missing:\n{listed}")
