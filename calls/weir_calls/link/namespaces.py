"""The networks of the two ends of a link, in their own namespaces, which do not require root.

They share a PID namespace, so that all processes in them end with them. `namespace_holder.py` makes them, and removes
them if this process is killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from weir_calls.link.leftovers import finish
from weir_calls.link.sudo import pass_on_permission
from weir_cli.errors import ComponentFailed, MissingComponent

LEFT_ADDRESS = "10.211.0.1"
RIGHT_ADDRESS = "10.211.0.2"
_HOLDER = Path(__file__).with_name("namespace_holder.py")
_ENTER = Path(__file__).with_name("enter.py")
_SCRIPT = (sys.executable, "-I", "-S")
_LARGEST_ANSWER_BYTES = 4096
# The first process in the PID namespace; for each network its namespace, its device and a TCP socket.
_DESCRIPTORS = 1 + 2 * 3
_START_LIMIT_S = 20.0
_END_LIMIT_S = 5.0
_REMEDY = (
    "allow them to your user (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces=10000), run the "
    "command with sudo, or the container with --cap-add SYS_ADMIN --security-opt apparmor=unconfined"
)


@dataclass(frozen=True)
class Network:
    """The network of one end: loopback and a device with `address`; `device` is its descriptor, for `weir-sim link`."""

    address: str
    _network: int
    device: int
    _tcp: int
    _enter: tuple[str, ...]

    def command(self, words: Sequence[str]) -> list[str]:
        """Returns a command line that runs `words` in this network, as the same user without privileges. It forwards
        SIGTERM, and the program dies with it.
        """
        return [*self._enter, *words]

    def program(self, far: Network, words: Sequence[str], **more: str) -> tuple[list[str], dict[str, str]]:
        """Returns such a line for a program of the user, by default the shell, and the program's environment, in which
        WEIR_LINK_LOCAL and WEIR_LINK_FAR are the addresses of both ends, with `more` variables.
        """
        line = self.command(words or [os.environ.get("SHELL") or "/bin/sh"])
        return line, {**os.environ, "WEIR_LINK_LOCAL": self.address, "WEIR_LINK_FAR": far.address, **more}

    def listening_socket(self) -> socket.socket:
        """A TCP socket that listens on a free port of 127.0.0.1 in this network. Can be called once."""
        return listening(socket.socket(fileno=os.dup(self._tcp)))

    def processes(self) -> Iterator[int]:
        """The processes in this network."""
        wanted = os.fstat(self._network)
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdecimal() and os.path.samestat((entry / "ns/net").stat(), wanted):
                    yield int(entry.name)


class CallNamespaces:
    """The networks `left`, of the sender, and `right`, of the receiver, not yet connected.

    Use it as a context manager, or in asyncio call `create` and `remove`. `devices`: the kind of their devices.
    """

    left: Network
    right: Network
    devices: str

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._holder: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._descriptors: list[int] = []

    async def create(self) -> None:
        """Creates the networks.

        Raises:
            MissingComponent: this user may not create them on this machine.
            ComponentFailed: the holder was killed, or hangs.
        """
        try:
            await finish(asyncio.to_thread(self._create))
        except BaseException:
            await self.remove()
            raise

    async def remove(self) -> None:
        """Removes the networks with every process in them; does nothing if there are none.

        Raises:
            ComponentFailed: a process does not end.
        """
        await finish(asyncio.to_thread(self._remove))

    def __enter__(self) -> CallNamespaces:
        try:
            self._create()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        # If the user interrupts this, the holder does the rest.
        self._remove()

    def _create(self) -> None:
        self._control, holder_socket = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with holder_socket:
            self._holder = subprocess.Popen(
                [*_SCRIPT, str(_HOLDER), str(holder_socket.fileno()), LEFT_ADDRESS, RIGHT_ADDRESS],
                pass_fds=[holder_socket.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                # Ctrl-C at the terminal is for this program and the programs that it runs.
                start_new_session=True,
                preexec_fn=pass_on_permission,
            )
        self._control.settimeout(_START_LIMIT_S)
        try:
            text, self._descriptors, *_ = socket.recv_fds(
                self._control, _LARGEST_ANSWER_BYTES, _DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
            )
        except TimeoutError:
            text = b""
        if not text:
            raise ComponentFailed("what makes the namespaces of the link was killed, or hangs")
        answer = json.loads(text)
        if "error" in answer:
            raise MissingComponent(f"user and network namespaces cannot be made here ({answer['error']}): {_REMEDY}")
        self.devices = answer["devices"]
        init, left_network, left_device, left_tcp, right_network, right_device, right_tcp = self._descriptors
        enter = [
            (*_SCRIPT, str(_ENTER), _process_of(init), ",".join(map(str, descriptors)))
            for descriptors in answer["namespaces"]
        ]
        self.left = Network(LEFT_ADDRESS, left_network, left_device, left_tcp, enter[0])
        self.right = Network(RIGHT_ADDRESS, right_network, right_device, right_tcp, enter[1])

    def _remove(self) -> None:
        # A forked copy does not own the namespaces.
        if self._holder is None or self._control is None or os.getpid() != self._owner:
            return
        ended = True
        if self._descriptors:
            init = self._descriptors[0]
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(init, signal.SIGKILL)
            # The first process ends after every other process in the namespace.
            ended = bool(select.select([init], [], [], _END_LIMIT_S)[0])
        with contextlib.suppress(OSError):
            self._control.send(b".")
        self._control.close()
        try:
            self._holder.wait(_END_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._holder.kill()
            self._holder.wait()
        self._holder = None
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors = []
        if not ended:
            raise ComponentFailed("a process in the networks of the link does not end")


def _process_of(descriptor: int) -> str:
    """The process ID of a pidfd, in this process's PID namespace."""
    lines = Path(f"/proc/self/fdinfo/{descriptor}").read_text(encoding="ascii").splitlines()
    return next(line.split()[1] for line in lines if line.startswith("Pid:"))


def listening(unbound: socket.socket) -> socket.socket:
    """Makes a TCP socket listen on a free port of 127.0.0.1 of its network."""
    unbound.bind(("127.0.0.1", 0))
    unbound.listen()
    unbound.setblocking(False)
    return unbound
