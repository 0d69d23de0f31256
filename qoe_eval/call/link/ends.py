"""The programs at the two ends of `weir link`: how they are started, in whose name, and what they find."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pwd
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from weir.errors import InputError
from weir.qoe_eval.runs.simulator_worker import die_with_parent

# Established connections and others have other states.
_TCP_LISTENS = "0A"
_LISTEN_LIMIT_S = 5.0
_LISTEN_POLL_S = 0.02


class LinkEnd:
    """A program in one of the namespaces, with this terminal; it is in the group of processes that the terminal's
    Ctrl-C reaches. It runs as the user who called sudo.
    """

    def __init__(self, namespace: str, command: Sequence[str], local: str, far: str) -> None:
        """Nothing starts yet.

        Args:
            namespace: where it runs.
            command: with its arguments; none: the user's shell.
            local: its own address, which it finds as WEIR_LINK_LOCAL.
            far: the address of the other end, WEIR_LINK_FAR.

        Raises:
            InputError: SUDO_UID names no user.
        """
        user = _sudo_user()
        shell = (user.pw_shell if user else os.environ.get("SHELL")) or "/bin/sh"
        self._environment = os.environ | {"WEIR_LINK_LOCAL": local, "WEIR_LINK_FAR": far}
        self._command = ["ip", "netns", "exec", namespace]
        if user:
            self._command += ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--init-groups", "--"]
            self._environment |= {"HOME": user.pw_dir, "USER": user.pw_name, "LOGNAME": user.pw_name, "SHELL": shell}
        self._command += command or [shell]
        self._process: asyncio.subprocess.Process | None = None

    async def start(self, *, quiet: bool = False) -> None:
        """Starts it; `quiet`: it reads nothing, and all that it says goes to standard error."""
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.DEVNULL if quiet else None,
            stdout=2 if quiet else None,
            env=self._environment,
            preexec_fn=die_with_parent,
        )

    async def wait(self) -> int:
        """Its exit status, as a shell has it: 128 and the signal's number where one ended it."""
        assert self._process is not None
        status = await self._process.wait()
        return 128 - status if status < 0 else status

    async def wait_until_it_listens(self) -> bool:
        """Waits until it has a socket for others to come to, or has ended; False when neither was the case soon."""
        assert self._process is not None
        deadline_s = time.monotonic() + _LISTEN_LIMIT_S
        while self._process.returncode is None and not _anyone_listens(self._process.pid):
            if time.monotonic() > deadline_s:
                return False
            await asyncio.sleep(_LISTEN_POLL_S)
        return True

    async def stop(self) -> None:
        """Ends it when it still runs. What it has started ends with its namespace."""
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                await asyncio.wait_for(self._process.wait(), 1.0)
            except TimeoutError:
                self._process.kill()
                await self._process.wait()


def _sudo_user() -> pwd.struct_passwd | None:
    number = os.environ.get("SUDO_UID", "0")
    try:
        return pwd.getpwuid(int(number)) if int(number) else None
    except (ValueError, KeyError, OverflowError):
        raise InputError(f"SUDO_UID is {number!r}, which is no user of this machine") from None


def _anyone_listens(process: int) -> bool:
    """In the network of that process: a TCP socket that listens, or any UDP socket."""
    # It may end meanwhile.
    with contextlib.suppress(OSError, ValueError):
        if os.readlink(f"/proc/{process}/ns/net") == os.readlink("/proc/self/ns/net"):
            return False
        for name in ("tcp", "tcp6", "udp", "udp6"):
            _, *sockets = Path(f"/proc/{process}/net/{name}").read_text(encoding="ascii").splitlines()
            if any(name.startswith("udp") or line.split()[3] == _TCP_LISTENS for line in sockets):
                return True
    return False
