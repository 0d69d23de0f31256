"""Under sudo, changes from root to the calling user, with the permission for user namespaces and real-time priority.

Thus sudo permits both on machines where the kernel forbids them to ordinary users.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pwd
import resource
import sys

from weir_cli.errors import InputError, MissingComponent

_PR_SET_KEEPCAPS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE = 8, 47, 2
_CAPABILITY_VERSION_3 = 0x20080522
_CAP_SYS_ADMIN = 21
# The link's real-time priority, which ordinary users may not have.
_HIGHEST_PRIORITY = 2

_libc = ctypes.CDLL(None, use_errno=True)


def become_caller() -> None:
    """Permanently becomes the user who called sudo, with that user's groups, home and shell. Does nothing without sudo.

    Commands that run programs call it first, before they open a file.

    Raises:
        InputError: SUDO_UID is not a user of this machine.
        MissingComponent: that user cannot read Weir.
    """
    number = os.environ.get("SUDO_UID", "0")
    if os.geteuid() != 0 or number == "0":
        return
    try:
        user = pwd.getpwuid(int(number))
    except (ValueError, KeyError, OverflowError):
        raise InputError(f"SUDO_UID is {number!r}, which is no user of this machine") from None
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_RTPRIO, (_HIGHEST_PRIORITY,) * 2)
    _libc.prctl(_PR_SET_KEEPCAPS, 1, 0, 0, 0)
    os.initgroups(user.pw_name, user.pw_gid)
    os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
    os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)
    # Permitted and inheritable, not effective.
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    _libc.capset(header, (ctypes.c_uint32 * 6)(0, 1 << _CAP_SYS_ADMIN, 1 << _CAP_SYS_ADMIN, 0, 0, 0))
    for path in (sys.executable, __file__):
        if not os.access(path, os.R_OK):
            raise MissingComponent(
                f"the user {user.pw_name}, who called sudo, cannot read {path}: install Weir in a folder of that user, "
                "or unset SUDO_UID to be root"
            )
    os.environ |= {
        "HOME": user.pw_dir,
        "USER": user.pw_name,
        "LOGNAME": user.pw_name,
        "SHELL": user.pw_shell or "/bin/sh",
    }


def pass_on_permission() -> None:
    """For `preexec_fn`: permits the executed program to create user namespaces, if this process has the permission."""
    _libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, _CAP_SYS_ADMIN, 0, 0)
