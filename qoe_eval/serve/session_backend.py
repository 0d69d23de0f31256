"""The real calls behind the page."""

from __future__ import annotations

from pathlib import Path

from weir.qoe_eval.call.report.page import write
from weir.qoe_eval.call.requirements_check import missing_requirements
from weir.qoe_eval.call.session.session import run_call
from weir.qoe_eval.call.settings import CallResult, CallSettings
from weir.qoe_eval.serve.backend import CallBackend
from weir.qoe_eval.serve.call_request import CallRequest


def session_backend() -> CallBackend:
    """Calls through namespaces and the emulated link, as `weir call` makes them."""
    return CallBackend(missing=_missing, settings=_settings, run_call=run_call, write_report=_write_report)


def _missing(request: CallRequest) -> list[str]:
    return missing_requirements(request.sender)


def _settings(request: CallRequest, folder: Path) -> CallSettings:
    return CallSettings(
        scenario=request.scenario,
        sender=request.sender,
        controller=request.controller,
        objective=request.objective,
        duration_s=request.duration_s,
        # The scenario as it is written.
        seed=0,
        width=request.width,
        height=request.height,
        out=folder,
    )


def _write_report(result: CallResult) -> None:
    write([result], result.folder)
