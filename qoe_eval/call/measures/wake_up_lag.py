"""How long this machine lets a process of a call wait that wants to run: what everything in real time suffers from."""

from __future__ import annotations

import threading
import time
from collections import deque

from weir.qoe_eval.call.processes.real_time import run_this_thread_in_real_time

_INTERVAL_S = 0.02
# An hour of them.
_MOST_SAMPLES = 180_000


class WakeUpLag:
    """A thread that sleeps, and sees how much later than asked it wakes up; scheduled like a call's processes."""

    def __init__(self) -> None:
        self._lags_ms: deque[float] = deque(maxlen=_MOST_SAMPLES)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begins to watch."""
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends; does nothing where it never began."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    @property
    def p99_ms(self) -> float | None:
        """99th percentile; nothing before the first."""
        ordered = sorted(self._lags_ms)
        return ordered[int(0.99 * len(ordered))] if ordered else None

    def _watch(self) -> None:
        run_this_thread_in_real_time()
        while not self._stop.is_set():
            asked_s = time.monotonic() + _INTERVAL_S
            time.sleep(_INTERVAL_S)
            self._lags_ms.append(1000 * max(0.0, time.monotonic() - asked_s))
