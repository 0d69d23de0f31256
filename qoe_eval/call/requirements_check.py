"""What a call needs of this machine, asked before anything starts."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from weir.installation import how_to_get
from weir.qoe_eval.call.call_settings import CHROMIUM, SenderKind
from weir.qoe_eval.call.peer_process import find_peer
from weir.traces.errors import MissingComponent
from weir.trainer.gym.process import find_simulator

_TUN = Path("/dev/net/tun")


def missing_requirements(sender: SenderKind) -> list[str]:
    """What is not there, each with how to mend it; empty when a call can be made."""
    missing = []
    if os.geteuid() != 0:
        missing.append("root, for network namespaces: run the same command with sudo, or in a privileged container")
    if not os.access(_TUN, os.R_OK | os.W_OK):
        missing.append(f"{_TUN}, for the link: modprobe tun; in a container, add --device {_TUN} --cap-add NET_ADMIN")
    if shutil.which("ip") is None:
        missing.append("ip, for network namespaces: apt-get install iproute2")
    if sender == "chromium":
        if not os.access(CHROMIUM, os.X_OK):
            missing.append(f"{CHROMIUM}: apt-get install chromium; or call with --sender native")
        if shutil.which("setpriv") is None:
            missing.append("setpriv: apt-get install util-linux")
    for find in (find_peer, find_simulator):
        try:
            find()
        except MissingComponent as error:
            missing.append(str(error))
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        get_ffmpeg_exe()
    except (ImportError, RuntimeError):
        missing.append(f"ffmpeg with libvmaf: {how_to_get('build', 'imageio-ffmpeg')}")
    return missing


def check_requirements(sender: SenderKind) -> None:
    """Nothing, when a call can be made.

    Raises:
        MissingComponent: one message with everything that is not there.
    """
    missing = missing_requirements(sender)
    if missing:
        raise MissingComponent("a call cannot be made here; not there:\n" + "\n".join(f"  - {one}" for one in missing))
