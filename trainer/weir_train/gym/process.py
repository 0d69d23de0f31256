"""One `weir-sim serve` child process and the frames exchanged with it (simulator/README.md) over a socket.

Every wait has a time limit. A child that dies, hangs or answers invalid data raises a `ComponentFailed` with the cause
and the last lines of its standard error.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import subprocess
import tempfile
import weakref
from collections.abc import Mapping
from typing import IO, Any, Final

from weir_cli.errors import ComponentFailed, InputError
from weir_sim.child_process import end, exit_text, last_words
from weir_sim.executables import find_simulator

_HEADER: Final = struct.Struct("<IB")
_MAXIMUM_PAYLOAD_BYTES: Final = 1024 * 1024
_NOTHING: Final = memoryview(bytearray())

_live: weakref.WeakSet[SimulatorProcess] = weakref.WeakSet()


class SimulatorRefusal(InputError):
    """The simulator works but refuses the request (a scenario it cannot run, an unknown feature)."""


def frame(kind: bytes, payload: bytes) -> bytes:
    """Returns a frame of the type `kind`, one byte."""
    return _HEADER.pack(len(payload), ord(kind)) + payload


class SimulatorProcess:
    """A running `weir-sim serve`, owned by the Python process that made it.

    After a `ComponentFailed` the child is gone (`alive` is false), and the object cannot be used again.
    """

    alive = False

    def __init__(self, executable: str | os.PathLike[str] | None = None, timeout_s: float = 10.0) -> None:
        """
        Args:
            executable: see `find_simulator`.
            timeout_s: time limit for one answer.

        Raises:
            MissingComponent: there is no simulator.
            ComponentFailed: it cannot be started.
        """
        path = find_simulator(executable)
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
        self._socket, of_child = socket.socketpair()
        self._socket.settimeout(timeout_s)
        self._header = memoryview(bytearray(_HEADER.size))
        with of_child:
            try:
                self._child = subprocess.Popen(
                    [path, "serve"],
                    stdin=of_child.fileno(),
                    stdout=of_child.fileno(),
                    stderr=self._stderr,
                    process_group=0,  # a Ctrl-C on the terminal is for this program, which then ends the child
                )
            except OSError as error:
                self._release()
                raise ComponentFailed(f"the simulator {path} cannot be started: {error.strerror}") from error
        self.alive = True
        _live.add(self)

    def send(self, frame: bytes | memoryview) -> None:
        """Writes one whole frame.

        Raises:
            ComponentFailed: the child is gone, or does not read within the time limit.
        """
        try:
            self._socket.sendall(frame)
        except TimeoutError:
            raise self.failure(f"it has not read its input for {self._socket.gettimeout():g} s") from None
        except OSError:
            raise self._ended() from None

    def receive(self, kind: bytes, payload: memoryview | None = None) -> memoryview:
        """Returns the payload of the next frame, which must be of this type.

        Args:
            kind: one byte.
            payload: filled with the frame's payload, which must have its size. None: any size, in new memory.

        Raises:
            ComponentFailed: the child is gone, does not answer within the time limit, or sends another frame.
            SimulatorRefusal: the simulator answered with an error message.
        """
        # Most frames arrive whole.
        count = self._read(self._header, _NOTHING if payload is None else payload) - _HEADER.size
        if count < 0:
            self._fill(self._header[count:])
            count = 0
        length, found = _HEADER.unpack(self._header)
        refused = found == ord("E")
        fits = refused or payload is None or len(payload) == length
        if not (refused or found == ord(kind)) or not fits or not count <= length <= _MAXIMUM_PAYLOAD_BYTES:
            raise self.failure(f"its answer is not the protocol's (frame type {found:#04x}, {length} bytes)")
        if refused or payload is None:
            start, payload = payload, memoryview(bytearray(length))
            if start is not None:
                payload[:count] = start[:count]
        self._fill(payload[count:])
        if refused:
            raise SimulatorRefusal(f"the simulator refuses: {bytes(payload).decode('utf-8', 'replace')}")
        return payload

    def begin_episode(self, request: Mapping[str, Any]) -> None:
        """Sends the request of an episode; `greeting` and the first observation answer it."""
        self.send(frame(b"R", json.dumps(request, separators=(",", ":"), allow_nan=False).encode()))

    def greeting(self) -> tuple[int, tuple[str, ...]]:
        """Returns the length of the episode's observations and its step fields.

        Raises:
            ComponentFailed, SimulatorRefusal: as `receive`.
        """
        payload = bytes(self.receive(b"C"))
        try:
            greeting = json.loads(payload)
            return greeting["observation_size"], tuple(greeting["step_fields"])
        except (ValueError, TypeError, KeyError):
            raise self.failure(f"it answered the request of an episode with {payload[:200]!r}") from None

    def failure(self, reason: str) -> ComponentFailed:
        """Ends the child and gives the error to raise."""
        end(self._child, 0)
        last = last_words(self._stderr)
        self._release()
        return ComponentFailed(f"the simulator failed: {reason}{last}")

    def close(self) -> None:
        """Closes the child's input, kills it after half a second, and waits for it. Does nothing in a forked copy."""
        if self.alive:
            self._socket.close()
            end(self._child, 0.5)
            self._release()

    def _fill(self, view: memoryview) -> None:
        while len(view):
            view = view[self._read(view) :]

    def _read(self, *views: memoryview) -> int:
        """Reads what has arrived, at least a byte, into the views one after the other."""
        try:
            count = self._socket.recvmsg_into(views)[0]
        except TimeoutError:
            raise self.failure(f"no answer for {self._socket.gettimeout():g} s") from None
        except OSError:
            count = 0
        if count == 0:
            raise self._ended()
        return count

    def _ended(self) -> ComponentFailed:
        """The error to raise when the child closed its end: how it ended and what it wrote last."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(1.0)
        status = self._child.returncode
        return self.failure("it closed its output without ending" if status is None else f"it {exit_text(status)}")

    def _release(self) -> None:
        self.alive = False
        self._socket.close()
        self._stderr.close()

    def __del__(self) -> None:
        self.close()


def _forget_in_forked_child() -> None:
    """Keeps a forked copy from ending its parent's simulators, or holding their sockets open (they would outlive the
    parent).
    """
    for process in list(_live):
        if process.alive:
            process._child.returncode = 0  # the copy is not the parent of the child and must not wait for it
            process._release()


os.register_at_fork(after_in_child=_forget_in_forked_child)
