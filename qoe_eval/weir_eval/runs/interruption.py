"""Interrupts work in threads. Python cannot interrupt a thread, so work that takes long calls `check_interrupted`."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_interrupted: contextvars.ContextVar[threading.Event | None] = contextvars.ContextVar("interrupted", default=None)


def check_interrupted() -> None:
    """Raises KeyboardInterrupt if the work of this thread was interrupted."""
    interrupted = _interrupted.get()
    if interrupted is not None and interrupted.is_set():
        raise KeyboardInterrupt


def interruptible(interrupted: threading.Event, work: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """The function `work`, for one call in another thread; `check_interrupted` raises there once the event is set."""
    context = contextvars.copy_context()
    context.run(_interrupted.set, interrupted)
    return partial(context.run, work)


async def run_in_thread(
    work: Callable[Arguments, Result], *arguments: Arguments.args, **more: Arguments.kwargs
) -> Result:
    """`asyncio.to_thread`, but a cancellation interrupts the work and waits for its end."""
    interrupted = threading.Event()
    call = partial(interruptible(interrupted, work), *arguments, **more)
    running = asyncio.get_running_loop().run_in_executor(None, call)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        interrupted.set()
        await asyncio.wait({running})
        # Retrieves the exception, which asyncio would log otherwise.
        running.exception()
        raise
