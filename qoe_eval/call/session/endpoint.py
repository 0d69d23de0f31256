"""An end of a call, whatever it is made of: a browser's page, or a weir-peer process."""

from __future__ import annotations

from typing import Protocol

from weir.qoe_eval.call.processes.json_lines_process import Message


class EndpointFailed(RuntimeError):
    """An end of the call did not start, died, or broke its protocol; the message says which."""


class Endpoint(Protocol):
    """Speaks weir-peer's messages: `offer`, `answer`, `candidate`, `state`, `stats`, `error`, `end` and so on.

    Every message received has `time_us`, the monotonic clock of this machine.
    """

    name: str

    async def start(self) -> Message:
        """Starts it; returns its `ready` message.

        Raises:
            EndpointFailed: it did not become ready.
            MissingComponent: something that it needs is not there.
        """

    async def send(self, message: Message) -> None:
        """Tells it something; what has ended hears nothing."""

    async def receive(self) -> Message | None:
        """Its next message; None once it has ended, and then always."""

    async def stop(self) -> str:
        """Ends it, with its last statistics where it is well, by force where it is not. Never fails. Empty when it
        ended by itself, or was known to be out of order; else what was wrong with its end.
        """
