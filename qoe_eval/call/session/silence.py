"""Whoever says nothing any more in a call, though it runs, is stopped or hangs: the call would only seem to go on."""

from __future__ import annotations

import asyncio
import time

LONGEST_S = 10.0
"""All say something every second, even on a machine that is busy."""
_POLL_S = 0.5


class Silence:
    """Who was heard when, by name; since the first time."""

    def __init__(self) -> None:
        self._heard_s: dict[str, float] = {}

    def heard(self, name: str) -> None:
        """It has said something just now."""
        self._heard_s[name] = time.monotonic()

    async def broken(self) -> str:
        """Waits until one of them has been silent for too long; what is to be told of it."""
        while True:
            before_s = time.monotonic()
            await asyncio.sleep(_POLL_S)
            slept_s = time.monotonic() - before_s
            if slept_s > 2 * _POLL_S:
                # This process was stopped, or had no time: what they said meanwhile waits to be heard.
                self._heard_s = {name: heard_s + slept_s for name, heard_s in self._heard_s.items()}
            for name, heard_s in self._heard_s.items():
                if time.monotonic() - heard_s > LONGEST_S:
                    return f"{name}: said nothing for {LONGEST_S:g} s"
