"""A pair of network namespaces, removed with every process in them when the call ends, however it ends.

The reaper of a killed run removes its namespaces, or else the next run does. The name of a namespace identifies the
process that made it, so that namespaces of live runs stay.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import itertools
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any

from weir.errors import MissingComponent
from weir.qoe_eval.link.leftovers import OWNER_PATTERN, finish, is_dead, this_process

FOLDER = Path("/run/netns")
_SIDES = ("left", "right")
_NAME = re.compile(rf"weir-(?P<owner>{OWNER_PATTERN})-(\d+)-(?:left|right)")
_CLONE_NEWNET = 0x40000000
_COMMAND_LIMIT_S = 20.0
_KILL_LIMIT_S = 2.0
# Their default action ends this process without a chance to remove anything.
_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
# New devices get no IPv6, whose announcements would cross the link like the call's own packets. An unprivileged
# container has a read-only /proc/sys; the mount made here ends with the shell.
_SET_UP = """
ip link set lo up
f=/proc/sys/net/ipv6/conf/default/disable_ipv6
[ ! -e $f ] || { echo 1 > $f; } 2>/dev/null || { mount -t proc proc /proc && echo 1 > $f; }
"""
_numbers = itertools.count()


class NamespacesFailed(RuntimeError):
    """Namespaces could not be made or removed."""


class CallNamespaces:
    """Two namespaces, `left` for the sender and `right` for the receiver; each has only a loopback device.

    Use it as a context manager, or in asyncio call `create` and `remove`. Meanwhile SIGTERM and SIGHUP raise SystemExit
    in the main thread.
    """

    def __init__(self) -> None:
        number = next(_numbers)
        self.left, self.right = (f"weir-{this_process()}-{number}-{side}" for side in _SIDES)
        self._owner = os.getpid()
        self._replaced: dict[signal.Signals, Any] = {}

    async def create(self) -> None:
        """Makes them.

        Raises:
            MissingComponent: not root, no `ip`, or the kernel refuses.
            NamespacesFailed: `ip` was killed, or hangs.
        """
        self._take_signals()
        try:
            await finish(asyncio.to_thread(self._create))
        except BaseException:
            await self.remove()
            raise

    async def remove(self) -> None:
        """Removes them; does nothing if there are none."""
        try:
            await finish(asyncio.to_thread(self._remove))
        finally:
            self._return_signals()

    def __enter__(self) -> CallNamespaces:
        self._take_signals()
        try:
            self._create()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        # Not interrupted half-way by an impatient user.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *_SIGNALS})
        try:
            self._remove()
            self._return_signals()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    def _create(self) -> None:
        if os.geteuid() != 0:
            raise MissingComponent("network namespaces need root: run the same command with sudo")
        if shutil.which("ip") is None:
            raise MissingComponent("network namespaces need the command `ip`: apt-get install iproute2")
        remove_leftovers()
        for name in (self.left, self.right):
            _ip("netns", "add", name)
            _ip("netns", "exec", name, "sh", "-c", _SET_UP)

    def _remove(self) -> None:
        # A forked copy owns nothing.
        if os.getpid() == self._owner:
            for name in (self.left, self.right):
                _remove(name)

    def _take_signals(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        for number in _SIGNALS:
            if signal.getsignal(number) == signal.SIG_DFL:
                self._replaced[number] = signal.signal(number, _end_orderly)

    def _return_signals(self) -> None:
        if threading.current_thread() is threading.main_thread():
            while self._replaced:
                number, handler = self._replaced.popitem()
                if signal.getsignal(number) is _end_orderly:
                    signal.signal(number, handler)


def remove_leftovers() -> list[str]:
    """Removes the namespaces of dead runs, kills the processes in them, and returns their names."""
    with contextlib.suppress(FileNotFoundError):
        names = sorted(entry.name for entry in FOLDER.iterdir() if _is_leftover(entry.name))
        for name in names:
            _remove(name)
        return names
    return []


def processes_in(name: str) -> Iterator[int]:
    """The processes in the namespace of that name, except this one."""
    with contextlib.suppress(OSError):
        wanted = _identity(FOLDER / name)
        if wanted == _identity(Path("/proc/self/ns/net")):
            return
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdecimal() and _identity(entry / "ns/net") == wanted:
                    yield int(entry.name)


def _is_leftover(name: str) -> bool:
    match = _NAME.fullmatch(name)
    return match is not None and is_dead(match["owner"])


def _remove(name: str) -> None:
    """Removes it in whatever state it is; another process may be removing it at the same time."""
    if not (FOLDER / name).exists():
        return
    deadline_s = time.monotonic() + _KILL_LIMIT_S
    while (processes := list(processes_in(name))) and time.monotonic() < deadline_s:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.01)
    try:
        _ip("netns", "del", name)
    except (MissingComponent, NamespacesFailed):
        if (FOLDER / name).exists():
            raise


def _ip(*arguments: str) -> None:
    try:
        # In a session of its own: Ctrl-C at the terminal is for this program, which then removes what it has made.
        subprocess.run(
            ["ip", *arguments], capture_output=True, text=True, timeout=_COMMAND_LIMIT_S, check=True,
            stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        reason = getattr(error, "stderr", None) or str(error)
        text = f"`ip {' '.join(arguments[:3])}` failed: {str(reason).strip()}"
        # A kernel that refuses neither kills it nor lets it hang.
        broke = isinstance(error, subprocess.TimeoutExpired) or getattr(error, "returncode", 1) < 0
        raise (NamespacesFailed if broke else MissingComponent)(text) from error


def _end_orderly(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


def listening_socket(namespace: str | None) -> socket.socket:
    """A TCP socket that listens on a free port of 127.0.0.1 in the namespace of that name (None: this process's own).

    A socket stays in the namespace it was made in. Raises OSError if the namespace cannot be entered.
    """
    if namespace is None:
        return _listen()
    # A thread of its own enters the namespace and ends there, so that no other work runs in it.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_enter_and_listen, namespace).result()


def _enter_and_listen(namespace: str) -> socket.socket:
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = os.open(FOLDER / namespace, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if libc.setns(descriptor, _CLONE_NEWNET) != 0:
            error = ctypes.get_errno()
            raise OSError(error, f"cannot enter the network namespace {namespace}: {os.strerror(error)}")
    finally:
        os.close(descriptor)
    return _listen()


def _listen() -> socket.socket:
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setblocking(False)
    return listening
