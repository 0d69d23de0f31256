"""An unmodified Chromium as an endpoint of a call, in its own network; the camera of a sender is a file."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import signal
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import playwright
from playwright.async_api import Browser, Page, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from weir_calls.call.signalling import SignallingServer
from weir_calls.call.weir_peer import EndpointFailed
from weir_calls.link.child_process import Message, monotonic_us, run_in_real_time
from weir_calls.link.leftovers import ScratchFolder
from weir_calls.link.namespaces import Network, listening
from weir_calls.requirements import CHROMIUM
from weir_cli.errors import InputError
from weir_cli.files.output import write_bytes

_START_LIMIT_S = 60.0
_STOP_LIMIT_S = 5.0
_CLOCK_REQUESTS = 10
# The environment variable that names Playwright's driver program.
_DRIVER_VARIABLE = "PLAYWRIGHT_NODEJS_PATH"
_DRIVER_PROCESS = "driver.pid"
_EVENT_LOGS = "event_logs"
_ARGUMENTS = (
    "--no-sandbox",
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
    "--autoplay-policy=no-user-gesture-required",
    # Host candidates with IP addresses: there is no multicast DNS in the namespace.
    "--disable-features=WebRtcHideLocalIpsWithMdns",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
    "--disable-gpu",
    # An invisible page must not be throttled.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
)


@dataclass(frozen=True)
class PageSettings:
    """The page's `configure` message; all fields but the first two are for a page that sends."""

    role: Literal["send", "receive"]
    stats_interval_ms: int
    width: int = 0
    height: int = 0
    frames_per_second: int = 0
    codec: str = ""
    max_bitrate_bps: int = 0


class BrowserEnd:
    """Chromium under Playwright with the page of `page/`, as an `Endpoint`."""

    name = "Chromium"

    def __init__(
        self,
        network: Network | None,
        video: Path | None,
        settings: PageSettings,
        field_trials: str = "",
        speech: Path | None = None,
        event_log: Path | None = None,
    ) -> None:
        """Starts nothing yet.

        Args:
            network: Chromium's network; None: that of this process.
            video: the camera, a y4m file of the size in the settings; None for a receiver.
            settings: settings of the page.
            field_trials: field trials of its libwebrtc, each "TRIAL/GROUP/".
            speech: the microphone, a WAV file; None: beeps.
            event_log: destination of its RTC event log; None: no log.
        """
        self._network = network
        self._video = video
        self._speech = speech
        self._event_log = event_log
        self._settings = settings
        self._field_trials = field_trials
        self._messages: asyncio.Queue[Message | None] = asyncio.Queue()
        self._stopping = False
        self.clock_offset_us = 0
        self._folder: ScratchFolder | None = None
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._page: Page | None = None
        self._signalling: SignallingServer | None = None
        self._pump: asyncio.Task[None] | None = None

    async def start(self) -> Message:
        """Opens the page and its camera, and measures the offset of its clock."""
        asyncio.get_running_loop().set_exception_handler(_without_closed_pages)
        try:
            async with asyncio.timeout(_START_LIMIT_S):
                await self._open()
                ready = await self._ready()
                await self._compare_clocks()
        except TimeoutError:
            raise EndpointFailed(f"Chromium was not ready within {_START_LIMIT_S:g} s") from None
        except (PlaywrightError, OSError) as error:
            raise EndpointFailed(f"Chromium did not start: {str(error).splitlines()[0]}") from None
        assert self._browser is not None
        self._pump = asyncio.create_task(self._take_messages())
        self._run_in_real_time()
        versions = {"chromium": self._browser.version}
        return ready | {"versions": versions, "clock_offset_us": self.clock_offset_us}

    async def send(self, message: Message) -> None:
        """Sends a message to the page."""
        if self._signalling is not None:
            with contextlib.suppress(ConnectionError):
                await self._signalling.send(message)

    async def receive(self) -> Message | None:
        """Returns the page's next message."""
        message = await self._messages.get()
        if message is None:
            self._messages.put_nowait(None)
        return message

    async def stop(self) -> str:
        """Gets the last statistics, ends the browser and its server, and removes its files. Returns a fault, or ""."""
        worked = not self._stopping and self._pump is not None
        self._stopping = True
        wrong = ""
        if self._pump is not None:
            if worked:
                await self.send({"type": "stop"})
                await asyncio.wait({self._pump}, timeout=_STOP_LIMIT_S)
                wrong = "" if self._pump.done() else f"Chromium's page did not end within {_STOP_LIMIT_S:g} s"
            self._pump.cancel()
        if not await self._close() and worked:
            wrong = wrong or f"Chromium did not end within {_STOP_LIMIT_S:g} s and was killed"
        if self._signalling is not None:
            await self._signalling.stop()
        if self._folder is not None:
            self._keep_event_log(self._folder.path / _EVENT_LOGS)
            self._folder.remove()
        self._messages.put_nowait(None)
        return wrong

    def _keep_event_log(self, folder: Path) -> None:
        """Copies the log of the page's only connection, if Chromium connected."""
        if self._event_log is None:
            return
        with contextlib.suppress(OSError, InputError):
            for log in folder.iterdir():
                write_bytes(self._event_log, log.read_bytes())

    async def _close(self) -> bool:
        """Ends Chromium and Playwright; returns False if that needed force."""
        closed = True
        ends: list[Callable[[], Awaitable[None]]] = []
        if self._browser is not None:
            ends.append(self._browser.close)
        if self._playwright is not None:
            ends.append(self._playwright.stop)
        for end in ends:
            try:
                async with asyncio.timeout(_STOP_LIMIT_S):
                    await end()
            except (PlaywrightError, TimeoutError):
                closed = False
        if not closed or self._playwright is None:
            # Chromium dies with the driver.
            with contextlib.suppress(OSError, ValueError):
                if self._folder is not None:
                    os.kill(int((self._folder.path / _DRIVER_PROCESS).read_text(encoding="ascii")), signal.SIGKILL)
        return closed

    async def _open(self) -> None:
        self._folder = ScratchFolder()
        server = self._network.listening_socket() if self._network else listening(socket.socket())
        self._signalling = SignallingServer(server)
        await self._signalling.start()
        driver = self._driver(self._folder.path)
        with _environment_variable(_DRIVER_VARIABLE, str(driver)):
            self._playwright = await async_playwright().start()
        camera = [f"--use-file-for-fake-video-capture={self._video.absolute()}"] if self._video else []
        microphone = [f"--use-file-for-fake-audio-capture={self._speech.absolute()}"] if self._speech else []
        trials = [f"--force-fieldtrials={self._field_trials}"] if self._field_trials else []
        logging = []
        if self._event_log is not None:
            # If the folder does not exist, Chromium silently writes no log.
            (event_logs := self._folder.path / _EVENT_LOGS).mkdir()
            logging = [f"--webrtc-event-logging={event_logs}"]
        self._browser = await self._playwright.chromium.launch(
            executable_path=self._wrapper(self._folder.path),
            args=[*_ARGUMENTS, *camera, *microphone, *trials, *logging],
            handle_sigint=False,
            timeout=1000 * _START_LIMIT_S,
        )
        self._browser.on("disconnected", lambda _: self._ended("Chromium ended"))
        self._page = await self._browser.new_page()
        self._page.on("crash", lambda _: self._ended("Chromium's page crashed"))
        await self._page.goto(self._signalling.url)

    def _wrapper(self, folder: Path) -> Path:
        """A script that runs Chromium in the network and dies with its parent."""
        path = folder / "chromium"
        line = self._network.command([CHROMIUM]) if self._network else [CHROMIUM]
        command = shlex.join(["setpriv", "--pdeathsig", "KILL", *line])
        path.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
        path.chmod(0o700)
        return path

    def _driver(self, folder: Path) -> Path:
        """A script that runs Playwright's driver (Node.js). It writes its process ID, dies with this process, and keeps
        temporary files, also Chromium's, in the folder.
        """
        node = os.environ.get(_DRIVER_VARIABLE) or str(Path(playwright.__file__).parent / "driver" / "node")
        path = folder / "driver"
        command = shlex.join(["setpriv", "--pdeathsig", "KILL", node])
        prepare = f"echo $$ > {shlex.quote(str(folder / _DRIVER_PROCESS))}; export TMPDIR={shlex.quote(str(folder))}"
        path.write_text(f'#!/bin/sh\n{prepare}; exec {command} "$@"\n', encoding="utf-8")
        path.chmod(0o700)
        return path

    async def _ready(self) -> Message:
        assert self._signalling is not None
        while True:
            message = await self._signalling.receive()
            if message is None:
                raise EndpointFailed("Chromium's page disappeared before it was ready")
            if message["type"] == "error":
                raise EndpointFailed(f"Chromium's page: {message['message'][:500]}")
            if message["type"] == "connected":
                await self._signalling.send({"type": "configure"} | asdict(self._settings))
            elif message["type"] == "ready":
                return message

    async def _compare_clocks(self) -> None:
        """Sets the clock offset from the answer with the shortest round trip."""
        assert self._signalling is not None
        best_us = None
        for number in range(_CLOCK_REQUESTS):
            requested_us = monotonic_us()
            await self._signalling.send({"type": "clock", "id": number})
            answer = await self._signalling.receive()
            answered_us = monotonic_us()
            if answer is None or answer["type"] != "clock" or answer["id"] != number:
                raise EndpointFailed("Chromium's page did not return its clock")
            if best_us is None or answered_us - requested_us < best_us:
                best_us = answered_us - requested_us
                self.clock_offset_us = (requested_us + answered_us) // 2 - _page_time_us(answer)

    async def _take_messages(self) -> None:
        assert self._signalling is not None
        while (message := await self._signalling.receive()) is not None:
            page_us = _page_time_us(message)
            message["time_us"] = page_us + self.clock_offset_us if page_us else monotonic_us()
            self._messages.put_nowait(message)
            if message["type"] == "end":
                return
            if message["type"] == "state":
                # By now Chromium has started its media processes.
                self._run_in_real_time()
        self._ended("Chromium's page disappeared")

    def _run_in_real_time(self) -> None:
        if self._network is not None:
            run_in_real_time(self._network.processes())

    def _ended(self, reason: str) -> None:
        if not self._stopping:
            self._stopping = True
            message = {"type": "end", "reason": reason, "failed": True, "time_us": monotonic_us()}
            self._messages.put_nowait(message)
            self._messages.put_nowait(None)


@contextlib.contextmanager
def _environment_variable(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _page_time_us(message: Message) -> int:
    """The page's time in a message, us since 1970; 0 if it has no plausible time."""
    time_ms = message.get("time_ms")
    if not isinstance(time_ms, int | float) or isinstance(time_ms, bool):
        return 0
    return int(1000 * time_ms) if abs(time_ms - 1000 * time.time()) < 86_400_000 else 0


def _without_closed_pages(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Playwright leaves futures behind if Chromium is stopped while it starts. Nobody waits for them."""
    if not isinstance(context.get("exception"), PlaywrightError):
        loop.default_exception_handler(context)
