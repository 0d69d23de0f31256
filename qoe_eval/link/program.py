"""A user's program in a network namespace of a link: its command line and its environment."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping, Sequence
from pathlib import Path

from weir.errors import InputError
from weir.files.output import make_folder


def program_in(
    namespace: str, command: Sequence[str], local: str, far: str, more: Mapping[str, str] | None = None
) -> tuple[list[str], dict[str, str]]:
    """Returns the command line and the environment of a program at one end of a link.

    It runs as the user who called sudo and finds the addresses of both ends as WEIR_LINK_LOCAL and WEIR_LINK_FAR.

    Args:
        namespace: the network namespace.
        command: empty: the user's shell.
        local: address of this end.
        far: address of the other end.
        more: further variables.

    Raises:
        InputError: SUDO_UID is no user of this machine.
    """
    user = _sudo_user()
    shell = (user.pw_shell if user else os.environ.get("SHELL")) or "/bin/sh"
    environment = {**os.environ, "WEIR_LINK_LOCAL": local, "WEIR_LINK_FAR": far, **(more or {})}
    line = ["ip", "netns", "exec", namespace]
    if user:
        line += ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--init-groups", "--"]
        environment |= {"HOME": user.pw_dir, "USER": user.pw_name, "LOGNAME": user.pw_name, "SHELL": shell}
    return [*line, *(command or [shell])], environment


def make_folder_of_programs(folder: Path) -> None:
    """Makes a folder in which `program_in`'s programs may write.

    Raises:
        InputError: it cannot be made, or SUDO_UID is no user of this machine.
    """
    make_folder(folder)
    user = _sudo_user()
    if user:
        os.chown(folder, user.pw_uid, user.pw_gid)


def _sudo_user() -> pwd.struct_passwd | None:
    number = os.environ.get("SUDO_UID", "0")
    try:
        return pwd.getpwuid(int(number)) if int(number) else None
    except (ValueError, KeyError, OverflowError):
        raise InputError(f"SUDO_UID is {number!r}, which is no user of this machine") from None
