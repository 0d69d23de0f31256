"""What the server needs of a call session, as functions: the real ones, or others in tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weir.qoe_eval.serve.call_request import CallRequest

OnEvent = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class CallBackend:
    """How calls are made.

    `missing` says what this machine lacks for a request, one sentence each, and may take a second; `settings` turns a
    request and an empty folder into what `run_call` takes, which makes the call; `write_report` leaves `report.html` in
    the folder of a result, and may take seconds.
    """

    missing: Callable[[CallRequest], list[str]]
    settings: Callable[[CallRequest, Path], Any]
    run_call: Callable[[Any, OnEvent, asyncio.Queue[dict[str, Any]]], Awaitable[Any]]
    write_report: Callable[[Any], None]
