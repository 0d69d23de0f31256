"""Ends a training in which sampling or learning stands still, which in a distributed one may make no error."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable

from weir_sim.cluster import ClusterError


class Supervisor:
    """Watches two counts that must grow, environment steps and updates; within the block, also that `check` is called.

    Args:
        limit_s: how long one of them may stay as it is.
        clock: in seconds.
    """

    def __init__(self, limit_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit_s = limit_s
        self._clock = clock
        self._counts = {"sampled": 0, "learned": 0}
        self._grown_s = dict.fromkeys(self._counts, clock())
        self._checked_s = clock()
        self._over = threading.Event()

    def check(self, sampled: int, learned: int, state: str) -> None:
        """Takes the counts of now; `state` is for the message.

        Raises:
            ClusterError: one of them has not grown for the limit.
        """
        now_s = self._checked_s = self._clock()
        for counter, count in (("sampled", sampled), ("learned", learned)):
            if count > self._counts[counter]:
                self._counts[counter], self._grown_s[counter] = count, now_s
            elif now_s - self._grown_s[counter] > self._limit_s:
                raise ClusterError(
                    f"nothing was {counter} for {self._limit_s:g} s ({state}); the checkpoint is kept: start what is "
                    "missing and continue with --resume"
                )

    def __enter__(self) -> Supervisor:
        self._checked_s = self._clock()
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def _watch(self) -> None:
        while not self._over.wait(self._limit_s / 10.0):
            if self._clock() - self._checked_s > self._limit_s:
                reason = (
                    f"an update has not ended for {self._limit_s:g} s; continue from the last checkpoint with --resume"
                )
                print(f"\nweir: {reason}", file=sys.stderr, flush=True)
                # The thread that learns does not answer.
                os._exit(1)
