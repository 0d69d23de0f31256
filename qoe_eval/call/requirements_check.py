"""What a call needs of this machine, asked before anything starts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from weir.errors import MissingComponent
from weir.executables import find_peer, find_simulator
from weir.installation import how_to_get
from weir.qoe_eval.call.settings import CHROMIUM, ReceiverKind, SenderKind

_TUN = Path("/dev/net/tun")


def missing_for_link() -> list[str]:
    """What the emulated link lacks, each with how to mend it."""
    return [*_missing_of_the_system(), *_missing_program(find_simulator)]


def _missing_of_the_system() -> list[str]:
    missing = []
    if os.geteuid() != 0:
        missing.append("root, for network namespaces: run the same command with sudo, or in a privileged container")
    if not os.access(_TUN, os.R_OK | os.W_OK):
        missing.append(f"{_TUN}, for the link: modprobe tun; in a container, add --device {_TUN} --cap-add NET_ADMIN")
    if shutil.which("ip") is None:
        missing.append("ip, for network namespaces: apt-get install iproute2")
    return missing


def missing_requirements(sender: SenderKind, receiver: ReceiverKind = "native") -> list[str]:
    """What is not there, each with how to mend it; empty when a call can be made."""
    missing = _missing_of_the_system()
    if "chromium" in (sender, receiver):
        if not os.access(CHROMIUM, os.X_OK):
            missing.append(f"{CHROMIUM}: apt-get install chromium; or call with --sender native")
        if shutil.which("setpriv") is None:
            missing.append("setpriv: apt-get install util-linux")
    missing += [*_missing_program(find_peer), *_missing_program(find_simulator)]
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        get_ffmpeg_exe()
    except (ImportError, RuntimeError):
        missing.append(f"ffmpeg with libvmaf: {how_to_get('build', 'imageio-ffmpeg')}")
    return missing


def check_requirements(sender: SenderKind, receiver: ReceiverKind = "native") -> None:
    """Nothing, when a call can be made.

    Raises:
        MissingComponent: one message with everything that is not there.
    """
    _complain("a call", missing_requirements(sender, receiver))


def check_link_requirements() -> None:
    """The same of the link alone."""
    _complain("a link", missing_for_link())


def _complain(what: str, missing: Sequence[str]) -> None:
    if missing:
        listed = "\n".join(f"  - {one}" for one in missing)
        raise MissingComponent(f"{what} cannot be made here; not there:\n{listed}")


def _missing_program(find: Callable[[], Path]) -> list[str]:
    try:
        find()
    except MissingComponent as error:
        return [str(error)]
    return []
