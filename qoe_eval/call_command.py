"""The command `weir call`: checks what it is given; `call/call.py` has the work."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from weir.errors import InputError
from weir.objectives import parse_objective
from weir.options import loading, with_options
from weir.qoe_eval.options.call import CALLED, CallOptions
from weir.qoe_eval.options.shared import check_controllers, check_model
from weir.qoe_eval.requirements import check_requirements
from weir.qoe_eval.runs.custom_controllers import CustomController
from weir.registry import AT_NATIVE_SENDER, LIBWEBRTC_SENDERS, without_field_trials

# Controllers that run at the sender and work with any receiver.
_AT_SENDER = (*LIBWEBRTC_SENDERS, *AT_NATIVE_SENDER)


@with_options(CallOptions)
def call(options: CallOptions) -> None:
    """Makes real calls through a link that replays a scenario, and measures them at the receiver.

    Writes results.jsonl, summary.json, report.html, and a folder with logs and recording for each call. The same
    command again makes the calls that were interrupted or failed. Needs root, for network namespaces.
    """
    started = time.monotonic()
    names, own = check_controllers(options.controller or ["weir"], known=CALLED)
    _check_ends(options, names, own)
    parse_objective(options.objective)
    check_model(options.model)
    options.check_files(options.inputs)
    check_requirements(options.sender, options.receiver)
    with loading():
        from weir.qoe_eval.call.call import make_calls

    make_calls(options, [*names, *(LIBWEBRTC_SENDERS if options.compare else ())], own, started)


def _check_ends(options: CallOptions, names: Sequence[str], own: Mapping[str, CustomController]) -> None:
    """Raises InputError for controllers that the ends of the call cannot run."""
    for custom in own.values():
        if custom.model:
            raise InputError(f"--controller '{custom.source}': in calls, --model sets the model of the controller weir")
    at_sender = [name for name in names if name in AT_NATIVE_SENDER]
    if at_sender and options.sender != "native":
        raise InputError(f"--controller '{at_sender[0]}': runs at the sender; add --sender native")
    if options.receiver == "chromium" and (
        options.sender != "native" or not {without_field_trials(name) for name in names} <= set(_AT_SENDER)
    ):
        raise InputError(f"--receiver 'chromium': requires --sender native and --controller {' or '.join(_AT_SENDER)}")
