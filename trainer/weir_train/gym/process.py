"""One `weir-sim serve` child process and the frames exchanged with it.

A frame is a little-endian u32 payload length, a u8 type and the payload. Every wait has a time limit. A child that
dies, hangs or answers invalid data raises a `ComponentFailed` with the cause and the last lines of its standard error.
"""

from __future__ import annotations

import contextlib
import os
import select
import struct
import subprocess
import tempfile
import time
import weakref
from typing import IO

from weir_cli.errors import ComponentFailed, InputError
from weir_sim.child_process import end, exit_text, last_words
from weir_sim.executables import find_simulator

FRAME_HEADER = struct.Struct("<IB")
# Limit for the length of a reply.
MAXIMUM_PAYLOAD_BYTES = 1024 * 1024

_live: weakref.WeakSet[SimulatorProcess] = weakref.WeakSet()


class SimulatorRefusal(InputError):
    """The simulator works but refuses the request (a scenario it cannot run, an unknown feature)."""


class SimulatorProcess:
    """A running `weir-sim serve`, owned by the Python process that made it.

    After a `ComponentFailed` the child is gone (`alive` is false), and the object cannot be used again.
    """

    def __init__(self, executable: str | os.PathLike[str] | None = None, timeout_s: float = 10.0) -> None:
        """
        Args:
            executable: see `find_simulator`.
            timeout_s: time limit for one answer.

        Raises:
            MissingComponent: there is no simulator.
            ComponentFailed: it cannot be started.
        """
        self.timeout_s = timeout_s
        self._path = find_simulator(executable)
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
        try:
            self._child = subprocess.Popen(
                [self._path, "serve"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                bufsize=0,
                process_group=0,  # a Ctrl-C on the terminal is for this program, which then ends the child
            )
        except OSError as error:
            self._stderr.close()
            raise ComponentFailed(f"the simulator {self._path} cannot be started: {error.strerror}") from error
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._input = self._child.stdin
        self._output = self._child.stdout
        self.input_fd = self._input.fileno()
        self.output_fd = self._output.fileno()
        for descriptor in (self.input_fd, self.output_fd):
            os.set_blocking(descriptor, False)
        self._poll_output = select.poll()
        self._poll_output.register(self.output_fd, select.POLLIN)
        self._owner = os.getpid()
        self.alive = True
        _live.add(self)

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._child.pid

    def send(self, frame: bytes | memoryview) -> None:
        """Writes one whole frame with its header.

        Raises:
            ComponentFailed: the child is gone, or does not read within the time limit.
        """
        view, deadline = memoryview(frame), 0.0
        while len(view):
            try:
                view = view[os.write(self.input_fd, view) :]
            except BlockingIOError:
                deadline = deadline or time.monotonic() + self.timeout_s
                left = deadline - time.monotonic()
                if left <= 0 or not select.select([], [self.input_fd], [], left)[1]:
                    raise self.failure(f"it has not read its input for {self.timeout_s:g} s") from None
            except OSError:
                raise self.ended() from None

    def receive_into(self, view: memoryview, least: int | None = None) -> int:
        """Fills `view`, or at least its first `least` bytes, and returns the number of bytes.

        Raises:
            ComponentFailed: the child is gone, or does not answer within the time limit.
        """
        least = len(view) if least is None else least
        received, deadline = 0, 0.0
        while received < least:
            try:
                count = os.readv(self.output_fd, (view[received:],))
            except BlockingIOError:
                deadline = deadline or time.monotonic() + self.timeout_s
                left = deadline - time.monotonic()
                if left <= 0 or not self._poll_output.poll(left * 1000):
                    raise self.failure(f"no answer for {self.timeout_s:g} s") from None
                continue
            if count == 0:
                raise self.ended()
            received += count
        return received

    def receive_frame(self) -> tuple[bytes, bytearray]:
        """Returns the type (one byte) and the payload of the next frame.

        Raises:
            ComponentFailed: as `receive_into`, or the data is no frame.
            SimulatorRefusal: the simulator answered with an error message.
        """
        header = bytearray(FRAME_HEADER.size)
        self.receive_into(memoryview(header))
        length, kind = FRAME_HEADER.unpack(header)
        self.check_header(length, kind)
        payload = bytearray(length)
        self.receive_into(memoryview(payload))
        if kind == ord("E"):
            raise SimulatorRefusal(f"the simulator refuses: {payload.decode('utf-8', 'replace')}")
        return bytes([kind]), payload

    def check_header(self, length: int, kind: int) -> None:
        """Raises a ComponentFailed unless this can be the header of an answer."""
        if kind not in b"COE" or length > MAXIMUM_PAYLOAD_BYTES:
            raise self.failure(f"its answer is not the protocol's (frame type {kind:#04x}, length {length})")

    def unexpected_frame(self, start: bytes) -> Exception:
        """Returns the error to raise for an unexpected frame, of which `start` (header included) has been read."""
        length, kind = FRAME_HEADER.unpack_from(start)
        self.check_header(length, kind)
        if kind != ord("E") or length > 65536:
            return self.failure(f"its answer is a frame of type {chr(kind)} and {length} bytes")
        message = bytearray(length)
        message[: len(start) - FRAME_HEADER.size] = start[FRAME_HEADER.size :]
        self.receive_into(memoryview(message)[len(start) - FRAME_HEADER.size :])
        return SimulatorRefusal(f"the simulator refuses: {message.decode('utf-8', 'replace')}")

    def failure(self, reason: str) -> ComponentFailed:
        """Ends the child and gives the error to raise."""
        self._end(0)
        last = last_words(self._stderr)
        self._release()
        return ComponentFailed(f"the simulator failed: {reason}{last}")

    def ended(self) -> ComponentFailed:
        """The error to raise when the child closed its end: how it ended and what it wrote last."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(1.0)
        status = self._child.returncode
        return self.failure("it closed its output without ending" if status is None else f"it {exit_text(status)}")

    def close(self) -> None:
        """Requests the child to end, kills it after half a second, and waits for it. Does nothing the second time or in
        a forked copy.
        """
        if not self.alive:
            return
        if os.getpid() == self._owner and self._child.poll() is None:
            with contextlib.suppress(OSError):
                os.write(self.input_fd, FRAME_HEADER.pack(0, ord("Q")))
            self._input.close()
        self._end(0.5)
        self._release()

    def _end(self, patience_s: float) -> None:
        if os.getpid() == self._owner:
            end(self._child, patience_s)

    def _release(self) -> None:
        self.alive = False
        for stream in (self._input, self._output, self._stderr):
            with contextlib.suppress(OSError):
                stream.close()

    def __del__(self) -> None:
        if getattr(self, "alive", False):
            self.close()


def _forget_in_forked_child() -> None:
    """Keeps a forked copy from ending its parent's simulators, or holding their pipes open (they would outlive the
    parent).
    """
    for process in list(_live):
        if process.alive:
            process._child.returncode = 0  # the copy is not the parent of the child and must not wait for it
            process._release()


os.register_at_fork(after_in_child=_forget_in_forked_child)
