"""One run of `weir link`: namespaces, the link, a program at one or both ends, and a summary of the link's log."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from weir_calls.link.leftovers import ScratchFolder, finish
from weir_calls.link.log import LinkLog, read_link_log
from weir_calls.link.namespaces import CallNamespaces, Network
from weir_calls.link.process import LinkProcess
from weir_sim.child_process import die_with_parent
from weir_traces.schema.scenario import Scenario

# The state of a listening TCP socket in /proc/net/tcp.
_TCP_LISTENS = "0A"
_LISTEN_LIMIT_S = 5.0
_LISTEN_POLL_S = 0.02

Note = Callable[[str], None]


@dataclass(frozen=True)
class LinkSettings:
    """`command` runs at the sender's end of the path (with `receive`: at the receiver's), `far`, a shell command line,
    at the other. `log`: destination of the link's log; None: the log is not kept.
    """

    scenario: Scenario
    command: Sequence[str]
    far: str | None = None
    receive: bool = False
    seed: int = 1
    log: Path | None = None


@dataclass(frozen=True)
class DirectionSummary:
    """Traffic of the programs in one direction since the scenario began; None if unknown."""

    packets: int
    lost_packets: int
    one_way_delay_ms_p95: float | None
    rate_bps: float | None
    utilisation: float | None


def run_link(settings: LinkSettings, note: Note) -> tuple[int, dict[str, DirectionSummary]]:
    """Runs the command to its end. No process outlives the run.

    Returns:
        The command's exit status, and a summary for `forward` and `reverse`.

    Raises:
        ComponentFailed: the link does not start, or dies and thereby ends the command.
        InputError: the link refuses the scenario.
        MissingComponent: a required component is missing.
        KeyboardInterrupt: interrupted before the command began.
        SystemExit: ended by SIGTERM or SIGHUP.
    """
    with ScratchFolder() as folder, CallNamespaces() as namespaces:
        log = settings.log or folder / "link.jsonl"
        scenario = folder / "scenario.json"
        settings.scenario.save(scenario)
        link = LinkProcess(scenario, namespaces, log, folder / "link.err", seed=settings.seed)
        status = asyncio.run(_run(settings, link, namespaces, note))
        return status, {name: _summarise(read_link_log(log, name)) for name in ("forward", "reverse")}


async def _run(settings: LinkSettings, link: LinkProcess, namespaces: CallNamespaces, note: Note) -> int:
    near_network, far_network = namespaces.left, namespaces.right
    if settings.receive:
        near_network, far_network = far_network, near_network
    near = _Program(near_network, far_network, settings.command)
    far = _Program(far_network, near_network, ["sh", "-c", settings.far]) if settings.far else None
    try:
        await link.start()
        if far:
            await far.start(quiet=True)
            if not await far.wait_until_it_listens():
                note("the far command does not listen yet; continuing")
        await link.begin()
        note(f"{near_network.address} (here) ⇄ {settings.scenario.name} ⇄ {far_network.address} (far)")
        terminated = _take_signals()
        await near.start()
        return await _until_over(near, far, link, terminated, note)
    finally:
        await finish(_tear_down(near, far, link))


def _take_signals() -> asyncio.Future[int]:
    """Installs signal handlers; the result is the signal that ends the run. Ctrl-C is for the command, as in shells."""
    loop = asyncio.get_running_loop()
    terminated: asyncio.Future[int] = loop.create_future()

    def terminate(number: int) -> None:
        if not terminated.done():
            terminated.set_result(number)

    loop.add_signal_handler(signal.SIGINT, lambda: None)
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, terminate, number)
    return terminated


async def _until_over(
    near: _Program, far: _Program | None, link: LinkProcess, terminated: asyncio.Future[int], note: Note
) -> int:
    command = asyncio.create_task(near.wait())
    dead_link = asyncio.create_task(link.ended())
    others = {asyncio.create_task(far.wait())} if far else set()
    events: set[asyncio.Future[Any]] = {command, dead_link, terminated, *others}
    try:
        while not command.done():
            await asyncio.wait(events, return_when=asyncio.FIRST_COMPLETED)
            if terminated.done():
                raise SystemExit(128 + terminated.result())
            if dead_link.done():
                dead_link.result()
            for ended in [task for task in others if task.done()]:
                others.remove(ended)
                note(f"the far command has ended with status {ended.result()}")
        return command.result()
    finally:
        for task in (command, dead_link, *others):
            task.cancel()


async def _tear_down(near: _Program, far: _Program | None, link: LinkProcess) -> None:
    await near.stop()
    if far:
        await far.stop()
    await link.stop()


class _Program:
    """A program in one of the networks, with this terminal and in its foreground group, so that Ctrl-C reaches it."""

    def __init__(self, network: Network, far: Network, command: Sequence[str]) -> None:
        self._command, self._environment = network.program(far, command)
        self._process: asyncio.subprocess.Process | None = None

    async def start(self, *, quiet: bool = False) -> None:
        """Starts the program; with `quiet` it has no input, and its output goes to standard error."""
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.DEVNULL if quiet else None,
            stdout=2 if quiet else None,
            env=self._environment,
            preexec_fn=die_with_parent,
        )

    async def wait(self) -> int:
        """Returns the exit status like a shell: 128 plus the number of the signal if a signal ended the program."""
        assert self._process is not None
        status = await self._process.wait()
        return 128 - status if status < 0 else status

    async def wait_until_it_listens(self) -> bool:
        """Waits until the program has a listening socket or has ended; False after _LISTEN_LIMIT_S without either."""
        assert self._process is not None
        deadline_s = time.monotonic() + _LISTEN_LIMIT_S
        while self._process.returncode is None and not _has_listener(self._process.pid):
            if time.monotonic() > deadline_s:
                return False
            await asyncio.sleep(_LISTEN_POLL_S)
        return True

    async def stop(self) -> None:
        """Ends the program if it still runs. Its children end with the networks."""
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                await asyncio.wait_for(self._process.wait(), 1.0)
            except TimeoutError:
                self._process.kill()
                await self._process.wait()


def _has_listener(process: int) -> bool:
    """True if the network of the process has a listening TCP socket, or any UDP socket."""
    # The process may end meanwhile.
    with contextlib.suppress(OSError, ValueError):
        if os.readlink(f"/proc/{process}/ns/net") == os.readlink("/proc/self/ns/net"):
            return False
        for name in ("tcp", "tcp6", "udp", "udp6"):
            _, *sockets = Path(f"/proc/{process}/net/{name}").read_text(encoding="ascii").splitlines()
            if any(name.startswith("udp") or line.split()[3] == _TCP_LISTENS for line in sockets):
                return True
    return False


def _summarise(whole: LinkLog) -> DirectionSummary:
    log = whole.between(whole.scenario_start_us or math.inf, math.inf)
    seconds = float(log.interval_s.sum())
    return DirectionSummary(
        packets=int(np.nansum(log.packets)),
        lost_packets=int(log.lost_packets.sum()),
        one_way_delay_ms_p95=log.one_way_delay_percentile_ms(95),
        rate_bps=8 * float(np.nansum(log.bytes)) / seconds if seconds > 0 else None,
        utilisation=log.utilisation,
    )
