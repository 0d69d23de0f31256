"""Ctrl-C in a training: it ends after the present update, where its state is exact."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_MESSAGE = b"\nweir: ends after this update; Ctrl-C again ends at once, with the last checkpoint\n"


class Stopped(KeyboardInterrupt):
    """A training ends early, between two updates."""


@contextmanager
def deferred_interrupts() -> Iterator[Callable[[], bool]]:
    """Yields a function that returns true after the first Ctrl-C. The second raises KeyboardInterrupt, as does the
    first in a thread, or in a program with a handler of its own.
    """
    requested = threading.Event()
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield requested.is_set
        return

    def handle(number: int, frame: FrameType | None) -> None:
        if requested.is_set():
            raise KeyboardInterrupt
        requested.set()
        # A signal may arrive within a write of sys.stderr, which must not be entered again.
        os.write(2, _MESSAGE)

    signal.signal(signal.SIGINT, handle)
    try:
        yield requested.is_set
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
