"""`weir serve`: a page on this machine to make calls and watch them."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir_calls.link.sudo import become_caller
from weir_calls.serve.models import Models
from weir_cli.errors import InputError
from weir_cli.files.input import printable
from weir_cli.files.output import make_folder
from weir_cli.files.place import refuse_folders_of_others
from weir_cli.options import loading
from weir_traces.listing import check_input

if TYPE_CHECKING:
    from weir_calls.serve.server import Server
    from weir_traces.schema.scenario import Scenario

DEFAULT_PORT = 8420
_MEASURING_LIMIT_S = 20.0


def serve(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE", help="Scenarios to offer in addition to the bundled ones; formats as in replay."
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="N", help="Where to listen on 127.0.0.1; 0: any free port.")
    ] = DEFAULT_PORT,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where calls and their reports go.")] = Path("weir-calls"),
    models: Annotated[
        Path | None, typer.Option(metavar="DIR", help="ONNX models that a call may change to while it runs.")
    ] = None,
    browser: Annotated[
        bool | None,
        typer.Option("--browser/--no-browser", help="Open the page. Default: where there is a display."),
    ] = None,
) -> None:
    """Serve a page on this machine only: pick a scenario, start a call, steer it, watch it, read its report."""
    become_caller()
    refuse_folders_of_others(out)
    for name in inputs or ():
        check_input(name)
    if models is not None and not models.is_dir():
        raise InputError(f"--models '{printable(models)}': no such folder")
    with loading():
        from weir_calls.serve.setup_description import offered_scenarios

    scenarios = offered_scenarios(inputs or [])
    make_folder(out)
    # The display belongs to the user; browsers refuse to run as root.
    opens = browser if browser is not None else _has_display() and os.geteuid() != 0
    raise typer.Exit(asyncio.run(_serve(scenarios, port, out.resolve(), Models(models), opens)))


async def _serve(scenarios: dict[str, list[Scenario]], port: int, out: Path, models: Models, opens: bool) -> int:
    """Serves until Ctrl-C, SIGTERM or SIGHUP; returns the exit status."""
    from weir_calls.serve.call_runner import real_calls
    from weir_calls.serve.open_page import page_in_browser
    from weir_calls.serve.server import ServeOptions, Server

    try:
        server = Server(ServeOptions(scenarios, out, real_calls(), models), port)
    except OSError as error:
        # The text of asyncio's error repeats the address.
        reason = os.strerror(error.errno or 0)
        typer.echo(f"weir: 127.0.0.1:{port} is not available ({reason}); use another --port, or 0 for any", err=True)
        return 1
    received = asyncio.Queue[int]()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, received.put_nowait, number)
    await server.start()
    try:
        typer.echo(f"{server.url}\nCalls go to {printable(out)}. Ctrl-C ends.")
        with page_in_browser(server.url) if opens else nullcontext():
            first = await received.get()
        hurry = asyncio.Event()
        if first != signal.SIGINT:
            # Nobody is there to press Ctrl-C again.
            loop.call_later(_MEASURING_LIMIT_S, hurry.set)
        await _end(server, received, hurry)
    finally:
        await server.close()
    return 0


async def _end(server: Server, received: asyncio.Queue[int], hurry: asyncio.Event) -> None:
    """Ends the server; a running call is measured first, unless another signal comes or `hurry` is set."""
    folder = server.measured_folder
    if folder is None:
        typer.echo("ending", err=True)
    else:
        typer.echo(f"stopping and measuring the call in {printable(folder)}; Ctrl-C again ends without", err=True)
    closing = asyncio.create_task(server.close(hurry))
    again = asyncio.create_task(received.get())
    again.add_done_callback(lambda _: hurry.set())
    if not await closing:
        typer.echo("interrupted: the logs of the call are kept, without measures", err=True)
    again.cancel()


def _has_display() -> bool:
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
