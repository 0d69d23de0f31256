"""The endpoints of a call: their interface, and `weir-peer` as receiver or native sender."""

from __future__ import annotations

import contextlib
import json
from asyncio import timeout
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from weir_calls.call import logs
from weir_calls.call.plan import CallSettings
from weir_calls.call_options import WITHOUT_MODEL
from weir_calls.link.child_process import (
    InvalidMessage,
    JsonLinesProcess,
    Message,
    monotonic_us,
    run_in_real_time,
)
from weir_calls.link.namespaces import Network
from weir_cli.errors import ComponentFailed, MissingComponent
from weir_sim.child_process import exit_text
from weir_sim.controllers import is_pool, pool_members
from weir_sim.executables import find_peer

STATS_INTERVAL_MS = 1000
MIN_BITRATE_BPS = 30_000
START_BITRATE_BPS = 300_000
MAXIMUM_LINE_BYTES = 4 << 20
# An estimate counts headers and retransmissions, the limit of the encoder does not: with this headroom the encoder, not
# the estimator, limits the media.
_HEADROOM = 1.25
_START_LIMIT_S = 20.0
_STOP_LIMIT_S = 8.0
_MISSING_STATUS = 3
_LAST_LINES = 8


class EndpointFailed(ComponentFailed):
    """An endpoint of the call did not start, died, or violated its protocol."""


class Endpoint(Protocol):
    """An endpoint of a call. Exchanges weir-peer's messages: `offer`, `answer`, `candidate`, `state`, `stats`, `end`,
    ...

    Every received message has `time_us`, the monotonic clock of this machine.
    """

    name: str
    clock_offset_us: int
    """Monotonic time of this machine minus the time of the endpoint's timestamps."""

    async def start(self) -> Message:
        """Starts the endpoint and returns its `ready` message.

        Raises:
            EndpointFailed: it did not become ready.
            MissingComponent: a required component is missing.
        """

    async def send(self, message: Message) -> None:
        """Sends a message; does nothing after its end."""

    async def receive(self) -> Message | None:
        """Returns the next message; None after the endpoint's end."""

    async def stop(self) -> str:
        """Ends the endpoint, after its last statistics if it works, else by force. Never raises. Returns the fault, or
        an empty text.
        """


def receiver_arguments(settings: CallSettings, address: str, model: Path | None) -> list[str]:
    """The command line of a receiver bound to `address` that writes received frames and audio to files.

    `model` is None if the sender runs the controller.
    """
    controller = settings.custom
    custom = ["--custom-controller", json.dumps(controller.job() | {"name": controller.name})] if controller else []
    return [
        *_common("receive", settings, address, round(_HEADROOM * settings.max_bitrate_bps)),
        *_controller_inputs(settings, model),
        *custom,
        *([] if settings.transport_cc else ["--remb-alone"]),
        *(["--limit-playout"] if settings.limits_playout else []),
        "--frames",
        str(settings.out / logs.FRAMES),
        "--frames-size",
        f"{settings.width}x{settings.height}",
        "--received-audio",
        str(settings.out / logs.RECEIVED_AUDIO),
    ]


def sender_arguments(
    settings: CallSettings, address: str, video: Path, model: Path | None, speech: Path | None = None
) -> list[str]:
    """The command line of a native sender; it follows the receiver's feedback, or runs the controller with `model`.

    Without `speech` it sends pulses of noise.
    """
    inputs = _controller_inputs(settings, model) if settings.decided_at_sender else []
    trials = ["--field-trials", settings.field_trials] if settings.field_trials else []
    audio = ["--audio-file", str(speech)] if speech else []
    common = _common("send", settings, address, settings.max_bitrate_bps)
    return [*common, *inputs, *trials, *audio, "--video", str(video)]


def _controller_inputs(settings: CallSettings, model: Path | None) -> list[str]:
    weights = ",".join(f"{weight:g}" for weight in settings.objective)
    delay = ["--decision-delay-ms", f"{settings.decision_delay_ms:g}"] if settings.decision_delay_ms else []
    return [*(["--model", str(model)] if model else []), *delay, "--objective", weights]


def _common(role: str, settings: CallSettings, address: str, max_bitrate_bps: int) -> list[str]:
    return [
        *("--role", role),
        "--audio",
        *("--controller", _controller(role, settings)),
        *("--codec", settings.codec),
        *("--bind-address", address),
        *("--min-bitrate-bps", str(MIN_BITRATE_BPS)),
        *("--start-bitrate-bps", str(START_BITRATE_BPS)),
        *("--max-bitrate-bps", str(max_bitrate_bps)),
        *("--stats-interval-ms", str(STATS_INTERVAL_MS)),
    ]


def _controller(role: str, settings: CallSettings) -> str:
    # A custom controller replaces Weir's policy.
    if settings.custom:
        return "weir"
    # A receiver sends the feedback that GCC needs if the sender runs the controller; in shadow, GCC is active.
    if settings.decided_at_sender if role == "receive" else settings.controller == "shadow":
        return "gcc"
    if settings.decided_by_libwebrtc:
        return "gcc"
    if settings.controller in WITHOUT_MODEL:
        return f"pilot={settings.controller}" if role == "receive" else "weir"
    # A pool runs at the receiver. Its sender follows REMB, or also runs GCC and takes the lower of the two.
    if role == "send" and is_pool(settings.controller):
        return "gcc" if "gcc" in pool_members(settings.controller) else "weir"
    return settings.controller


class PeerProcess:
    """A `weir-peer` process as an `Endpoint`."""

    clock_offset_us = 0

    def __init__(self, name: str, network: Network | None, arguments: Sequence[str], log: Path) -> None:
        """Starts nothing yet.

        Args:
            name: display name, for example "receiver".
            network: its network; None: that of this process.
            arguments: its command line.
            log: file for its standard error.
        """
        self.name = name
        command = [str(find_peer()), *arguments]
        self._network = network
        self._process = JsonLinesProcess(network.command(command) if network else command, log, MAXIMUM_LINE_BYTES)
        self._ended = False
        self._stopping = False
        self._broken = False

    @property
    def process_id(self) -> int | None:
        """Process ID while it runs."""
        return self._process.process_id

    async def start(self) -> Message:
        """Starts the process and waits for its `ready` message."""
        process = await self._process.start()
        errors: list[str] = []
        self._broken = True
        try:
            async with timeout(_START_LIMIT_S):
                while (message := await self._read()) is not None:
                    if message["type"] == "ready":
                        self._broken = False
                        run_in_real_time(self._network.processes() if self._network else [process])
                        return message
                    if message["type"] == "error":
                        errors.append(str(message.get("message", ""))[:500])
                status = await self._process.wait()
        except TimeoutError:
            raise EndpointFailed(f"the {self.name} (weir-peer) was not ready within {_START_LIMIT_S:g} s") from None
        reason = "; ".join(errors) or self._process.last_words(_LAST_LINES)[-1000:] or "without a message"
        if status == _MISSING_STATUS:
            raise MissingComponent(f"the {self.name} (weir-peer): {reason}")
        raise EndpointFailed(f"the {self.name} (weir-peer) ended with status {status} at its start: {reason}")

    async def send(self, message: Message) -> None:
        """Sends a message."""
        with contextlib.suppress(ConnectionError):
            await self._process.send(message)

    async def receive(self) -> Message | None:
        """Returns the next message; if the process dies, an `end` that describes the failure."""
        if self._ended:
            return None
        try:
            message = await self._read()
        except EndpointFailed as error:
            self._broken = True
            return self._failed(str(error))
        if message is not None:
            return message
        status = await self._process.wait()
        if self._stopping or status == 0:
            self._ended = True
            return None
        return self._failed(f"the {self.name} (weir-peer) {exit_text(status)}")

    async def stop(self) -> str:
        """Asks the process to end, and kills it if it does not. The caller must continue to receive meanwhile."""
        if not self._process.started:
            return ""
        self._stopping = True
        if self._broken:
            await self._process.kill()
        elif wrong := await self._process.stop(_STOP_LIMIT_S):
            return f"the {self.name} (weir-peer) {wrong}"
        return ""

    async def _read(self) -> Message | None:
        try:
            return await self._process.receive()
        except InvalidMessage as error:
            raise EndpointFailed(f"the {self.name} (weir-peer) {error}") from None

    def _failed(self, reason: str) -> Message:
        self._ended = True
        return {"type": "end", "reason": reason, "failed": True, "time_us": monotonic_us()}
