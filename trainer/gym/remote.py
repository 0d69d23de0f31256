"""A policy that decides for calls of other processes, at the end of the socket that `weir-peer --agent` names.

    weir-peer, weir-peer, ... <== frames of `weir-sim serve` ==> PolicyServer <-- batches of what waits --> RemotePolicy

The policy sends `R` (`interval_ms`, `features`, `history`, `action`) to each call that connects. The call answers `C`,
then sends an `O` with every decision: u8 flags (4: recurrent state begins at zeros), f32 observation, f64 weights of
throughput, latency and loss. Each is answered by an `S`, in order. A call does not wait for it.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import selectors
import socket
import stat
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from weir.errors import InputError
from weir.trainer.gym.process import FRAME_HEADER

BEGINS = 4
STEP_FIELDS = ("throughput", "latency", "loss")
# A call itself stops at 8.
MOST_WAITING = 16
_MOST_GREETING_BYTES = 1 << 16
_READ_BYTES = 1 << 16
_BACKLOG = 4096

Decide = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RemotePolicy:
    """A policy that decides for N calls at once.

    Attributes:
        request: `interval_ms`, `features`, `history` and `action` as in a reset of an environment.
        observation_size: D, of the features.
        decide: float32 observations (N, D), objectives (N, 3) and recurrent states (N, S), which are zeros at a call's
            beginning, to actions (N, A) and the next states (N, S). Actions are as the estimator's mapping takes them.
        state_size: S; 0 for a policy without state.
    """

    request: Mapping[str, Any]
    observation_size: int
    decide: Decide
    state_size: int = 0


def _remove_dead_socket(path: str) -> None:
    """Removes a socket that nobody listens at: its server was killed."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
        if not stat.S_ISSOCK(os.stat(path).st_mode):
            return
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)


class PolicyServer:
    """Serves a policy on a Unix socket. A call that breaks the protocol receives the reason and is dropped.

    An exception of the policy ends the server; calls go on with their fallback.
    """

    def __init__(self, policy: RemotePolicy, path: str | os.PathLike[str]) -> None:
        """Listens, for processes of this user alone.

        Raises:
            InputError: there is a file already, or no socket can be made.
        """
        self._policy = policy
        request = json.dumps(dict(policy.request), separators=(",", ":"), allow_nan=False).encode()
        self._request = FRAME_HEADER.pack(len(request), ord("R")) + request
        self._observation = np.dtype(
            [("flags", "u1"), ("values", "<f4", (policy.observation_size,)), ("objective", "<f8", (3,))]
        )
        # In the order in which they came.
        self._calls: dict[_Call, None] = {}
        # Absolute: Linux would make one without a file, which every user may join, for a path that begins with a NUL.
        self._path = os.path.abspath(path)
        _remove_dead_socket(self._path)
        self._listener = socket.socket(socket.AF_UNIX)
        try:
            self._listener.setblocking(False)
            os.fchmod(self._listener.fileno(), 0o600)
            self._listener.bind(self._path)
            self._listener.listen(_BACKLOG)
        except OSError as error:
            self._listener.close()
            raise InputError(f"{self._path}: no socket can be made there: {error.strerror or error}") from None
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def calls(self) -> int:
        """How many are connected."""
        return len(self._calls)

    def run(self) -> None:
        """Serves until an exception, such as KeyboardInterrupt."""
        while True:
            self.step()

    def step(self, timeout_s: float | None = None) -> int:
        """Reads what came, and decides once for every call that waits, in one batch. Returns how many these were.

        `timeout_s`: how long it waits where no call does; None: until something comes.
        """
        if any(call.waiting for call in self._calls):
            timeout_s = 0.0
        for key, _ in self._selector.select(timeout_s):
            if key.data is None:
                self._accept()
            elif key.data in self._calls:
                self._read(key.data)
        return self._decide([call for call in self._calls if call.waiting])

    def close(self) -> None:
        """Ends all connections and removes the socket."""
        for call in list(self._calls):
            self._drop(call)
        self._selector.close()
        self._listener.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        connection.setblocking(False)
        call = _Call(connection, np.zeros(self._policy.state_size, dtype=np.float32))
        self._calls[call] = None
        self._selector.register(connection, selectors.EVENT_READ, call)
        if not call.send(self._request):
            self._drop(call, "it does not read")

    def _read(self, call: _Call) -> None:
        try:
            received = call.connection.recv(_READ_BYTES)
            if not received:
                self._drop(call)
                return
            call.buffer += received
            for kind, payload in call.frames(self._observation.itemsize):
                self._receive(call, kind, payload)
        except BlockingIOError:
            pass
        except OSError:
            self._drop(call)
        except _Refusal as refusal:
            self._drop(call, str(refusal))

    def _receive(self, call: _Call, kind: str, payload: bytes) -> None:
        if not call.greeted:
            self._check_greeting(kind, payload)
            call.greeted = True
            return
        if kind != "O" or len(payload) != self._observation.itemsize:
            raise _Refusal(f"a frame of type {kind!r} and {len(payload)} bytes instead of an observation")
        record = np.frombuffer(payload, self._observation)[0]
        objective = record["objective"]
        if not (np.isfinite(record["values"]).all() and ((objective >= 0) & (objective <= 1)).all()):
            raise _Refusal("an observation that is not finite, or weights that are not 0 to 1")
        if len(call.waiting) == MOST_WAITING:
            raise _Refusal(f"more than {MOST_WAITING} observations wait for an answer")
        call.waiting.append(record)

    def _check_greeting(self, kind: str, payload: bytes) -> None:
        if kind == "E":
            raise _Refusal(f"it refuses the policy: {payload.decode('utf-8', 'replace')!r}")
        try:
            greeting = json.loads(payload) if kind == "C" else {}
            known = greeting["observation_size"], tuple(greeting["step_fields"])
        except (ValueError, TypeError, KeyError, RecursionError):
            known = None
        if known != (self._policy.observation_size, STEP_FIELDS):
            raise _Refusal(f"its greeting is not of {self._policy.observation_size} values and {STEP_FIELDS}")

    def _decide(self, calls: list[_Call]) -> int:
        if not calls:
            return 0
        records = [call.waiting.popleft() for call in calls]
        for call, record in zip(calls, records, strict=True):
            if record["flags"] & BEGINS:
                call.state[:] = 0.0
        actions, states = self._policy.decide(
            np.stack([record["values"] for record in records]),
            np.stack([record["objective"] for record in records]).astype(np.float32),
            np.stack([call.state for call in calls]),
        )
        actions = np.asarray(actions, dtype=np.float32).reshape(len(calls), -1)
        states = np.asarray(states, dtype=np.float32).reshape(len(calls), self._policy.state_size)
        reply = np.zeros(
            len(calls),
            [("length", "<u4"), ("type", "u1"), ("action", "<f4", (actions.shape[1],)), ("objective", "<f4", (3,))],
        )
        reply["length"] = reply.itemsize - FRAME_HEADER.size
        reply["type"] = ord("S")
        reply["action"] = actions
        reply["objective"] = np.nan
        # As in the library: an answer that is not finite is a fault of the call's, whose state begins anew.
        failed = ~(np.isfinite(actions).all(axis=1) & np.isfinite(states).all(axis=1))
        reply["action"][failed] = np.nan
        states[failed] = 0.0
        for call, answer, state in zip(calls, reply, states, strict=True):
            call.state = state
            if not call.send(answer.tobytes()):
                self._drop(call, "it does not read")
        return len(calls)

    def _drop(self, call: _Call, reason: str = "") -> None:
        if reason:
            _log.warning("a call was dropped: %s", reason)
            text = reason.encode()
            call.send(FRAME_HEADER.pack(len(text), ord("E")) + text)
        self._selector.unregister(call.connection)
        call.connection.close()
        del self._calls[call]


class _Refusal(Exception):
    """Why a call is dropped."""


@dataclass(eq=False)
class _Call:
    connection: socket.socket
    state: np.ndarray
    buffer: bytearray = field(default_factory=bytearray)
    waiting: deque[Any] = field(default_factory=deque)
    greeted: bool = False

    def frames(self, observation_bytes: int) -> list[tuple[str, bytes]]:
        """Takes the whole frames from the buffer: type and payload."""
        found, begin = [], 0
        while len(self.buffer) - begin >= FRAME_HEADER.size:
            length, kind = FRAME_HEADER.unpack_from(self.buffer, begin)
            if length > max(observation_bytes, _MOST_GREETING_BYTES):
                raise _Refusal(f"a frame of {length} bytes")
            end = begin + FRAME_HEADER.size + length
            if len(self.buffer) < end:
                break
            found.append((chr(kind), bytes(self.buffer[begin + FRAME_HEADER.size : end])))
            begin = end
        del self.buffer[:begin]
        return found

    def send(self, frame: bytes) -> bool:
        """False where its socket does not take all of it: what it was sent before waits there, unread."""
        try:
            return self.connection.send(frame) == len(frame)
        except OSError:
            return False
