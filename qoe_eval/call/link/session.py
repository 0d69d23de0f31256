"""One run of `weir link`: namespaces, the link, a program at one end or both, and what went over the link."""

from __future__ import annotations

import asyncio
import math
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from weir.qoe_eval.call.link.ends import LinkEnd
from weir.qoe_eval.call.link.namespaces import CallNamespaces
from weir.qoe_eval.call.link.process import LEFT_ADDRESS, RIGHT_ADDRESS, LinkProcess
from weir.qoe_eval.call.logs.link_log import LinkLog, read_link_log
from weir.qoe_eval.call.processes.real_time import LINK_PRIORITY, run_in_real_time
from weir.qoe_eval.call.processes.reaper import Reaper
from weir.qoe_eval.call.processes.scratch_folder import ScratchFolder
from weir.qoe_eval.call.processes.uninterrupted import finish
from weir.traces.schema.scenario import Scenario


@dataclass(frozen=True)
class LinkSession:
    """`command` runs at the sender's end of the scenario's path (`receive`: at the receiver's), `far`, a line for the
    shell, at the other. `log`: where the link's log stays; None: nowhere.
    """

    scenario: Scenario
    command: Sequence[str]
    far: str | None = None
    receive: bool = False
    seed: int = 1
    log: Path | None = None


def run_link(session: LinkSession, note: Callable[[str], None]) -> tuple[int, dict[str, dict[str, Any]]]:
    """Runs the command to its end. Whatever happens, neither a process nor a namespace stays behind.

    Args:
        session: what to run.
        note: told what the user should know meanwhile.

    Returns:
        The command's exit status, and for both directions (`forward`, `reverse`) what `_measured` says.

    Raises:
        LinkFailed: the link died, or does not start; the command has ended by that.
        InputError: the link refuses the scenario.
        MissingComponent: something that it needs is not there.
        KeyboardInterrupt: before the command had begun.
        SystemExit: SIGTERM or SIGHUP.
    """
    with Reaper(), ScratchFolder() as folder, CallNamespaces() as namespaces:
        log = session.log or folder / "link.jsonl"
        scenario = folder / "scenario.json"
        session.scenario.save(scenario)
        link = LinkProcess(scenario, namespaces, log, folder / "link.err", seed=session.seed)
        status = asyncio.run(_run(session, link, namespaces, note))
        return status, {name: _measured(read_link_log(log, name)) for name in ("forward", "reverse")}


async def _run(session: LinkSession, link: LinkProcess, namespaces: CallNamespaces, note: Callable[[str], None]) -> int:
    ends = [(namespaces.left, LEFT_ADDRESS), (namespaces.right, RIGHT_ADDRESS)]
    if session.receive:
        ends.reverse()
    (here, local), (there, remote) = ends
    near = LinkEnd(here, session.command, local, remote)
    far = LinkEnd(there, ["sh", "-c", session.far], remote, local) if session.far else None
    try:
        await link.start()
        if link.process_id is not None:
            run_in_real_time([link.process_id], LINK_PRIORITY)
        if far:
            await far.start(quiet=True)
            if not await far.wait_until_it_listens():
                note("the far command listens to nothing yet; going on")
        await link.begin()
        note(f"{local} (here) ⇄ {session.scenario.name} ⇄ {remote} (far)")
        terminated = _take_signals()
        await near.start()
        return await _until_over(near, far, link, terminated, note)
    finally:
        await finish(_tear_down(near, far, link))


def _take_signals() -> asyncio.Future[int]:
    """As in a shell, Ctrl-C is for the command. The result: which signal is to end all."""
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
    near: LinkEnd,
    far: LinkEnd | None,
    link: LinkProcess,
    terminated: asyncio.Future[int],
    note: Callable[[str], None],
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


async def _tear_down(near: LinkEnd, far: LinkEnd | None, link: LinkProcess) -> None:
    await near.stop()
    if far:
        await far.stop()
    await link.stop()


def _measured(whole: LinkLog) -> dict[str, Any]:
    """What the programs sent since the scenario began: `packets` that arrived and `lost_packets`;
    `one_way_delay_ms_p95`, `rate_bps` and `utilisation`, None where unknown.
    """
    log = whole.between(whole.scenario_start_us or math.inf, math.inf)
    seconds = float(log.interval_s.sum())
    return {
        "packets": int(np.nansum(log.packets)),
        "lost_packets": int(log.lost_packets.sum()),
        "one_way_delay_ms_p95": log.one_way_delay_percentile_ms(95),
        "rate_bps": 8 * float(np.nansum(log.bytes)) / seconds if seconds > 0 else None,
        "utilisation": log.utilisation,
    }
