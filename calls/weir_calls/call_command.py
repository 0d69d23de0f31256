"""The command `weir call`: checks its options; `call/call.py` implements it."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence

from weir_calls.call_options import CALLED, CallOptions, is_command
from weir_calls.link.sudo import become_caller
from weir_calls.requirements import check_link_requirements, check_requirements
from weir_cli.errors import InputError, unknown
from weir_cli.files.input import printable
from weir_cli.options import loading, with_options
from weir_eval.options.shared import check_controllers, check_model
from weir_eval.runs.call_media import ENDS
from weir_eval.runs.custom_controllers import CustomController
from weir_sim.controllers import AT_NATIVE_SENDER, LIBWEBRTC_SENDERS, without_field_trials
from weir_sim.objectives import parse_objective

# Controllers that run at the sender and work with any receiver.
_AT_SENDER = (*LIBWEBRTC_SENDERS, *AT_NATIVE_SENDER)


@with_options(CallOptions)
def call(options: CallOptions) -> None:
    """Make real calls through a link that replays a scenario, and measure them at the receiver.

    Writes results.jsonl, summary.json, report.html, and a folder with logs and recording for each call. Running the
    same command again makes the calls that were interrupted or failed. Needs no root; under sudo, everything runs as
    the user who called it.
    """
    become_caller()
    started = time.monotonic()
    by_commands = _have_commands(options)
    names, custom = options.controller or ["commands"], dict[str, CustomController]()
    if by_commands:
        _check_labels(options, names)
    else:
        names, custom = check_controllers(options.controller or ["weir"], known=CALLED)
        _check_ends(options, names, custom)
    parse_objective(options.objective)
    check_model(options.model)
    options.check_files(options.inputs)
    if by_commands:
        check_link_requirements()
    else:
        check_requirements(options.sender, options.receiver)
    with loading():
        from weir_calls.call.call import make_calls

    make_calls(options, [*names, *(LIBWEBRTC_SENDERS if options.compare else ())], custom, started)


def _have_commands(options: CallOptions) -> bool:
    """True if both ends are commands. Raises InputError if only one is, or if one is neither a command nor known."""
    ends = {"--sender": options.sender, "--receiver": options.receiver}
    commands = [option for option, end in ends.items() if is_command(end)]
    for option, end in ends.items():
        if option in commands:
            continue
        if end not in ENDS:
            hint = f"{unknown(end, ENDS)}, or a command line with a space or a slash"
            raise InputError(f"{option} '{end}': not known; {hint}")
        if commands:
            raise InputError(f"{option} '{end}': with a command at {commands[0]}, this end is a command too")
    return bool(commands)


def _check_labels(options: CallOptions, labels: Sequence[str]) -> None:
    """Raises InputError for options that commands at the ends cannot use."""
    for label in labels:
        if not re.fullmatch(r"[\w.-]{1,40}", label):
            raise InputError(f"--controller '{printable(label)}': a label is of 1 to 40 letters, digits, '.', '-', '_'")
    for option, is_set in (
        ("--compare", options.compare),
        ("--model", options.model is not None),
        ("--no-lip-sync", not options.lip_sync),
        ("--playout", options.playout != "adaptive"),
    ):
        if is_set:
            raise InputError(f"{option}: has no meaning with commands at the ends")


def _check_ends(options: CallOptions, names: Sequence[str], custom: Mapping[str, CustomController]) -> None:
    """Raises InputError for controllers that the ends of the call cannot run."""
    for controller in custom.values():
        if controller.model:
            raise InputError(
                f"--controller '{controller.source}': in calls, --model sets the model of the controller weir"
            )
    at_sender = [name for name in names if name in AT_NATIVE_SENDER]
    if at_sender and options.sender != "native":
        raise InputError(f"--controller '{at_sender[0]}': runs at the sender; add --sender native")
    if options.receiver == "chromium" and (
        options.sender != "native" or not {without_field_trials(name) for name in names} <= set(_AT_SENDER)
    ):
        raise InputError(f"--receiver 'chromium': requires --sender native and --controller {' or '.join(_AT_SENDER)}")
    if options.receiver == "chromium" and options.playout == "limited":
        raise InputError("--playout 'limited': requires --receiver native, whose libwebrtc has such a limit")
