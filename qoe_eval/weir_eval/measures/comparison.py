"""Selects the controllers that are judged in a set of runs, and those that they are compared with.

Ours are the controllers that run a policy model, and those of the user: custom controllers, pools, field trials. The
reference is one controller, by default the first that is not ours. Judged are ours, or else all others. A user's
controller is compared with `weir` first, if both run. Each judged controller is compared with every controller that is
not judged, first with the reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from weir_cli.errors import InputError
from weir_cli.files.input import printable
from weir_eval.measures.table import MEASURES
from weir_eval.records.comparisons import PairedRow
from weir_eval.records.summary import Summary
from weir_sim.controllers import CONTROLLERS, LIBWEBRTC_SENDERS, uses_model, without_field_trials

WEIR = "weir"
# The decisive measures of replays and calls, the viewer's first.
LEADING = (
    "call_quality", "viewer_quality", "vmaf_mean", "freeze_count", "frozen_share", "end_to_end_delay_ms_p50",
    "end_to_end_delay_ms_p95", "frame_delay_ms_p50", "frame_delay_ms_p95", "received_bitrate_bps", "concealed_share",
    "visqol_mean", "plcmos_mean", "call_score", "utility", "challenge",
)  # fmt: skip


def is_ours(controller: str) -> bool:
    """True for a controller that runs a policy model, and for every one that is not built in."""
    return controller not in CONTROLLERS or uses_model(controller)


def is_users(controller: str) -> bool:
    """True for a controller that is not built in, with or without field trials."""
    return without_field_trials(controller) not in CONTROLLERS


def default_reference(controllers: Sequence[str]) -> str:
    """The first controller that is not ours, else the first; empty for none."""
    return next((name for name in controllers if not is_ours(name)), next(iter(controllers), ""))


def check_reference(reference: str | None, controllers: Sequence[str]) -> None:
    """Refuses a reference that is not among the controllers; None is the default.

    Raises:
        InputError: it is not among them.
    """
    if reference is not None and reference not in controllers:
        known = ", ".join(controllers)
        raise InputError(f"--reference '{printable(reference)}': does not run; use one of {known}, or run it too")


def judged_controllers(controllers: Sequence[str], reference: str) -> list[str]:
    """Ours, the user's before the built-in ones; else all but the reference; else the only controller."""
    others = [name for name in controllers if name != reference]
    own = sorted(filter(is_ours, others), key=lambda name: name in CONTROLLERS)
    return own or others or list(controllers)


def judged(summary: Summary) -> list[str]:
    """The judged controllers of a summary."""
    return judged_controllers(list(summary.controllers), summary.run.reference)


def first_judged(summary: Summary) -> str:
    """The first judged controller; empty for a summary without runs."""
    return next(iter(judged(summary)), "")


def compared_pairs(controllers: Sequence[str], reference: str) -> list[tuple[str, str]]:
    """The user's controllers with `weir`, if it is judged too; then every judged controller with each that is not
    judged, the reference first.
    """
    own = judged_controllers(controllers, reference)
    others = sorted((name for name in controllers if name not in own), key=lambda name: name != reference)
    with_weir = [(name, WEIR) for name in own if is_users(name)] if WEIR in own else []
    return [*with_weir, *((a, b) for b in others for a in own)]


def leading_pairs(paired: Iterable[PairedRow], reference: str) -> dict[tuple[str, str], list[PairedRow]]:
    """The rows of the LEADING measures by pair, for comparisons with the reference, with libwebrtc's senders, and with
    `weir`, of the user's controllers.
    """
    found: dict[tuple[str, str], dict[str, PairedRow]] = {}
    for row in paired:
        if row.b in (reference, WEIR, *LIBWEBRTC_SENDERS):
            found.setdefault((row.a, row.b), {})[row.metric] = row
    leading = {pair: leading_rows(rows) for pair, rows in found.items()}
    return {pair: rows for pair, rows in leading.items() if rows}


def leading_rows(rows: Mapping[str, PairedRow]) -> list[PairedRow]:
    """The rows of the LEADING measures among those of a pair by measure."""
    return [rows[name] for name in LEADING if name in rows]


def furthest_behind(summary: Summary) -> tuple[str, str] | None:
    """The scenario on which the first controller of the first pair is furthest behind the second, or least ahead of it,
    in the first of the LEADING measures that both have; and a sentence about it. None without a common scenario.
    """
    pairs = compared_pairs(list(summary.controllers), summary.run.reference)
    own, other = next(iter(pairs), ("", ""))
    for name in LEADING if pairs else ():
        measure = MEASURES[name]
        values = {
            scenario: (by[own][name], by[other][name])
            for scenario, by in summary.scenarios.items()
            if name in by.get(own, {}) and name in by.get(other, {})
        }
        if values:
            worst = measure.worst(a - b for a, b in values.values())
            scenario = next(name for name, (a, b) in values.items() if a - b == worst)
            shown = " against ".join(measure.display(value) for value in values[scenario])
            if len(values) == 1:
                place = f"against {other}"
            elif measure.difference_favours_first(-worst):
                place = f"is furthest behind {other} here"
            else:
                place = f"is nowhere behind {other}, and least ahead here"
            return scenario, f"{own} {place}: {measure.label} {shown}, means over seeds."
    return None
