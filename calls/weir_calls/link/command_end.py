"""A command of the user as an endpoint of a call: a server, a browser page, a program of another stack."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Final

from weir_calls.link.child_process import InvalidMessage, JsonLinesProcess, Message, monotonic_us
from weir_calls.link.namespaces import Network
from weir_cli.files.output import make_folder
from weir_sim.child_process import exit_text

_LONGEST_LINE_BYTES: Final = 4 << 20
_STOP_LIMIT_S: Final = 3.0
_PASSED_ON: Final = ("state", "stats")
# In the folder of a call.
_FILES: Final = "commands"


class CommandEnd:
    """An `Endpoint` that is a shell command line in the network of one end.

    Its environment has the addresses of both ends in WEIR_LINK_LOCAL and WEIR_LINK_FAR, its role in WEIR_CALL_ROLE, the
    label of the call in WEIR_CALL_LABEL and a folder for its files in WEIR_CALL_FOLDER. Its output is ignored except
    for JSON lines of two kinds: `{"type": "state", "state": "connected"}` and `{"type": "stats", "report": [...]}`, a
    getStats report. SIGTERM ends it.
    """

    clock_offset_us = 0

    def __init__(self, role: str, own: Network, far: Network, command: str, label: str, log: Path) -> None:
        """Starts nothing yet.

        Args:
            role: sender or receiver.
            own: the network of its end.
            far: the network of the other end.
            command: the shell command line.
            label: the label of the call.
            log: file for its standard error, in the folder of the call.
        """
        self.name = f"the {role} ({command if len(command) < 60 else command[:59] + '…'})"
        self._files = log.parent.resolve() / _FILES
        call = {"WEIR_CALL_ROLE": role, "WEIR_CALL_LABEL": label, "WEIR_CALL_FOLDER": str(self._files)}
        line, environment = own.program(far, ["sh", "-c", command], **call)
        self._process = JsonLinesProcess(line, log, _LONGEST_LINE_BYTES, environment)
        self._connects = role == "receiver"
        self._ended = False
        self._stopping = False

    async def start(self) -> Message:
        """Starts the command, which is ready at once.

        Raises:
            InputError: the folder for its files cannot be created.
        """
        make_folder(self._files)
        await self._process.start()
        return {"type": "ready", "time_us": monotonic_us()}

    async def send(self, message: Message) -> None:
        """Does nothing: the two commands do their own signalling."""

    async def receive(self) -> Message | None:
        """Returns the next state or statistics; if the command ends early, an `end` that describes the failure."""
        if not self._connects:
            # Only the receiver decides when the scenario begins.
            self._connects = True
            return {"type": "state", "state": "connected", "time_us": monotonic_us()}
        while not self._ended:
            try:
                message = await self._process.receive()
            except InvalidMessage:
                continue
            if message is None:
                self._ended = True
                status = await self._process.wait()
                if self._stopping:
                    break
                reason = f"{self.name} {exit_text(status)} before the call was over"
                return {"type": "end", "reason": reason, "failed": True, "time_us": monotonic_us()}
            if message["type"] in _PASSED_ON:
                return message
        return None

    async def stop(self) -> str:
        """Ends the command with SIGTERM, or by force; its remaining processes end with the network."""
        self._stopping = True
        if self._process.process_id is None:
            return ""
        self._process.terminate()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_STOP_LIMIT_S):
                await self._process.wait()
                return ""
        await self._process.kill()
        return ""
